"""A database file that is deleted or replaced under the running bot: a copy of it is kept, and people are told."""

from __future__ import annotations

from threading import Lock

import structlog

from bot.delivery.person import Alarm
from bot.errors import StorageError, StorageUnavailable
from bot.storage.engine import Database

_log = structlog.get_logger("bot.bootstrap")

_CAUSE = "database-file"


class FileWatch:
    """Looks whether the database is still the file that was opened. Safe to use from several threads."""

    def __init__(self, database: Database, alarm: Alarm) -> None:
        """Keep a connection of the database for the copy. Raises StorageUnavailable."""
        database.reserve()
        self._database = database
        self._alarm = alarm
        self._lock = Lock()
        self._is_told = False
        self._is_copied = False
        self._hindrance = ""

    def check(self) -> None:
        """Raise StorageUnavailable, with what a person has to do, where the file is lost.

        Each call that finds it so writes a copy beside it, until one is there. The first logs the loss, and tells the
        alert channel where that is known by then; a later one does so again where only it could write the copy.
        """
        try:
            self._database.check_file()
        except StorageUnavailable:
            with self._lock:
                news = self._try_to_copy()
                text = self._advice()
                if news or not self._is_told:
                    self._is_told = True
                    _log.error("database_file_lost", reason=text)
                    self._alarm.tell_unkept(_CAUSE, text[:1].upper() + text[1:] + ".")
            raise StorageUnavailable(text) from None

    def _try_to_copy(self) -> bool:
        """Whether there is a copy from now on."""
        if self._is_copied:
            return False
        try:
            copy = self._database.rescue()
        except StorageError as error:
            if str(error) != self._hindrance:
                self._hindrance = str(error)
                _log.error("database_file_not_copied", reason=self._hindrance)
            return False
        self._is_copied = True
        _log.info("database_file_copied", path=str(copy))
        return True

    def _advice(self) -> str:
        try:
            self._database.check_file()
        except StorageUnavailable as lost:  # it names the copy
            if self._is_copied:
                return str(lost)
            return f"{lost}. While the bot runs, it goes on trying to write a copy, which failed: {self._hindrance}"
        raise AssertionError("once lost is lost")
