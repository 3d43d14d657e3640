"""A database that is away, locked, full or read-only is `StorageUnavailable`, whichever it is; and it is survived."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import tempfile
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, select, text
from sqlalchemy.exc import IntegrityError, StatementError

from bot.errors import StorageError, StorageRefused, StorageUnavailable
from bot.storage import engine as opening
from bot.storage.engine import open_database, shown
from bot.storage.migrate import migrate
from bot.storage.quick import Quick
from bot.storage.schema import UtcDateTime, channel_names, events_seen, metadata
from tests.conftest import PostgreSQL
from tests.e2e.support import eventually

INSERT = text("INSERT INTO channel_names (team_id, name, channel_id) VALUES ('T', :key, :value)")


def _rows(database):
    with database.reading() as connection:
        return dict(connection.execute(select(channel_names.c.name, channel_names.c.channel_id)).all())


def _write(database, key="a", value="b"):
    with database.transaction() as connection:
        connection.execute(INSERT, {"key": key, "value": value})


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("digest.db", "not a URL"),
        ("mysql://x/y", "only sqlite and postgresql"),
        ("postgresql://me@host:port/db", "not a URL"),
        ("sqlite://", "needs one"),
        ("sqlite:///:memory:", "needs one"),
        ("sqlite:////no/such/folder/x.db", "create /no/such/folder"),
        (f"sqlite:////tmp/{'x' * 300}.db", "File name too long"),
        (f"sqlite:////{'x' * 300}/x.db", "File name too long"),
        ("postgresql://me@host:99999/db", "from 1 to 65535"),
    ],
)
def test_a_url_that_names_no_database_is_refused_with_advice_and_where_it_was_said(url, message):
    with pytest.raises(StorageError, match=message) as caught:
        open_database(url, source="the note on the door")
    assert str(caught.value).startswith("the note on the door ")


def test_the_short_form_of_a_host_is_postgresql_and_a_password_is_never_shown():
    database = open_database("postgres://me:secret@example.org/db")
    assert database.name == "postgresql"
    assert shown("postgres://me:secret@example.org/db") == "postgresql+psycopg://me:***@example.org/db"


def test_importing_the_room_loads_neither_a_driver_nor_alembic():
    code = "import sys, bot.storage, bot.storage.engine, bot.storage.migrate; print([m for m in ('alembic', 'psycopg', 'mako') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_transaction_keeps_all_or_nothing(database):
    with pytest.raises(RuntimeError), database.transaction() as connection:  # noqa: PT012 - the fault is the test
        connection.execute(INSERT, {"key": "a", "value": "1"})
        raise RuntimeError
    _write(database, "b")
    assert _rows(database) == {"b": "b"}


def test_a_single_statement_is_kept_at_once(database, database_url, opened):
    with database.statement() as connection:
        connection.execute(INSERT, {"key": "a", "value": "1"})
        assert _rows(opened(database_url)) == {"a": "1"}


def test_a_fault_of_ours_is_not_called_an_absent_database(database):
    _write(database)
    with pytest.raises(IntegrityError):
        _write(database)
    with pytest.raises(Exception, match="nowhere") as caught, database.reading() as connection:
        connection.execute(text("SELECT * FROM nowhere"))
    assert not isinstance(caught.value, StorageError)


def test_references_are_kept_in_both(database):
    with pytest.raises(IntegrityError), database.transaction() as connection:
        connection.execute(text("INSERT INTO entry_revisions VALUES (1, 1, 't', 'b', NULL, '2026-01-01')"))


def test_an_instant_without_a_zone_is_refused(database):
    with pytest.raises(StatementError, match="without a zone"), database.transaction() as connection:
        connection.execute(insert(events_seen), {"event_id": "E", "seen_at": datetime(2026, 1, 1)})  # noqa: DTZ001


zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
instants = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=zones)  # noqa: DTZ001


def test_instants_come_back_as_they_were_and_compare_as_instants_do(database):
    table = events_seen

    @given(st.lists(instants, min_size=1, max_size=4, unique=True), instants)
    @settings(max_examples=20, deadline=None)
    def check(some, bound):
        with database.transaction() as connection:
            connection.execute(table.delete())
            connection.execute(insert(table), [{"event_id": str(n), "seen_at": at} for n, at in enumerate(some)])
            found = connection.execute(select(table.c.seen_at).order_by(table.c.seen_at)).scalars().all()
            before = connection.execute(select(table.c.seen_at).where(table.c.seen_at < bound)).scalars().all()
        assert found == sorted(some)
        assert all(at.utcoffset() == timedelta(0) for at in found)
        assert sorted(before) == sorted(at for at in some if at < bound)

    check()


def test_every_instant_column_is_an_aware_one():
    for table in metadata.tables.values():
        for column in table.columns:
            if column.name.endswith(("_at", "_until", "_since")) or column.name == "at":
                assert isinstance(column.type, UtcDateTime), f"{table.name}.{column.name}"


def test_threads_that_write_at_once_all_get_their_turn(database):
    together = threading.Barrier(8)

    def run(number):
        together.wait()
        for turn in range(10):
            _write(database, f"{number}/{turn}")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(_rows(database)) == 80


@pytest.fixture
def sqlite_path(tmp_path, migrated_sqlite):
    path = tmp_path / "digest-bot.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    return path


def test_a_sqlite_file_locked_by_another_program_is_unavailable_and_read_meanwhile(sqlite_path, opened, monkeypatch):
    monkeypatch.setattr(opening, "BUSY_SECONDS", 0.1)
    database = opened(f"sqlite:///{sqlite_path}")
    with contextlib.closing(sqlite3.connect(sqlite_path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for way in (database.transaction, database.statement):
            with pytest.raises(StorageUnavailable, match="locked"), way() as connection:
                connection.execute(INSERT, {"key": "a", "value": "b"})
        assert _rows(database) == {}
        other.execute("ROLLBACK")
    _write(database)
    assert _rows(database) == {"a": "b"}


def test_a_full_disk_is_unavailable_and_loses_nothing_that_was_kept(sqlite_path, opened):
    database = opened(f"sqlite:///{sqlite_path}")
    _write(database, "kept")
    with pytest.raises(StorageUnavailable, match="full"), database.transaction() as connection:  # noqa: PT012
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        connection.execute(INSERT, {"key": "big", "value": "x" * 1_000_000})
    assert list(_rows(database)) == ["kept"]
    with database.statement() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    _write(database, "later")
    assert set(_rows(database)) == {"kept", "later"}


def test_a_lost_file_takes_no_more_writes_whichever_way_and_is_not_made_anew(sqlite_path, opened):
    database = opened(f"sqlite:///{sqlite_path}")
    _write(database, "kept")
    sqlite_path.rename(sqlite_path.with_name("elsewhere"))
    quick = Quick(database)
    for way in (database.transaction, database.statement, lambda: quick.transaction(flush=True), quick.statement):
        with pytest.raises(StorageUnavailable, match="deleted or replaced"), way():
            pytest.fail("it could have been written")
    assert list(_rows(database)) == ["kept"], "the connections that are open still know it"
    with pytest.raises(StorageUnavailable, match="deleted or replaced"), contextlib.ExitStack() as stack:  # noqa: PT012
        for _ in range(2):  # the second asks for a new connection
            stack.enter_context(database.reading())
    assert not sqlite_path.exists()
    copy = database.rescue()
    assert list(_rows(opened(f"sqlite:///{copy}"))) == ["kept"]
    sqlite_path.with_name("elsewhere").rename(sqlite_path)
    with pytest.raises(StorageUnavailable, match=str(copy)):
        _write(database, "later")
    _write(opened(f"sqlite:///{sqlite_path}"), "after a restart")


def test_a_second_loss_leaves_the_first_copy_as_it_was(sqlite_path, opened):
    for number, name in enumerate(("", "-2", "-3")):
        database = opened(f"sqlite:///{sqlite_path}")
        if number:
            with database.transaction() as connection:
                metadata.create_all(connection)
        _write(database, f"loss {number}")
        sqlite_path.unlink()
        assert database.rescue() == sqlite_path.with_name(f"{sqlite_path.name}.rescued{name}")
        database.close()
    for number, name in enumerate(("", "-2", "-3")):
        assert list(_rows(opened(f"sqlite:///{sqlite_path}.rescued{name}"))) == [f"loss {number}"]


@pytest.mark.parametrize("reads", [0, 3])
def test_the_reserved_connection_copies_where_no_other_is_free(sqlite_path, opened, reads):
    database = opened(f"sqlite:///{sqlite_path}")
    database.reserve()
    other = opened(f"sqlite:///{sqlite_path}")
    _write(other, "kept")
    with contextlib.ExitStack() as stack:
        for _ in range(reads):
            stack.enter_context(database.reading())
        for name in ("", "-wal", "-shm"):
            sqlite_path.with_name(sqlite_path.name + name).unlink()
        copy = database.rescue()
    assert list(_rows(opened(f"sqlite:///{copy}"))) == ["kept"]
    database.close()
    with pytest.raises(StorageUnavailable, match="deleted or replaced"):
        database.rescue()


def test_half_a_copy_does_not_stay_and_is_offered_to_nobody(sqlite_path, opened, monkeypatch):
    database = opened(f"sqlite:///{sqlite_path}")
    database.reserve()
    sqlite_path.unlink()

    def fail(*_, **_more):
        raise OSError(28, "No space left on device")

    for broken in ("replace", "touch"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, broken, fail)
            with pytest.raises(StorageError, match="No space left"):
                database.rescue()
        assert not list(sqlite_path.parent.glob("*.rescued*"))


def test_what_is_lost_is_a_files_business(database):
    database.check_file()
    _write(database)
    database.check_file()
    if database.name == "postgresql":
        with pytest.raises(StorageError, match="only a SQLite database"):
            database.rescue()


def test_sqlite_flushes_every_commit(sqlite_path, opened):
    database = opened(f"sqlite:///{sqlite_path}")
    with database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_a_postgresql_connection_cut_by_the_server_is_unavailable_once(postgresql, opened):
    name = postgresql.fresh("migrated")
    database = opened(postgresql.url(name))
    _write(database, "before")
    postgresql.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    with pytest.raises(StorageUnavailable):
        _write(database, "during")
    _write(database, "after")
    assert set(_rows(database)) == {"before", "after"}


def test_a_server_that_became_read_only_is_waited_for(postgresql, opened):
    name = postgresql.fresh("migrated")
    database = opened(postgresql.url(name))
    quick = Quick(database)
    _write(database, "before")

    def switch(setting):
        postgresql.execute(
            f"ALTER DATABASE {name} SET default_transaction_read_only = {setting}",
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
        )
        with pytest.raises(StorageUnavailable):
            _rows(database)

    def write_quickly():
        with quick.transaction(flush=True) as cursor:
            cursor.execute(quick.sql("UPDATE channel_names SET channel_id = ?"), ("later",))

    switch("on")
    for write in (lambda: _write(database, "during"), write_quickly):
        with pytest.raises(StorageUnavailable, match="read-only"):
            write()
        assert set(_rows(database)) == {"before"}
    switch("off")
    _write(database, "after")
    assert set(_rows(database)) == {"before", "after"}


@pytest.mark.parametrize(
    "state",
    ["57P01", "57P03", "53100", "53200", "53300", "40001", "40P01", "55P03", "25006", "25P03", "25P04", "58030"],
)
def test_what_a_server_says_of_its_own_state_is_waited_for(postgresql, opened, state):
    database = opened(postgresql.url(postgresql.fresh("migrated")))
    raised = f"DO $$ BEGIN RAISE EXCEPTION 'so it is' USING ERRCODE = '{state}'; END $$"
    with pytest.raises(StorageUnavailable, match="so it is"), database.transaction() as connection:
        connection.exec_driver_sql(raised)
    with pytest.raises(StorageUnavailable, match="so it is"), Quick(database).transaction(flush=True) as cursor:
        cursor.execute(raised)


def _lets_in(url):
    import psycopg

    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.fixture
def closed_door(postgresql):
    """A role with a password on a server that asks only this role for one."""
    rules = Path(postgresql.server.pgdata) / "pg_hba.conf"
    before = rules.read_text("utf-8")
    rules.write_text(f"local all guest scram-sha-256\n{before}", "utf-8")
    postgresql.execute("CREATE ROLE guest LOGIN PASSWORD 'right'", "SELECT pg_reload_conf()")
    url = postgresql.url("migrated")
    eventually(lambda: not _lets_in(url.replace("//postgres:", "//guest:")), what="the new rule")
    yield url
    rules.write_text(before, "utf-8")
    postgresql.execute("DROP ROLE guest", "SELECT pg_reload_conf()")


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("/migrated?", "/nowhere?"),
        ("//postgres:", "//nobody:"),
        ("//postgres:", "//guest:"),
        ("//postgres:", "//guest:wrong"),
        ("/migrated?", "/migrated?sslmode=perhaps&"),
    ],
)
def test_a_server_that_lets_us_in_by_no_waiting_says_so(closed_door, opened, part, other):
    database = opened(closed_door.replace(part, other))
    with pytest.raises(StorageRefused, match="correct the database's URL") as caught:
        _rows(database)
    assert "right" not in str(caught.value)
    with pytest.raises(StorageRefused), Quick(database).statement():
        pytest.fail("it was let in")


def test_a_setting_that_the_driver_cannot_read_is_a_fault_of_the_url(closed_door, opened):
    for wrong in ("connect_timeout=soon", "nothing=1"):
        with pytest.raises(StorageError, match="URL cannot be used") as caught:
            _rows(opened(f"{closed_door}&{wrong}"))
        assert not isinstance(caught.value, StorageUnavailable)


def test_a_slow_statement_of_ours_is_no_absent_database(postgresql, opened):
    database = opened(postgresql.url(postgresql.fresh("migrated")))
    with pytest.raises(StorageError, match="took too long") as caught, database.reading() as connection:  # noqa: PT012
        connection.exec_driver_sql("SET statement_timeout = 50")
        connection.exec_driver_sql("SELECT pg_sleep(5)")
    assert not isinstance(caught.value, StorageUnavailable)


def test_a_failed_statement_does_not_quote_what_people_wrote(database):
    _write(database, "a")
    with pytest.raises(IntegrityError) as caught:
        _write(database, "a", "the words of a digest")
    assert "words of a digest" not in str(caught.value)


def test_a_connection_cut_while_idle_is_replaced_unseen(postgresql, opened, monkeypatch):
    monkeypatch.setattr(opening, "IDLE_SECONDS", 0)
    name = postgresql.fresh("migrated")
    database = opened(postgresql.url(name))
    _write(database, "before")
    postgresql.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    _write(database, "after")
    assert set(_rows(database)) == {"before", "after"}


def test_a_connection_cut_within_a_transaction_keeps_none_of_it(postgresql, opened):
    name = postgresql.fresh("migrated")
    database = opened(postgresql.url(name))
    with pytest.raises(StorageUnavailable), database.transaction() as connection:  # noqa: PT012
        connection.execute(INSERT, {"key": "a", "value": "1"})
        postgresql.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        connection.execute(INSERT, {"key": "b", "value": "1"})
    assert _rows(database) == {}


def test_a_server_that_restarts_is_waited_for(postgresql, opened):
    del postgresql  # asks for the same extra; this server is one of its own, as it goes down
    server = PostgreSQL(Path(tempfile.mkdtemp(prefix="digest-bot-pg-")))
    database = opened(server.url("migrated"))
    _write(database, "before")
    server.server.stop()
    for _ in range(2):
        with pytest.raises(StorageUnavailable):
            _write(database, "during")
    server.server.start()
    _write(database, "after")
    assert set(_rows(database)) == {"before", "after"}
    database.close()
    server.server.cleanup()


def test_more_threads_than_connections_wait_and_then_say_so(postgresql, opened, monkeypatch):
    monkeypatch.setattr(opening, "POOL_SECONDS", 0.2)
    name = postgresql.fresh("migrated")
    database = opened(postgresql.url(name))
    with pytest.raises(StorageUnavailable, match="every"), contextlib.ExitStack() as stack:  # noqa: PT012
        for _ in range(20):
            stack.enter_context(database.reading())


def test_what_is_committed_survives_the_process(sqlite_path, tmp_path):
    code = (
        "import os, signal, sys; from sqlalchemy import text; from bot.storage.engine import open_database;"
        "database = open_database(sys.argv[1])\n"
        "with database.statement() as c: c.execute(text(\"INSERT INTO channel_names VALUES ('T', 'a', 'b')\"))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, f"sqlite:///{sqlite_path}"], check=False, cwd=Path(__file__).parents[2])
    with contextlib.closing(open_database(f"sqlite:///{sqlite_path}")) as database:
        assert _rows(database) == {"a": "b"}
        assert not migrate(database)
