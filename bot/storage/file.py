"""The files of a SQLite database, watched. Open ones go on unseen where somebody deletes or replaces them.

What is written from then on is lost with the last connection; so is, where it was the journal (`-wal`), all that had
not been moved from there into the database. A claim that is lost is posted again, so nothing may be written any more;
and as the open connections are the last that know what was posted, they make a copy of it.
"""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from bot.errors import StorageError, StorageUnavailable

_WAL, _SHM = "-wal", "-shm"
_JOURNAL = (_WAL, _SHM)
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class DatabaseFile:
    """Knows which file was opened, and whether its path still leads to it. Safe to use from several threads.

    Once lost is lost: what comes back to the path meanwhile, other programs may have changed or mixed with a journal
    that is not its own.
    """

    def __init__(self, path: Path) -> None:
        """Take the path; nothing is looked at before `note_opened`."""
        self.path = path.absolute()
        self._identity: tuple[int, int] | None = None
        self._journal: dict[Path, tuple[int, int]] = {}
        self._lost: Path | None = None
        self._copy: Path | None = None

    def note_opened(self) -> None:
        """A connection has opened the file: the first one says which it is. Raises StorageUnavailable for another."""
        if self._identity is None:
            with suppress(OSError):
                self._identity = _identity(self.path)
        self.check()

    def note_journal(self) -> None:
        """Watch `-wal` and `-shm`, too: a connection has read and stays open until `forget_journal`.

        So long SQLite itself deletes neither, whoever else opens and closes the database.
        """
        beside = self.path.resolve()  # SQLite puts them where a link leads to
        found: dict[Path, tuple[int, int]] = {}
        for ending in _JOURNAL:
            path = beside.with_name(beside.name + ending)
            with suppress(OSError):
                if (identity := _identity(path)) is not None:
                    found[path] = identity
        self._journal = found

    def forget_journal(self) -> None:
        """The connection of `note_journal` is about to be closed: from now on SQLite may delete its files."""
        self._journal = {}

    def check(self) -> None:
        """Raise StorageUnavailable, with what a person has to do, where a file was deleted or replaced."""
        if self._lost is None and self._identity is not None:
            self._lost = self._missing(self._identity)
        if self._lost is not None:
            raise StorageUnavailable(self._advice(self._lost))

    def _missing(self, identity: tuple[int, int]) -> Path | None:
        if _is_gone(self.path, identity):
            return self.path
        journal = self._journal
        gone = next((path for path, known in journal.items() if _is_gone(path, known)), None)
        return gone if journal is self._journal else None  # it was forgotten while we looked

    def rescue(self, connection: sqlite3.Connection) -> Path:
        """Copy through a connection to the lost file all that was recorded; return where the copy is.

        An earlier copy stays as it is. Where only `-wal` was lost, what it held is moved into the database as well, so
        that a start without the copy forgets nothing. Raises OSError and sqlite3.Error where it cannot be written.
        """
        half = self.path.with_name(f"{self.path.name}.rescued.{os.getpid()}.tmp")
        try:
            with closing(sqlite3.connect(half)) as target:
                connection.backup(target)
            self._copy = self._under_a_free_name(half)
        except BaseException:  # the error goes on; only the room that the half takes is given back first
            with suppress(OSError):
                half.unlink(missing_ok=True)
            raise
        if self._lost is not None and self._lost.name.endswith(_WAL):
            with suppress(sqlite3.Error):  # there is the copy
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return self._copy

    def _under_a_free_name(self, half: Path) -> Path:
        for number in count(1):
            kept = self.path.with_name(f"{self.path.name}.rescued{f'-{number}' if number > 1 else ''}")
            try:
                kept.touch(exist_ok=False)  # another process that has lost the same file looks for a name, too
            except FileExistsError:
                continue
            try:
                half.replace(kept)
            except OSError:
                kept.unlink()  # an empty one would be offered as the copy
                raise
            return kept
        raise AssertionError("numbers do not end")

    def _advice(self, lost: Path) -> str:
        what = f"the database's file {self.path} was deleted or replaced"
        if lost != self.path:
            what = f"{lost}, which belongs to the database {self.path}, was deleted or replaced"
        beside = f"{self.path.name}{_WAL} and {self.path.name}{_SHM}"
        back = f"move {self._copy} to its place" if self._copy else "put a backup in its place"
        return (
            f"{what} while the bot ran, and nothing is recorded or sent any more: "
            f"stop the bot, delete {beside}, {back}, and start the bot again"
        )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _is_gone(path: Path, known: tuple[int, int]) -> bool:
    try:
        return _identity(path) != known
    except OSError:
        return False  # a path that cannot be looked at now says nothing about the file


def unused_copy(path: Path) -> str | None:
    """What to do where a database would begin anew although a copy of a lost one lies beside it; None without one."""
    path = path.absolute()
    named = re.compile(rf"{re.escape(path.name)}\.rescued(-\d+)?")
    copies: list[Path] = []
    with suppress(OSError):  # a folder that nobody may list has no copy that we can name
        copies = sorted(one for one in path.parent.iterdir() if named.fullmatch(one.name) and one.is_file())
    if not copies:
        return None
    newest = max(copies, key=lambda one: one.stat().st_mtime)
    stale = [str(path.with_name(path.name + ending)) for ending in _JOURNAL]
    return (
        f"the database {path} would begin empty and post everything again, but a copy of a lost one lies beside it: "
        f"put it in its place (`{shlex.join(['rm', '-f', *stale])}; {shlex.join(['mv', str(newest), str(path)])}`), "
        f"or remove {' and '.join(map(str, copies))} to begin anew"
    )


def watched(engine: Engine, path: Path) -> DatabaseFile:
    """Watch the file of this SQLite engine: no connection is made to another one than the first was made to."""
    file = DatabaseFile(path)

    def before(*_connecting: Any) -> None:
        file.check()  # to connect where the file was deleted would make an empty one

    def after(*_connected: Any) -> None:
        file.note_opened()

    event.listen(engine, "do_connect", before)
    event.listen(engine, "connect", after)
    return file


def is_damaged(error: BaseException) -> bool:
    """Whether SQLite says that the file is not, or not wholly, a database of its own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


def damaged(error: BaseException, path: Path | None) -> StorageError:
    """Make the error that names the file and says what to do with it."""
    named = f"{path.absolute()} " if path is not None else ""
    return StorageError(
        f"the database's file {named}is damaged or no SQLite database ({error}): put a backup in its "
        "place (without -wal and -shm beside it), or name another file; with a new one, all would be posted again"
    )
