"""What was accepted survives: an append-only file of JSON lines, one record a line, later lines win.

A record is written with one `write(2)` before the call is answered. That is enough against SIGKILL: the bytes are in
the kernel. A power cut may lose the last moments; this workspace does not promise more.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bot.workspace.errors import WorkspaceError


class Record(NamedTuple):
    """One state of one thing; `value` None means that it is gone."""

    table: str
    key: str
    value: dict[str, Any] | None


class Journal:
    """The records of one workspace. A second process on the same folder is refused."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "workspace.jsonl"
        self._lock = os.open(folder / "workspace.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            os.close(self._lock)
            raise WorkspaceError(f"another workspace is running on {folder}") from problem
        self._file: int | None = None

    def read(self) -> Iterator[Record]:
        """All records in order. A torn last line (killed while writing) was never answered: it is left out."""
        if not self._path.exists():
            return
        for line in self._path.read_bytes().split(b"\n")[:-1]:
            yield Record(*json.loads(line))

    def compact(self, records: Iterable[Record]) -> None:
        """Replaces the file by these records at once, and opens it for `append`."""
        fresh = self._path.with_suffix(".new")
        with fresh.open("wb") as file:
            for record in records:
                file.write(_line(record))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND)

    def append(self, record: Record) -> None:
        """Written when this returns. Call `compact` first."""
        if self._file is None:
            raise WorkspaceError("the journal is not open")
        data = _line(record)
        while data:
            data = data[os.write(self._file, data) :]

    def close(self) -> None:
        """Close the file and let the folder go."""
        if self._file is not None:
            os.fsync(self._file)
            os.close(self._file)
            self._file = None
        os.close(self._lock)


def _line(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
