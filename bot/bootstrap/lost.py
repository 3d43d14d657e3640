"""A database file that is deleted or replaced under the running bot: a copy of it is kept, and people are told once."""

from __future__ import annotations

from threading import Lock

import structlog

from bot.delivery.ports import Alarm
from bot.errors import StorageError, StorageUnavailable
from bot.storage.engine import Database

_log = structlog.get_logger("bot.bootstrap")

_CAUSE = "database-file"


class FileWatch:
    """Looks whether the database is still the file that was opened. Safe to use from several threads."""

    def __init__(self, database: Database, alarm: Alarm) -> None:
        self._database = database
        self._alarm = alarm
        self._lock = Lock()
        self._is_told = False

    def check(self) -> None:
        """Raise StorageUnavailable, with what a person has to do, where the file is lost.

        The first call that finds it so writes a copy beside it, logs the loss and tells the alert channel.
        """
        try:
            self._database.check_file()
        except StorageUnavailable:
            with self._lock:
                if not self._is_told:
                    self._is_told = True
                    self._rescue_and_tell()
            self._database.check_file()  # what it says names the copy

    def _rescue_and_tell(self) -> None:
        try:
            copy = self._database.rescue()
        except StorageError as error:
            _log.error("database_file_not_copied", reason=str(error))
        else:
            _log.info("database_file_copied", path=str(copy))
        try:
            self._database.check_file()
        except StorageUnavailable as lost:
            text = str(lost)
            _log.error("database_file_lost", reason=text)
            self._alarm.tell_unkept(_CAUSE, text[:1].upper() + text[1:] + ".")
