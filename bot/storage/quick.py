"""The driver itself, for the few statements that every message passes.

SQLAlchemy costs 100 to 300 microseconds of CPU a statement and as much again a transaction, the driver a tenth of it.
A message passes five statements, so this is what delivery's budget is kept with. Everything else goes the usual way.
Errors are the same: `StorageUnavailable` where waiting helps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import Any

from bot.storage.engine import Database, is_passing, unavailable
from bot.storage.file import damaged, is_damaged

ID_LIST = "{ids}"
"""In a statement: the place of a list of ids, after `id`."""


class Quick:
    """Statements over the driver's own cursor, from the same pool as everything else."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sqlite = database.name == "sqlite"

    def sql(self, statement: str) -> str:
        """Write a statement for this database. It has `?` for values and `{ids}` after the column of a list of ids."""
        if self._sqlite:
            return statement.replace(ID_LIST, "IN (SELECT value FROM json_each(?))")
        return statement.replace("?", "%s").replace(ID_LIST, "= ANY(%s::bigint[])")

    def at(self, instant: datetime | None) -> Any:
        """Write an instant as its column holds it."""
        if instant is None:
            return None
        if instant.tzinfo is None:
            raise ValueError(f"an instant without a zone: {instant!r}")
        if not self._sqlite:
            return instant
        return instant.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")

    def ids(self, ids: Sequence[int]) -> Any:
        """Write a list of ids as `{ids}` takes it."""
        return json.dumps(list(ids)) if self._sqlite else list(ids)

    @contextmanager
    def transaction(self, *, flush: bool) -> Iterator[Any]:
        """Give a cursor whose statements are all kept, or none. Raises StorageUnavailable.

        Without `flush`, a power cut (not the end of the process) may undo it on SQLite, until anything later is
        flushed. PostgreSQL flushes anyway: there it costs us nothing.
        """
        with self._connection(flush=flush) as connection:
            cursor = connection.cursor()
            if self._sqlite:
                cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    @contextmanager
    def statement(self) -> Iterator[Any]:
        """Give a cursor for one statement, kept at once as without `flush`. Raises StorageUnavailable."""
        with self._connection(flush=False) as connection:
            if self._sqlite:
                yield connection.cursor()
                return
            connection.driver_connection.autocommit = True
            try:
                yield connection.cursor()
            finally:
                if not connection.driver_connection.closed:
                    connection.driver_connection.autocommit = False

    @contextmanager
    def _connection(self, *, flush: bool) -> Iterator[Any]:
        driver_error: type[Exception] = self._database.engine.dialect.loaded_dbapi.Error
        try:
            with self._database.alone():
                connection = self._database.engine.raw_connection()
                try:
                    with self._unflushed(connection) if self._sqlite and not flush else nullcontext():
                        yield connection
                except driver_error as error:
                    if self._database.engine.dialect.is_disconnect(error, connection.driver_connection, None):  # type: ignore[arg-type]
                        connection.invalidate(error)
                        self._database.close()  # its neighbours in the pool were cut as well
                    raise
                finally:
                    connection.close()
        except driver_error as error:
            if is_passing(error):
                raise unavailable(error) from error
            if is_damaged(error):
                raise damaged(error, self._database.path) from error
            raise

    @contextmanager
    def _unflushed(self, connection: Any) -> Iterator[None]:
        connection.driver_connection.execute("PRAGMA synchronous = NORMAL")
        try:
            yield
        finally:
            connection.driver_connection.execute("PRAGMA synchronous = FULL")
