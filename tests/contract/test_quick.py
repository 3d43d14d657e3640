"""The driver's own way keeps the promises of the usual one: errors, transactions and flushing."""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import datetime, timedelta, timezone

import pytest
from sqlalchemy import select

from bot.delivery.values import Lane
from bot.errors import StorageError, StorageUnavailable
from bot.storage import engine as opening
from bot.storage.delivery_store import DeliveryStore
from bot.storage.quick import Quick
from bot.storage.schema import channel_names, events_seen
from tests.contract.conftest import NOW, seconds

INSERT = "INSERT INTO channel_names (team_id, name, channel_id) VALUES ('T1', ?, ?)"


@pytest.fixture
def quick(database):
    return Quick(database)


def test_a_transaction_keeps_all_or_nothing(database, quick):
    with pytest.raises(RuntimeError), quick.transaction(flush=False) as cursor:  # noqa: PT012 - the fault is the test
        cursor.execute(quick.sql(INSERT), ("a", "1"))
        raise RuntimeError
    with quick.transaction(flush=True) as cursor:
        cursor.execute(quick.sql(INSERT), ("b", "1"))
    with quick.statement() as cursor:
        cursor.execute(quick.sql(INSERT), ("c", "1"))
    with database.reading() as connection:
        assert connection.execute(select(channel_names.c.name).order_by("name")).scalars().all() == ["b", "c"]


def test_an_instant_is_written_as_its_column_writes_it(database, quick):
    at = datetime(2026, 11, 30, 9, 0, 0, 123, tzinfo=timezone(timedelta(hours=8)))
    with quick.statement() as cursor:
        cursor.execute(quick.sql("INSERT INTO events_seen (event_id, seen_at) VALUES (?, ?)"), ("E", quick.at(at)))
    with database.reading() as connection:
        assert connection.execute(select(events_seen.c.seen_at).where(events_seen.c.seen_at == at)).scalars().all() == [
            at
        ]
    assert quick.at(None) is None
    with pytest.raises(ValueError, match="without a zone"):
        quick.at(at.replace(tzinfo=None))


def test_a_fault_of_ours_is_not_called_an_absent_database(database, quick):
    with pytest.raises(Exception, match="nowhere") as caught, quick.statement() as cursor:
        cursor.execute("SELECT * FROM nowhere")
    assert not isinstance(caught.value, StorageUnavailable)
    with quick.statement() as cursor:
        cursor.execute("SELECT 1")


def test_a_locked_file_is_unavailable_to_a_sender(tmp_path, migrated_sqlite, opened, monkeypatch):
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.1)
    path = tmp_path / "digest-bot.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    store = DeliveryStore(opened(f"sqlite:///{path}"))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageUnavailable, match="locked"):
            store.claim("me", [1], NOW, NOW + seconds(10))
        other.execute("ROLLBACK")
    assert store.claim("me", [1], NOW, NOW + seconds(10)) == frozenset()


def test_a_file_that_is_damaged_under_a_sender_is_named_with_what_to_do(tmp_path, migrated_sqlite, opened):
    path = tmp_path / "digest-bot.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    store = DeliveryStore(opened(f"sqlite:///{path}"))
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(StorageError, match=f"{path} is damaged or no SQLite database") as caught:
        store.claim("me", [1], NOW, NOW + seconds(10))
    assert not isinstance(caught.value, StorageUnavailable), "waiting does not mend it"


def test_a_claim_is_flushed_and_the_usual_setting_comes_back(tmp_path, migrated_sqlite, opened):
    path = tmp_path / "digest-bot.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    quick = Quick(opened(f"sqlite:///{path}"))
    modes = []
    for flush in (True, False, True):
        with quick.transaction(flush=flush) as cursor:
            modes.append(cursor.execute("PRAGMA synchronous").fetchone()[0])
    with quick.statement() as cursor:
        modes.append(cursor.execute("PRAGMA synchronous").fetchone()[0])
    assert modes == [2, 1, 2, 1]


def test_a_cut_connection_is_unavailable_once_to_a_sender(postgresql, opened):
    name = postgresql.fresh("migrated")
    store = DeliveryStore(opened(postgresql.url(name)))
    assert store.reserve_team("T1", Lane.POST, NOW, seconds(1)) == NOW
    postgresql.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    with pytest.raises(StorageUnavailable):
        store.claim("me", [1], NOW, NOW + seconds(10))
    assert store.reserve_team("T1", Lane.POST, NOW, seconds(1)) == NOW + seconds(1)
