"""How the two databases are opened, and the one place where their absence becomes `StorageUnavailable`.

SQLite runs in WAL so that readers never wait for the writer, and with `synchronous = FULL`: the row that says "sending"
must outlive a power cut, because a message whose claim was forgotten would be posted again. A flush costs some
milliseconds and a third of a bare Slack call's CPU, so the two commits of a message that may be forgotten (its place in
the pace, its record) go without one: see `quick.py`.

PostgreSQL runs at READ COMMITTED. Nothing here reads a row and then trusts it: a UNIQUE row or a one-row
`UPDATE ... WHERE` decides every race, and both work at that level.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from bot.errors import StorageError, StorageRefused, StorageUnavailable
from bot.storage.file import damaged, is_damaged, watched

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection, ExceptionContext
    from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

BUSY_SECONDS = 5.0
"""How long a SQLite connection waits for another process's write to end."""
POOL_SECONDS = 10.0
"""How long a thread waits for a free connection."""
IDLE_SECONDS = 5.0
"""A PostgreSQL connection unused for longer is tried before it is used: asking every time would cost a round trip."""
OLDEST_SQLITE = (3, 35)
"""The first with RETURNING."""

_SERVER_OPTIONS = (
    "-c TimeZone=UTC -c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000"
)
_SQLITE_PASSING = frozenset({5, 6, 8, 10, 13, 14})
"""BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN: states of the machine, not faults of a statement."""

_SERVER_PASSING = frozenset({"25006", "25P03", "25P04"})
"""Read-only after a failover, idle too long in a transaction, a transaction too long: internal errors to psycopg."""
_QUERY_CANCELED = "57014"
_REFUSED = re.compile(
    r'(?:database|role) ".*" does not exist|password authentication failed|no password supplied'
    r"|is not permitted to log in|no pg_hba\.conf entry|connection is bad: invalid"
)
"""In the text, because an error of connecting has no code. A server that speaks another language is waited for."""


class Database:
    """An open database. Give it to the stores; close it once, at the end."""

    __slots__ = ("_alone", "_file", "_reserved", "_single", "engine", "path")

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.path = Path(engine.url.database) if is_sqlite(engine) and engine.url.database else None
        self._file = watched(engine, self.path) if self.path is not None else None
        self._reserved: Connection | None = None
        if is_sqlite(engine):
            self._single = engine.execution_options(begin=None)
            # Threads of one process queue here, in order, rather than sleep in SQLite's busy handler.
            self._alone: Any = threading.Lock()
        else:
            self._single = engine.execution_options(isolation_level="AUTOCOMMIT")
            self._alone = nullcontext()

    @property
    def name(self) -> str:
        """`sqlite` or `postgresql`."""
        return self.engine.dialect.name

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Give a connection whose statements are all kept, or none. Raises StorageUnavailable."""
        with self.alone(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection for statements that only read, each for itself. Raises StorageUnavailable."""
        with _pool_is_storage(), self._single.connect() as connection:
            yield connection

    @contextmanager
    def statement(self) -> Iterator[Connection]:
        """Give a connection for one writing statement, kept at once: a single round trip. Raises StorageUnavailable."""
        with self.alone(), self._single.connect() as connection:
            yield connection

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait for this process's turn to write (SQLite).

        Raises StorageUnavailable where no connection is free, or where what is written would be lost (`check_file`).
        """
        with _pool_is_storage(), self._alone:
            self.check_file()
            yield

    def check_file(self) -> None:
        """Raise StorageUnavailable where SQLite's file was deleted or replaced since it was opened, for ever after.

        After `reserve`, its journal counts as well.
        """
        if self._file is not None:
            self._file.check()

    def reserve(self) -> None:
        """Keep one connection for `rescue`, who could open none any more (SQLite). Raises StorageUnavailable.

        As long as it is open nobody may delete the journal, so from now on that is watched, too.
        """
        if self._file is None or self._reserved is not None:
            return
        with _pool_is_storage():
            connection = self._single.connect()
        connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first()  # before it reads, it has not opened the WAL
        connection.detach()  # the pool does not count it any more
        self._reserved = connection
        self._file.note_journal()

    def rescue(self) -> Path:
        """Write a copy of a file that `check_file` has found lost: all that was recorded; return where the copy is.

        Raises StorageError where it cannot be written, also for want of a connection that was open (see `reserve`).
        """
        if self._file is None:
            raise StorageError("only a SQLite database has a file that can be copied")
        try:
            with _pool_is_storage(), self._alone:  # whoever was writing has ended, and nobody else begins
                if self._reserved is not None:
                    return self._file.rescue(_of_driver(self._reserved.connection))
                connection = self.engine.raw_connection()
                try:
                    return self._file.rescue(_of_driver(connection))
                finally:
                    connection.close()
        except (OSError, sqlite3.Error) as error:
            raise StorageError(f"the database could not be copied: {_first_line(error)}") from error

    def close(self) -> None:
        """Close every connection. Those in use are closed when they come back."""
        reserved, self._reserved = self._reserved, None
        if reserved is not None and self._file is not None:
            self._file.forget_journal()
            reserved.close()
        self.engine.dispose()


def _of_driver(connection: PoolProxiedConnection) -> sqlite3.Connection:
    return cast("sqlite3.Connection", connection.dbapi_connection)  # once detached, the only one it names


def open_database(url: str, *, source: str = "the database's URL") -> Database:
    """Open `sqlite:///path`, `postgresql://...` or `postgres://...`. Nothing is connected yet.

    `source` says where the URL comes from, for whoever has to correct it. Raises StorageError for a URL that names no
    database this program knows. Whatever is asked of it later raises StorageError where the file turns out to be
    damaged, or no database at all.
    """
    return Database(open_engine(url, source=source))


def open_engine(url: str, *, source: str = "the database's URL") -> Engine:
    """Make the SQLAlchemy engine of `open_database`. Every error of its connections is a StorageError of ours."""
    parsed = _parse(url, source)
    engine = _sqlite_engine(parsed, source) if parsed.get_backend_name() == "sqlite" else _postgresql_engine(parsed)
    event.listen(engine, "handle_error", _translate)
    return engine


def is_sqlite(bind: Engine | Connection) -> bool:
    """Whether the database is a SQLite file."""
    return bind.dialect.name == "sqlite"


def shown(url: str) -> str:
    """Give the URL without its password, for messages and logs."""
    return _parse(url, "the database's URL").render_as_string(hide_password=True)


def _parse(url: str, source: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # ValueError: its port is no number
        raise StorageError(
            f"{source} is not a URL: write sqlite:///digest-bot.db or postgresql://user@host/database"
        ) from None
    match parsed.get_backend_name():
        case "sqlite":
            if parsed.database in (None, "", ":memory:"):
                raise StorageError(f"{source} names no file: a SQLite database needs one, as sqlite:///digest-bot.db")
            return parsed.set(drivername="sqlite")
        case "postgresql" | "postgres":
            if parsed.port is not None and not 0 < parsed.port < 65536:  # noqa: PLR2004 - a port's size
                raise StorageError(f"{source} names port {parsed.port}: a port is a number from 1 to 65535")
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise StorageError(f"{source} names {other!r}: only sqlite and postgresql are known")


def _sqlite_engine(url: URL, source: str) -> Engine:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise StorageError(f"SQLite {sqlite3.sqlite_version} is too old: 3.35 or newer is needed, or use PostgreSQL")
    path = Path(str(url.database)).absolute()
    try:
        path.with_name(f"{path.name}.rescued.4194304.tmp").exists()  # the longest name that we make beside it
        if not path.parent.is_dir():
            raise StorageError(f"{source} names a folder that does not exist: create {path.parent}")
    except OSError as error:
        raise StorageError(f"{source} names a file that cannot be used ({error.strerror}): name another one") from error
    engine = create_engine(
        url,
        pool_size=8,
        pool_use_lifo=True,  # the connection used last has its pages and statements at hand
        max_overflow=24,
        pool_timeout=POOL_SECONDS,
        hide_parameters=True,  # they are people's words, and errors are logged
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # the driver's own idea of when to BEGIN ends here
    cursor = connection.cursor()
    _switch_to_wal(cursor)
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _switch_to_wal(cursor: sqlite3.Cursor) -> None:
    # While two programs meet a new file, SQLite refuses this at once instead of waiting as it does elsewhere.
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    # IMMEDIATE: a transaction that starts by reading and then writes could be refused without waiting.
    how = connection.get_execution_options().get("begin", "BEGIN IMMEDIATE")
    if how is not None:
        connection.exec_driver_sql(how)


def _postgresql_engine(url: URL) -> Engine:
    arguments: dict[str, Any] = {
        "connect_timeout": 5,
        "application_name": "digest-bot",
        "options": _SERVER_OPTIONS,
        # A server that vanished without a word is noticed in half a minute, not in the kernel's two hours.
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 30_000,
    }
    engine = create_engine(
        url,
        # Small hosted servers allow twenty connections in all: two replicas must fit.
        pool_size=4,
        pool_use_lifo=True,  # the connection used last has its statements prepared
        max_overflow=5,
        pool_timeout=POOL_SECONDS,
        skip_autocommit_rollback=True,
        hide_parameters=True,
        connect_args={key: value for key, value in arguments.items() if key not in url.query},
    )
    event.listen(engine, "checkin", _note_idle)
    event.listen(engine, "checkout", _try_after_idling)
    return engine


def _note_idle(_connection: DBAPIConnection | None, record: ConnectionPoolEntry) -> None:
    record.info["idle_since"] = time.monotonic()


def _try_after_idling(connection: Any, record: ConnectionPoolEntry, _proxy: PoolProxiedConnection) -> None:
    since = record.info.get("idle_since")
    if since is None or time.monotonic() - since < IDLE_SECONDS:
        return
    import psycopg  # noqa: PLC0415 - only where PostgreSQL is in use

    try:
        was = connection.autocommit
        connection.autocommit = True
        connection.execute("SELECT 1")
        connection.autocommit = was
    except psycopg.OperationalError as error:
        raise DisconnectionError from error  # the pool closes it and opens another


def _translate(context: ExceptionContext) -> StorageError | None:
    """Say whether waiting can help. What cannot be helped by waiting stays SQLAlchemy's own error: a fault of ours."""
    error = context.original_exception
    if is_cancelled(error):
        return StorageError(f"a statement of ours took too long: {_first_line(error)}")
    if is_damaged(error):
        return damaged(error, Path(context.engine.url.database or "") if context.engine else None)
    if context.connection is None and _is(error, "ProgrammingError"):  # libpq has read the URL, and asked nobody
        return StorageError(f"the database's URL cannot be used: {_first_line(error)}; correct it")
    return unavailable(error) if context.is_disconnect or is_passing(error) else None


def unavailable(error: BaseException) -> StorageUnavailable:
    """Make the error that says why waiting is right; at a start, where it is not, a StorageRefused."""
    if _REFUSED.search(str(error)):
        return StorageRefused(
            f"the database's server does not let us in: {_first_line(error)}; correct the database's URL, or create "
            "what it names"
        )
    return StorageUnavailable(f"the database is away, locked, full or read-only: {_first_line(error)}")


def is_passing(error: BaseException) -> bool:
    """Whether a driver's error is a state of the machine, and not a fault of a statement."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in _SQLITE_PASSING
    passing = _is(error, "OperationalError") or getattr(error, "sqlstate", None) in _SERVER_PASSING
    return passing and not is_cancelled(error)


def is_cancelled(error: BaseException) -> bool:
    """Whether PostgreSQL ended a statement that ran into `statement_timeout`: the database is there, we are slow."""
    return getattr(error, "sqlstate", None) == _QUERY_CANCELED


def _is(error: BaseException, name: str) -> bool:
    # By name: the driver is loaded only where its database is in use.
    return any(kind.__name__ == name for kind in type(error).__mro__)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


@contextmanager
def _pool_is_storage() -> Iterator[None]:
    try:
        yield
    except PoolTimeout as error:
        raise StorageUnavailable("every connection to the database is in use") from error
