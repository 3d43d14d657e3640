"""Real processes that are killed, doubled and signed at: what holds when nobody tidies up."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.signature import SignatureVerifier

from bot.storage.engine import open_database
from bot.storage.listing import list_deliveries
from bot.workspace.faults import Fault, FaultKind
from bot.workspace.interactions import Refused
from bot.workspace.remote import RemoteWorkspace
from bot.workspace.server import LocalWorkspace
from tests.e2e.support import (
    ALL_ITEMS,
    CHANNEL,
    ROOT,
    Process,
    Reading,
    assert_digest,
    clean_copy,
    digest,
    eventually,
    fetch,
    free_port,
    plain,
    run_once,
)

SETTINGS = """
inbox: {path: seeds, scan_every: 1s, settle: 0s}
channels:
  - channel: "#vllm-digest"
    schedule: {at: "%s", days: daily, timezone: UTC}
delivery: {pace: 100ms, post_timeout: 1500ms, lease: 4s, settle: 500ms, tick: 300ms, ceiling_per_minute: null}
"""


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """A folder with the seeds and a schedule whose slot was due a minute ago."""
    clean_copy(tmp_path)
    due = datetime.now(UTC) - timedelta(minutes=1)
    (tmp_path / "config.yaml").write_text(SETTINGS % f"{due:%H:%M}", "utf-8")
    return tmp_path


@pytest.fixture
def slack() -> Iterator[LocalWorkspace]:
    with LocalWorkspace() as workspace:
        workspace.create_channel(CHANNEL)
        yield workspace


def tokens(slack: LocalWorkspace, database_url: str, **more: str) -> dict[str, str]:
    return {
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "DATABASE_URL": database_url,
        **more,
    }


def all_told(database_url: str) -> list[dict[str, Any]]:
    with contextlib.closing(open_database(database_url)) as database:
        return [one for one in list_deliveries(database) if one["kind"] in ("root", "entry")]


def all_sent(database_url: str) -> Callable[[], bool]:
    return lambda: [one["state"] for one in all_told(database_url)] == ["sent"] * 13


def test_a_bot_killed_between_slacks_acceptance_and_its_own_commit_posts_thirteen_and_none_twice(
    team, slack, database_url, start_process
):
    slack.add_fault(Fault(kind=FaultKind.HANG_AFTER, skip=5, seconds=30))
    channel = Reading.of(slack.api_url, slack.bot_token)
    bot = start_process("run", cwd=team, **tokens(slack, database_url))
    eventually(lambda: len(channel.messages()) == 6, what="the message without an answer")
    bot.kill()
    states = [one["state"] for one in all_told(database_url)]
    assert states.count("sending") == 1, "the bot died before it wrote down what Slack had taken"
    slack.clear_faults()

    again = start_process("run", cwd=team, **tokens(slack, database_url))
    eventually(lambda: len(channel.messages()) >= 13, what="the rest of the digest")
    eventually(all_sent(database_url), what="thirteen sent")
    assert again.terminate() == 0

    messages = channel.messages()
    assert len(messages) == 13
    assert_digest(messages, ALL_ITEMS)
    told = all_told(database_url)
    assert sorted(one["ts"] for one in told) == [one["ts"] for one in messages]


def test_a_workspace_of_its_own_process_and_a_kept_state_survive_a_kill_of_both(team, start_process):
    keep = str(team / "kept")

    def workspace() -> tuple[Process, RemoteWorkspace]:
        process = start_process("workspace", "--port", "0", "--keep", keep, "--channel", CHANNEL, cwd=team)
        return process, RemoteWorkspace(process.wait_for(r"(http://127\.0\.0\.1:\d+)/")[1])

    def env(remote: RemoteWorkspace) -> dict[str, str]:
        state = remote.state()
        return {
            "SLACK_API_URL": state["api_url"],
            "SLACK_BOT_TOKEN": state["bot_token"],
            "SLACK_APP_TOKEN": state["app_token"],
            "DATABASE_URL": f"sqlite:///{team / 'bot.db'}",
        }

    first, remote = workspace()
    bot = start_process("run", "--now", cwd=team, **env(remote))
    channel = Reading.of(remote.api_url, remote.state()["bot_token"])
    eventually(lambda: len(channel.messages()) >= 4, what="a few messages")
    first.kill()
    bot.kill()

    _second, remote = workspace()
    channel = Reading.of(remote.api_url, remote.state()["bot_token"])
    bot = start_process("run", "--now", cwd=team, **env(remote))
    eventually(lambda: len(channel.messages()) >= 13, what="the rest of the digest")
    eventually(all_sent(env(remote)["DATABASE_URL"]), what="thirteen sent")
    assert bot.terminate() == 0
    assert_digest(channel.messages(), ALL_ITEMS)


def test_two_replicas_on_one_database_make_one_set_of_posts(team, slack, database_url, start_process):
    channel = Reading.of(slack.api_url, slack.bot_token)
    replicas = [start_process("run", cwd=team, **tokens(slack, database_url)) for _ in range(2)]
    eventually(lambda: slack.connections == 2, what="two connected replicas")
    eventually(lambda: len(channel.messages()) >= 13, what="the digest")
    assert [one.terminate() for one in replicas] == [0, 0]
    assert_digest(channel.messages(), ALL_ITEMS)


def test_a_replica_that_is_killed_over_its_root_leaves_the_channel_to_the_other(team, slack, tmp_path, start_process):
    database_url = f"sqlite:///{tmp_path / 'bot.db'}"
    channel = Reading.of(slack.api_url, slack.bot_token)
    slack.add_fault(Fault(kind=FaultKind.HANG_AFTER, seconds=30))
    first = start_process("run", cwd=team, **tokens(slack, database_url))
    eventually(lambda: len(channel.messages()) == 1, what="the root")
    second = start_process("run", cwd=team, **tokens(slack, database_url))
    first.kill()
    eventually(lambda: len(channel.messages()) >= 13, what="the rest, from the other replica")
    eventually(all_sent(database_url), what="thirteen sent")
    assert second.terminate() == 0
    assert_digest(channel.messages(), ALL_ITEMS)


# --- Slack over HTTP --------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def over_http(
    team: Path, slack: LocalWorkspace, start: Callable[..., Process], *, secret: str | None = None
) -> Iterator[tuple[Process, str]]:
    port = free_port()
    secret = secret or slack.signing_secret
    env = tokens(slack, f"sqlite:///{team / 'bot.db'}", SLACK_SIGNING_SECRET=secret, PORT=str(port))
    del env["SLACK_APP_TOKEN"]
    bot = start("run", "--http", "--host", "127.0.0.1", cwd=team, **env)
    url = f"http://127.0.0.1:{port}"
    eventually(lambda: fetch(f"{url}/healthz")[0] == 200, what="the web server")
    slack.install(request_url=f"{url}/slack/events", is_verified=secret == slack.signing_secret)
    yield bot, url
    assert bot.terminate() == 0


def test_slack_over_http_is_answered_and_watched_and_nobody_else_is_let_in(team, slack, start_process):
    channel = Reading.of(slack.api_url, slack.bot_token)
    with over_http(team, slack, start_process) as (_bot, url):
        eventually(lambda: len(channel.messages()) >= 13, what="the digest")
        assert_digest(channel.messages(), ALL_ITEMS)

        slack.act("reader", lambda person: person.type(channel.channel_id, "/digest vllm rocm"))
        eventually(lambda: slack.ephemerals(channel.channel_id, "reader"), what="the answer")
        answer = plain(slack.ephemerals(channel.channel_id, "reader")[-1])
        assert "稳定 ROCm CI Docker 构建上下文与源码缓存" in answer.split("\n")[1]

        body = b"command=%2Fdigest&text=rocm&user_id=U1&channel_id=C1&team_id=T1&response_url=http%3A%2F%2F127.0.0.1%2F"
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        now = str(int(time.time()))
        for secret, at, expected in (
            ("another secret", now, 401),
            (slack.signing_secret, str(int(now) - 600), 401),
        ):
            signature = SignatureVerifier(secret).generate_signature(timestamp=at, body=body)
            headers = {**form, "X-Slack-Signature": signature, "X-Slack-Request-Timestamp": at}
            assert fetch(f"{url}/slack/events", body, headers)[0] == expected
        assert fetch(f"{url}/slack/events", body, form)[0] == 401, "no signature at all"

        ready, detail = fetch(f"{url}/readyz")
        assert ready == 200, detail
        status, figures = fetch(f"{url}/metrics")
        assert status == 200
        for name in ("documents", "entries", "deliveries", "post_seconds", "search_seconds", "lag"):
            assert name in figures, f"{name} is not among the figures"


def test_status_says_that_the_signing_secret_may_be_wrong_until_a_request_is_signed_with_it(team, slack, start_process):
    channel = Reading.of(slack.api_url, slack.bot_token)

    def status() -> str:
        return run_once("status", cwd=team, DATABASE_URL=f"sqlite:///{team / 'bot.db'}").stdout

    with over_http(team, slack, start_process, secret="0" * 32) as (bot, url):
        with pytest.raises(Refused):
            slack.act("reader", lambda person: person.type(channel.channel_id, "/digest rocm"))
        bot.wait_for("requests_refused")
        eventually(lambda: "SLACK_SIGNING_SECRET may be wrong" in status(), what="the advice")
        assert re.search(r"digest_requests_refused_total [1-9]", fetch(f"{url}/metrics")[1])
    with over_http(team, slack, start_process):
        slack.act("reader", lambda person: person.type(channel.channel_id, "/digest rocm"))
        eventually(lambda: "SLACK_SIGNING_SECRET" not in status(), what="nothing to do any more")


def test_the_health_pages_are_served_in_socket_mode_where_port_is_set(team, slack, start_process):
    port = free_port()
    bot = start_process(
        "run", "--host", "127.0.0.1", cwd=team, **tokens(slack, f"sqlite:///{team / 'bot.db'}", PORT=str(port))
    )
    url = f"http://127.0.0.1:{port}"
    eventually(lambda: fetch(f"{url}/readyz")[0] == 200, what="a ready bot")
    assert fetch(f"{url}/healthz")[0] == 200
    assert "digest" in fetch(f"{url}/metrics")[1]
    assert fetch(f"{url}/slack/events", b"{}")[0] == 404
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=5)  # another address than --host named
    slack.refuse_links(1000)
    slack.drop_sockets()
    eventually(lambda: fetch(f"{url}/readyz")[0] == 503, what="a bot that says its socket is gone")
    assert bot.terminate() == 0


# --- SIGHUP before anything runs --------------------------------------------------------------------------------------

HANG_UP = """
import os, pathlib, signal, sys

left = [os.environ.get("HANG_UP_AT", "")]

def hang_up(event, details):
    if left and left[0] in (event, f"{event} {details[:1]}"):
        left.clear()
        if "HANG_UP_WITH" in os.environ:
            config = pathlib.Path("config.yaml")
            config.write_text(config.read_text().replace("#vllm-digest", os.environ["HANG_UP_WITH"]))
        os.kill(os.getpid(), signal.SIGHUP)
        print("hung up", flush=True)

sys.addaudithook(hang_up)
"""


@pytest.fixture
def hang_up_at(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """What makes a program hang up on itself, at an event that the interpreter tells auditors of."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(HANG_UP, "utf-8")
    return lambda at, **more: {"HANG_UP_AT": at, "PYTHONPATH": f"{tmp_path / 'hook'}:{ROOT}", **more}


@pytest.mark.parametrize("at", ["click", "bot.bootstrap.assemble", "apscheduler"])
def test_a_hangup_while_the_bot_is_still_being_loaded_does_not_end_it(team, slack, hang_up_at, start_process, at):
    env = tokens(slack, f"sqlite:///{team / 'bot.db'}", **hang_up_at(f"import {(at,)}"))
    bot = start_process("run", cwd=team, **env)
    bot.wait_for("hung up")
    eventually(lambda: slack.connections or bot.child.poll() is not None, what="a connected bot")
    assert bot.terminate() == 0


def test_a_hangup_after_the_file_was_read_and_before_the_bot_runs_reads_it_again(
    team, slack, hang_up_at, start_process
):
    slack.create_channel("second")
    env = hang_up_at("socket.connect", HANG_UP_WITH="#second")  # its first question is who it is
    bot = start_process("run", cwd=team, **tokens(slack, f"sqlite:///{team / 'bot.db'}", **env))
    second = Reading.of(slack.api_url, slack.bot_token, "second")
    eventually(lambda: len(second.messages()) >= 13, what="the digest in the channel that the file names now")
    assert bot.terminate() == 0
    assert Reading.of(slack.api_url, slack.bot_token).messages() == []


@pytest.mark.parametrize("is_away", [False, True])
def test_a_hangup_with_a_wrong_file_before_the_bot_runs_leaves_it_the_right_one(
    team, slack, hang_up_at, start_process, is_away
):
    if is_away:  # the first question fails, so that the file is read once more before the second
        slack.add_fault(Fault(kind=FaultKind.STATUS_BEFORE, method="auth.test", times=1))
    env = hang_up_at("socket.connect", HANG_UP_WITH='"')
    bot = start_process("run", cwd=team, **tokens(slack, f"sqlite:///{team / 'bot.db'}", **env))
    here = Reading.of(slack.api_url, slack.bot_token)
    eventually(lambda: len(here.messages()) >= 13, what="the digest as the right file has it")
    assert bot.terminate() == 0
    assert sum("configuration_refused" in line for line in bot.lines) == 1
    assert sum("waiting_to_start" in line for line in bot.lines) == is_away


def test_gbk_under_a_c_locale_is_refused_and_the_others_are_delivered(team, slack, start_process):
    (team / "seeds" / "gbk.txt").write_bytes(digest(("修复调度器死锁", "值得精读。锁的顺序反了。")).encode("gbk"))
    env = tokens(slack, f"sqlite:///{team / 'bot.db'}", LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    channel = Reading.of(slack.api_url, slack.bot_token)
    taken = run_once("ingest", "--json", cwd=team, **env)
    assert taken.returncode == 1, taken.stderr
    bot = start_process("run", cwd=team, **env)
    eventually(lambda: len(channel.messages()) >= 13, what="the digest")
    assert bot.terminate() == 0
    assert_digest(channel.messages(), ALL_ITEMS)
    listed = run_once("documents", "--state", "quarantined", "--json", cwd=team, **env)
    (refused,) = json.loads(listed.stdout)
    assert refused["document"] == "gbk.txt"
    assert "GBK" in refused["problems"][0]["reason"]
