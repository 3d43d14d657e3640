"""Building the index anew while everything else goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from sqlalchemy import Connection

from bot.storage.entry_rows import read_entries
from bot.storage.search_index import index_entries
from bot.text.tokens import TOKENS_VERSION

BATCH = 200
"""Entries in one transaction: short enough that a delivery waiting for SQLite's only writer is not late."""
_MERGED_PAGES = 200
_PAUSE = 0.01
"""Seconds between two transactions, so that whoever waits gets in."""

Transaction = Callable[[], AbstractContextManager[Connection]]

_OUTDATED = (
    "FROM entries e LEFT JOIN entry_tokens t ON t.entry_id = e.id "
    f"WHERE (t.entry_id IS NULL OR t.tokens_version <> {TOKENS_VERSION})"
)
_COUNT = f"SELECT count(*) {_OUTDATED}"
_NEXT = {
    "sqlite": f"SELECT e.id {_OUTDATED} AND e.id < ? ORDER BY e.id DESC LIMIT {BATCH}",
    "postgresql": f"SELECT e.id {_OUTDATED} AND e.id < %s ORDER BY e.id DESC LIMIT {BATCH}",
}
_LOCK = "SELECT id FROM entries WHERE id BETWEEN %s AND %s ORDER BY id FOR NO KEY UPDATE"
_FIRST = 2**62


def outdated(connection: Connection) -> int:
    """How many entries are not in the index as this program would write them. Zero when nothing needs doing."""
    return int(connection.exec_driver_sql(_COUNT).scalar_one())


def forget(connection: Connection) -> None:
    """Declare every row outdated, so that `reindex` builds all of them anew. What is there is found until then."""
    connection.exec_driver_sql("UPDATE entry_tokens SET tokens_version = 0")


def reindex(
    reading: Transaction,
    transaction: Transaction,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    *,
    stop: threading.Event | None = None,
) -> int:
    """Bring every outdated entry up to date, the newest first; return how many there were.

    `reading` opens a connection for counting and choosing, which cost a pass over the whole archive: SQLite's only
    writer is not held up by them. `transaction` opens one whose work is kept when it closes. `progress` is told how
    many of how many are done.
    May be ended at any moment, by `stop` or with the process: what is done stays done, and the next call goes on from
    there. Two at once are harmless. Raises StorageUnavailable.
    """
    with reading() as connection:
        total = outdated(connection)
    waiting = stop or threading.Event()
    done, before = 0, _FIRST
    while total and not waiting.is_set():
        with reading() as connection:
            ids = [int(row[0]) for row in connection.exec_driver_sql(_NEXT[connection.dialect.name], (before,))]
        if not ids:
            break
        with transaction() as connection:
            _index(connection, ids)
        done, before = done + len(ids), ids[-1]
        progress(done, max(total, done))
        waiting.wait(_PAUSE)
    return done


def tidy(transaction: Transaction, *, stop: threading.Event | None = None) -> int:
    """Merge what many small additions have left behind; return the number of steps it took.

    On SQLite a look-up has to visit every piece of the index, and it answers three times as fast from one. Worth doing
    once a day. Each step is a short transaction of its own; may be ended at any moment. PostgreSQL needs none of it.
    """
    waiting = stop or threading.Event()
    steps, pages = 0, -_MERGED_PAGES
    while not waiting.is_set():
        with transaction() as connection:
            if connection.dialect.name != "sqlite":
                break
            before = _changes(connection)
            connection.exec_driver_sql("INSERT INTO entry_search(entry_search, rank) VALUES ('merge', ?)", (pages,))
            # FTS5 says that nothing was left to do by changing at most its own record of it.
            changed = _changes(connection) - before
        if steps and changed < 2:  # noqa: PLR2004 - see above
            break
        # Only the first step is negative: it puts all pieces into one merge, which the others go on with.
        steps, pages = steps + 1, _MERGED_PAGES
        waiting.wait(_PAUSE)
    return steps


def _changes(connection: Connection) -> int:
    return int(connection.exec_driver_sql("SELECT total_changes()").scalar_one())


def _index(connection: Connection, ids: list[int]) -> None:
    if connection.dialect.name == "postgresql":
        # Whoever is revising one of them now is waited for, and whoever wants to next waits: no older text can be
        # indexed over a newer one. SQLite has one writer anyway.
        connection.exec_driver_sql(_LOCK, (ids[-1], ids[0]))
    index_entries(connection, list(read_entries(connection, ids).values()))
