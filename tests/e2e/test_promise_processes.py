"""Real processes: starting while things are away, stopping in the middle, being paused, reading a new configuration."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.storage.engine import open_database
from bot.storage.listing import list_deliveries
from bot.workspace.faults import Fault, FaultKind
from bot.workspace.server import LocalWorkspace
from tests.conftest import PostgreSQL
from tests.e2e.promise import items, numbered
from tests.e2e.support import CHANNEL, Reading, eventually, fetch, first_line, free_port, run_once

SETTINGS = """
inbox: {path: inbox, scan_every: 500ms, settle: 0s}
delivery: {pace: 100ms, post_timeout: 1500ms, lease: 4s, settle: 500ms, tick: 300ms, ceiling_per_minute: null}
channels:
"""
COUNT = 6


def entry(name: str, more: str = "") -> str:
    due = datetime.now(UTC) - timedelta(minutes=1)
    return f'  - {{channel: "#{name}", schedule: {{at: "{due:%H:%M}", days: daily, timezone: UTC}}{more}}}\n'


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """A folder with one digest of six entries, and a slot that was due a minute ago."""
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "a.txt").write_text(numbered(1, COUNT), "utf-8")
    (tmp_path / "config.yaml").write_text(SETTINGS + entry(CHANNEL), "utf-8")
    return tmp_path


@pytest.fixture
def slack():
    with LocalWorkspace() as workspace:
        workspace.create_channel(CHANNEL)
        yield workspace


def env(slack: LocalWorkspace, database_url: str, **more: str) -> dict[str, str]:
    return {
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "DATABASE_URL": database_url,
        **more,
    }


def sqlite(team: Path) -> str:
    return f"sqlite:///{team / 'bot.db'}"


def titles(slack: LocalWorkspace, channel: str = CHANNEL) -> list[str]:
    messages = Reading.of(slack.api_url, slack.bot_token, channel).messages()
    return [line for line in map(first_line, messages) if line.startswith("Item ")]


def rows(database_url: str) -> list[dict[str, Any]]:
    with contextlib.closing(open_database(database_url)) as database:
        return [one for one in list_deliveries(database) if one["kind"] != "update"]


def settled(database_url: str) -> bool:
    found = rows(database_url)
    return len(found) == COUNT + 1 and {one["state"] for one in found} == {"sent"}


def leases(team: Path) -> list[Any]:
    with contextlib.closing(sqlite3.connect(team / "bot.db")) as connection:
        return connection.execute("SELECT lease_owner FROM channels WHERE lease_owner IS NOT NULL").fetchall()


def test_a_stop_waits_for_the_message_in_flight_and_gives_the_channel_back(team, slack, start_process):
    slack.add_fault(Fault(kind=FaultKind.SLOW, skip=2, seconds=1))
    bot = start_process("run", cwd=team, **env(slack, sqlite(team)))
    eventually(lambda: len(slack.calls(method="chat.postMessage")) == 3, what="the slow message")
    began = time.monotonic()
    assert bot.terminate() == 0
    assert time.monotonic() - began < 10
    states = [one["state"] for one in rows(sqlite(team))]
    assert states.count("sent") == 3
    assert set(states) == {"sent", "planned"}
    assert leases(team) == []
    again = start_process("run", cwd=team, **env(slack, sqlite(team)))
    eventually(lambda: settled(sqlite(team)), what="the rest")
    assert again.terminate() == 0
    assert titles(slack) == items(1, COUNT)


def test_a_stop_over_a_message_without_an_answer_writes_down_the_doubt_within_ten_seconds(team, slack, start_process):
    text = (
        (team / "config.yaml")
        .read_text("utf-8")
        .replace("post_timeout: 1500ms, lease: 4s", "post_timeout: 20s, lease: 45s")
    )
    (team / "config.yaml").write_text(text, "utf-8")
    slack.add_fault(Fault(kind=FaultKind.HANG_AFTER, skip=2, seconds=60))
    bot = start_process("run", cwd=team, **env(slack, sqlite(team)))
    eventually(lambda: len(slack.calls(method="chat.postMessage")) == 3, what="the message without an answer")
    began = time.monotonic()
    assert bot.terminate() == 0
    assert time.monotonic() - began < 10
    states = [one["state"] for one in rows(sqlite(team))]
    assert states.count("uncertain") == 1
    assert "sending" not in states
    assert leases(team) == []


def test_a_slack_that_is_away_at_the_start_is_waited_for(team, tmp_path, start_process):
    keep = tmp_path / "kept"
    with LocalWorkspace(keep=keep) as first:
        first.create_channel(CHANNEL)
        port = int(first.url.rpartition(":")[2])
        words = env(first, sqlite(team))
    bot = start_process("run", cwd=team, **words)
    bot.wait_for("Slack did not answer auth.test.*waiting_to_start")
    with LocalWorkspace(port, keep=keep) as slack:
        eventually(lambda: titles(slack) == items(1, COUNT), what="the digest")
        assert bot.terminate() == 0


def test_a_refused_token_ends_the_start_with_a_sentence(team, slack):
    for name, code in (("SLACK_BOT_TOKEN", "token_revoked"), ("SLACK_APP_TOKEN", "invalid_auth")):
        words = env(slack, sqlite(team))
        slack.refuse_token(words[name], code)
        answer = run_once("run", cwd=team, **words)
        slack.refuse_token(words[name], None)
        assert answer.returncode == 2, answer.stderr
        assert name in answer.stderr.splitlines()[-1]
        assert code in answer.stderr
        assert "Traceback" not in answer.stderr


def test_postgresql_with_another_schema_ends_the_start_and_names_the_command(team, slack, postgresql):
    url = postgresql.url(postgresql.fresh("template1"))
    answer = run_once("run", cwd=team, **env(slack, url))
    assert answer.returncode == 2
    assert "digest-bot migrate" in answer.stderr
    assert run_once("migrate", cwd=team, DATABASE_URL=url).returncode == 0
    assert run_once("status", cwd=team, DATABASE_URL=url).returncode == 0


@pytest.mark.parametrize("verb", ["run", "status"])
def test_a_postgresql_that_has_no_such_database_ends_the_start_with_a_sentence(team, slack, postgresql, verb):
    answer = run_once(verb, cwd=team, **env(slack, postgresql.url("nowhere")))
    assert answer.returncode == 2
    assert 'database "nowhere" does not exist' in answer.stderr
    assert "correct the database's URL" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_postgresql_that_is_away_at_the_start_and_restarts_while_delivering_loses_and_doubles_nothing(
    team, slack, postgresql, start_process
):
    del postgresql  # asks for the same extra; this server is one of its own, as it goes down
    server = PostgreSQL(Path(tempfile.mkdtemp(prefix="digest-bot-pg-")))
    url = server.url("migrated")
    server.server.stop()
    bot = start_process("run", cwd=team, **env(slack, url))
    try:
        bot.wait_for("the database is away.*waiting_to_start")
        slack.add_fault(Fault(kind=FaultKind.SLOW, skip=3, seconds=2))
        server.server.start()
        eventually(lambda: len(slack.calls(method="chat.postMessage")) == 4, what="a message in flight")
        server.server.stop()
        bot.wait_for("waiting_for_database")
        server.server.start()
        eventually(lambda: settled(url), what="the rest")
        assert bot.terminate() == 0
    finally:
        bot.kill()
        server.server.cleanup()
    assert titles(slack) == items(1, COUNT)


def test_a_replica_that_is_paused_past_its_lease_and_wakes_up_posts_nothing_twice(team, slack, start_process):
    url = sqlite(team)
    slack.add_fault(Fault(kind=FaultKind.SLOW, skip=2, seconds=1))
    first = start_process("run", cwd=team, **env(slack, url))
    eventually(lambda: len(slack.calls(method="chat.postMessage")) == 3, what="a message in flight")
    first.child.send_signal(signal.SIGSTOP)
    try:
        second = start_process("run", cwd=team, **env(slack, url))
        eventually(lambda: titles(slack) == items(1, COUNT), what="the rest, from the other replica")
    finally:
        first.child.send_signal(signal.SIGCONT)
    eventually(lambda: settled(url), what="all sent")
    assert first.terminate() == 0
    assert second.terminate() == 0
    assert titles(slack) == items(1, COUNT)
    assert len(slack.calls(method="chat.postMessage")) == COUNT + 1


def test_a_hangup_takes_a_new_configuration_and_refuses_a_wrong_one_whole(team, slack, start_process):
    slack.create_channel("other")
    port = free_port()
    bot = start_process("run", "--host", "127.0.0.1", cwd=team, **env(slack, sqlite(team), PORT=str(port)))
    eventually(lambda: titles(slack) == items(1, COUNT), what="the digest")
    path = team / "config.yaml"
    good = path.read_text("utf-8")

    path.write_text(good + entry("other") + "deliverry: {}\n", "utf-8")
    bot.child.send_signal(signal.SIGHUP)
    bot.wait_for("deliverry.*configuration_refused")
    assert fetch(f"http://127.0.0.1:{port}/healthz")[0] == 200
    assert titles(slack, "other") == []

    path.write_text(good + entry("other", ", first_run_limit: 3"), "utf-8")
    bot.child.send_signal(signal.SIGHUP)
    bot.wait_for("configuration_taken")
    eventually(lambda: titles(slack, "other") == items(1, COUNT), what="the new channel's digest")
    assert titles(slack) == items(1, COUNT)
    assert bot.terminate() == 0
