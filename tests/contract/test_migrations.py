"""The two ways to today's schema are one, old ones are led there, and nobody runs on the wrong one."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from bot.delivery.values import Alert
from bot.errors import SchemaOutdated, StorageUnavailable
from bot.storage import migrate as migrating
from bot.storage.delivery_store import DeliveryStore
from bot.storage.migrate import HEAD, current, ensure_current, head, migrate
from bot.storage.schema import alerts
from tests.contract.conftest import NOW

VERSIONS = Path(migrating.__file__).with_name("migrations") / "versions"


def _shape(database):
    """Everything a statement could depend on, as the database itself tells it."""
    found = inspect(database.engine)
    return {
        table: {
            "columns": [(c["name"], str(c["type"]), c["nullable"], c["default"]) for c in found.get_columns(table)],
            "key": found.get_pk_constraint(table)["constrained_columns"],
            "unique": sorted(str(u["column_names"]) for u in found.get_unique_constraints(table)),
            "foreign": sorted(
                (str(f["constrained_columns"]), f["referred_table"]) for f in found.get_foreign_keys(table)
            ),
            "indexes": sorted(
                (i["name"], str(i["column_names"]), i["unique"], "where" in str(i.get("dialect_options")))
                for i in found.get_indexes(table)
            ),
        }
        for table in sorted(found.get_table_names())
    }


def test_migrations_lead_an_empty_database_to_the_schema_of_the_program(empty_database_url, opened, request, tmp_path):
    database = opened(empty_database_url)
    if database.name == "sqlite":
        other = opened(f"sqlite:///{tmp_path / 'other.db'}")
    else:
        server = request.getfixturevalue("postgresql")
        other = opened(server.url(server.fresh("template1")))
    with migrating._exclusive(database) as connection:
        migrating._upgrade(connection)
    migrate(other)
    assert _shape(database) == _shape(other)
    assert current(database) == HEAD == head()


def test_head_is_the_newest_file_of_migrations():
    assert max(path.name.split("_")[0] for path in VERSIONS.glob("[0-9]*.py")) == HEAD


def test_an_empty_sqlite_file_is_set_up_at_start_and_postgresql_waits_for_the_command(empty_database_url, opened):
    database = opened(empty_database_url)
    assert current(database) is None
    if database.name == "postgresql":
        with pytest.raises(SchemaOutdated, match="digest-bot migrate"):
            ensure_current(database)
        assert migrate(database)
    ensure_current(database)
    assert current(database) == HEAD
    assert not migrate(database)


@pytest.mark.parametrize("step", [ensure_current, migrate])
def test_a_newer_schema_is_refused_and_left_alone(database, step):
    with database.transaction() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9000'"))
    with pytest.raises(SchemaOutdated, match="newer schema 9000"):
        step(database)
    assert current(database) == "9000"


def test_many_migrating_at_once_all_succeed_and_one_does_the_work(empty_database_url, opened):
    databases = [opened(empty_database_url) for _ in range(4)]
    together, done = threading.Barrier(4), []

    def run(database):
        together.wait()
        done.append(migrate(database))

    threads = [threading.Thread(target=run, args=(database,)) for database in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [False, False, False, True]


def test_an_older_sqlite_file_is_copied_beside_itself_before_it_is_migrated(
    tmp_path, migrated_sqlite, opened, monkeypatch
):
    path = tmp_path / "x.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO channel_names VALUES ('T', 'kept', 'yes')")
        connection.commit()
    monkeypatch.setattr(migrating, "HEAD", f"{int(HEAD) + 1:04}")
    monkeypatch.setattr(
        migrating,
        "_upgrade",
        lambda connection: [
            connection.execute(text("DROP TABLE channel_names")),
            connection.execute(text("UPDATE alembic_version SET version_num = :head"), {"head": migrating.HEAD}),
        ],
    )
    database = opened(f"sqlite:///{path}")
    ensure_current(database)
    assert current(database) == migrating.HEAD
    with closing(sqlite3.connect(tmp_path / f"x.db.before-{HEAD}")) as kept:
        assert kept.execute("SELECT channel_id FROM channel_names").fetchall() == [("yes",)]
        assert kept.execute("SELECT version_num FROM alembic_version").fetchall() == [(HEAD,)]


def at_revision(database, revision, monkeypatch):
    """An empty database as the migrations up to `revision` left it."""
    with monkeypatch.context() as earlier, migrating._exclusive(database) as connection:
        earlier.setattr(migrating, "HEAD", revision)
        migrating._upgrade(connection)
    assert current(database) == revision


def test_a_database_of_the_first_schema_is_led_on_and_owes_the_alerts_it_owed(empty_database_url, opened, monkeypatch):
    database = opened(empty_database_url)
    at_revision(database, "0001", monkeypatch)
    with database.transaction() as connection:
        for cause, told_at in (("owed", None), ("told", NOW)):
            connection.execute(
                alerts.insert().values(cause=cause, text="text", count=1, first_at=NOW, last_at=NOW, told_at=told_at)
            )
    if database.name == "postgresql":
        with pytest.raises(SchemaOutdated, match="has schema 0001, this program needs 0002: run `digest-bot migrate`"):
            ensure_current(database)
        assert migrate(database)
    else:
        ensure_current(database)
        with closing(sqlite3.connect(f"{database.path}.before-0001")) as kept:
            assert kept.execute("SELECT version_num FROM alembic_version").fetchall() == [("0001",)]
    store = DeliveryStore(database)
    assert [one.cause for one in store.owed_alerts(NOW, NOW + timedelta(minutes=5))] == ["owed"]
    # What is owed and goes on is told again after the quiet time, like all else.
    assert store.note_alert(
        Alert(cause="owed", text="text"), NOW + timedelta(hours=6), quiet=timedelta(hours=6), owed_from=None
    )


def test_a_migration_that_fails_leaves_the_database_as_it_was(database, monkeypatch):
    monkeypatch.setattr(migrating, "HEAD", "0999")

    def half_way(connection):
        connection.execute(text("DROP TABLE channel_names"))
        raise StorageUnavailable("the disk is full")

    monkeypatch.setattr(migrating, "_upgrade", half_way)
    with pytest.raises(StorageUnavailable):
        migrate(database)
    assert current(database) == HEAD
    assert inspect(database.engine).has_table("channel_names")
