"""Leading a database to the schema of this program.

SQLite belongs to one machine: the bot brings it up to date at start, after copying the file beside itself. PostgreSQL
is shared by replicas of perhaps different versions: there a person says when, with `digest-bot migrate`.

Alembic is imported only when an older schema is really there: an up-to-date start costs one SELECT, and an empty
database is made from `schema.py` at once (a test holds the two ways equal).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import structlog
from sqlalchemy import Connection, inspect, text

from bot.errors import SchemaOutdated, StorageError
from bot.storage.engine import Database
from bot.storage.file import unused_copy
from bot.storage.schema import metadata

HEAD = "0002"
"""The newest revision in `migrations/versions`; a test compares."""

_LOCK = 0x6469_6765_7374  # "digest": the advisory lock of migrating on PostgreSQL

log = structlog.get_logger(__name__)


def head() -> str:
    """Give the revision of the schema that this program needs."""
    return HEAD


def current(database: Database) -> str | None:
    """Give the revision of the database's schema, None where it has none yet. Raises StorageUnavailable."""
    with database.reading() as connection:
        return _current(connection)


def forgotten(database: Database) -> str | None:
    """What a person has to do where a schema would be made beside the copy of a lost SQLite file; None elsewhere.

    It makes no file. Raises StorageUnavailable.
    """
    advice = unused_copy(database.path) if database.path is not None else None
    if advice is None or (database.path is not None and database.path.exists() and current(database) is not None):
        return None
    return advice


def ensure_current(database: Database) -> None:
    """Make sure at start that the schema is the one this program needs.

    An older or empty SQLite file is migrated here. Raises SchemaOutdated for an older or empty PostgreSQL database, and
    for a newer schema in either; StorageError for an empty file beside a rescued copy; StorageUnavailable.
    """
    _refuse_forgetting(database)
    found = current(database)
    if found == HEAD:
        return
    _refuse_newer(found)
    if database.path is None:
        state = "has no tables yet" if found is None else f"has schema {found}, this program needs {HEAD}"
        raise SchemaOutdated(f"the PostgreSQL database {state}: run `digest-bot migrate`")
    migrate(database)


def migrate(database: Database) -> bool:
    """Lead the schema to `head()`; say whether anything was changed. Two at once are safe: the second finds it done.

    All of it is kept or nothing. Raises SchemaOutdated for a newer schema, StorageError for an empty file beside a
    rescued copy, StorageUnavailable.
    """
    _refuse_forgetting(database)
    if current(database) == HEAD:
        return False
    with _exclusive(database) as connection:
        found = _current(connection)
        _refuse_newer(found)
        if found == HEAD:
            return False
        if found is None:
            _create(connection)
        else:
            if database.path is not None:
                _copy_beside(database.path, found)
            _upgrade(connection)
    log.info("schema_migrated", before=found, after=HEAD)
    return True


def _refuse_forgetting(database: Database) -> None:
    # Before anything connects: that would leave an empty file where the copy belongs.
    if advice := forgotten(database):
        raise StorageError(advice)


def _current(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _refuse_newer(found: str | None) -> None:
    if found is not None and (not found.isdigit() or int(found) > int(HEAD)):
        raise SchemaOutdated(f"the database has the newer schema {found}, this program knows {HEAD}: update digest-bot")


@contextmanager
def _exclusive(database: Database) -> Iterator[Connection]:
    if database.path is None:
        with database.transaction() as connection:
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            yield connection
        return
    with database.statement() as connection:
        # Tables are altered by copying them, which references must not see; this cannot be said inside a transaction.
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        connection.exec_driver_sql("PRAGMA busy_timeout = 60000")
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            yield connection
            if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                raise StorageError(f"the migration would leave a row of {broken[0]} without what it refers to")
            connection.commit()
        finally:
            connection.invalidate()  # the next user gets a connection with the usual settings


def _create(connection: Connection) -> None:
    metadata.create_all(connection)
    connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
    connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:head)"), {"head": HEAD})


def _copy_beside(path: Path, revision: str) -> None:
    kept = path.with_name(f"{path.name}.before-{revision}")
    half = kept.with_name(kept.name + ".tmp")
    # SQLite's own copying: what still stands in the WAL is in the copy.
    with (
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(half)) as target,
    ):
        source.backup(target)
    half.replace(kept)
    log.info("database_copied", path=str(kept))


def _upgrade(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415 - see the module's docstring
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, HEAD)
