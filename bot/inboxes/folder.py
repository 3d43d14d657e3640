"""A folder as an inbox: it yields files that are complete, and never one twice.

A file is complete when two looks, at least `settle` seconds apart, found the same size and time of change: a writer
that pauses for a while has not finished. Names that start with a dot, or end in `~`, `.tmp` or `.part`, are never
taken: a writer that renames its file into place is always safe.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

import structlog

from bot.errors import DigestBotError
from bot.model import Problem

log = structlog.get_logger(__name__)

READ_LIMIT = 5 * 1024 * 1024 + 1
"""Bytes that are read of one file: one more than a digest may have, so that the reader sees that it is too long."""

_UNFINISHED = ("~", ".tmp", ".part")
_Stamp = tuple[int, int, int]
"""Inode, size, and time of change in nanoseconds."""


class InboxUnavailable(DigestBotError):
    """The inbox folder cannot be read: create it, or correct `inbox.path`."""


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A complete file. `name` is safe to print; `path` is the file itself."""

    name: str
    path: Path
    data: bytes
    arrived_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look at the folder found, by name. Iterating over it gives the arrivals."""

    arrivals: tuple[Arrival, ...] = ()
    unreadable: tuple[tuple[str, Problem], ...] = ()
    """Files that stand there and could not be read; they are tried again at the next look."""
    waiting: tuple[str, ...] = ()
    """Files that may still be in the making: the next look tells."""
    present: frozenset[str] = frozenset()
    """Every file with a finished name, whether or not it was given."""

    def __iter__(self) -> Iterator[Arrival]:
        return iter(self.arrivals)

    def __len__(self) -> int:
        return len(self.arrivals)


@dataclass(slots=True)
class _Memory:
    """What earlier looks saw. Lost at a restart, which costs one more reading: the bytes decide what is new."""

    seen: dict[str, tuple[_Stamp, datetime]] = field(default_factory=dict)
    """What each file was like, and since which look it has been so."""
    taken: dict[str, _Stamp] = field(default_factory=dict)


class FolderInbox:
    """Looks at one folder, not at folders inside it. One caller at a time."""

    def __init__(self, path: Path, clock: Clock, *, settle: float = 2.0) -> None:
        """Look at `path`; two looks that shall agree on a file are `settle` seconds apart."""
        self._path = path
        self._clock = clock
        self._settle = settle
        self._memory = _Memory()

    def look(self, *, force: bool = False) -> Look:
        """Give the complete files that this inbox has not given yet, in the order of their names.

        `force` gives every file with a finished name, also those given before or changed this moment. A file counts
        as given once it was read; call `again` if it could not be recorded. Raises `InboxUnavailable`.
        """
        now = self._clock.now()
        arrivals: list[Arrival] = []
        unreadable: list[tuple[str, Problem]] = []
        waiting: list[str] = []
        present: dict[str, tuple[_Stamp, datetime]] = {}
        for name, stamp in self._files():
            known, since = self._memory.seen.get(name, (None, now))
            settled = known == stamp and (now - since).total_seconds() >= self._settle
            # A clock that was set back begins anew, so that no file waits for the hour to come again.
            present[name] = (stamp, since if known == stamp and since <= now else now)
            if not force and self._memory.taken.get(name) == stamp:
                continue
            if not (force or settled):
                waiting.append(printable(name))
                continue
            try:
                data = _read(self._path / name)
            except OSError as error:
                log.warning("file_unreadable", name=printable(name), error=error.strerror)
                reason = f"cannot be read ({error.strerror}): correct its permissions or remove it"
                unreadable.append((printable(name), Problem(line=1, reason=reason)))
                continue
            if not force and _stamp(self._path / name) != stamp:
                waiting.append(printable(name))
                continue
            self._memory.taken[name] = stamp
            arrivals.append(Arrival(name=printable(name), path=self._path / name, data=data, arrived_at=now))
        self._memory.seen = present
        self._memory.taken = {name: stamp for name, stamp in self._memory.taken.items() if name in present}
        return Look(
            arrivals=tuple(arrivals),
            unreadable=tuple(unreadable),
            waiting=tuple(waiting),
            present=frozenset(map(printable, present)),
        )

    def again(self, arrival: Arrival) -> None:
        """Forget that this file was given: it could not be recorded, and the next look shall give it once more."""
        self._memory.taken.pop(arrival.path.name, None)

    def _files(self) -> Iterator[tuple[str, _Stamp]]:
        try:
            with os.scandir(self._path) as entries:
                names = sorted(entry.name for entry in entries if may_be_finished(entry.name))
        except OSError as error:
            raise InboxUnavailable(
                f"{self._path}: {error.strerror}. Create this folder, or correct `inbox.path`"
            ) from error
        for name in names:
            stamp = _stamp(self._path / name)
            if stamp is not None:
                yield name, stamp


def read_file(path: Path, clock: Clock) -> Arrival:
    """Give a file that a person named, complete or not. Raises `InboxUnavailable` where it cannot be read."""
    try:
        data = _read(path)
    except OSError as error:
        raise InboxUnavailable(f"{printable(str(path))}: {error.strerror}") from error
    return Arrival(name=printable(path.name), path=path, data=data, arrived_at=clock.now())


def may_be_finished(name: str) -> bool:
    """Whether a name is not one of those that editors and copying programs give to what they still write."""
    return not name.startswith((".", "~")) and not name.lower().endswith(_UNFINISHED)


def printable(name: str) -> str:
    r"""Give a name that can be printed and stored, and that no other file's name is given.

    Bytes that are no UTF-8, control characters and marks that turn the direction of writing become escapes such as
    `\xff`; a backslash of the name's own is doubled, so that two files never look the same.
    """
    decoded = os.fsencode(name.replace("\\", "\\\\")).decode("utf-8", "backslashreplace")
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in decoded)


def _stamp(path: Path) -> _Stamp | None:
    """Give what tells whether a file has changed; nothing for what is no file (a folder, a loop of links, gone)."""
    try:
        status = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(READ_LIMIT)
