"""A database file that is deleted or replaced under the running bot: nothing more is sent, and nothing is sent twice."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.errors import StorageUnavailable
from tests.e2e.promise import NINE, Team, items, numbered
from tests.e2e.support import CHANNEL, Reading, eventually, fetch, free_port

DAY = "2026-11-30"


@pytest.fixture
def team(make_team) -> Team:
    return make_team(f"{DAY} 08:00")


def delete(path: Path) -> None:
    path.unlink()


def delete_with_its_journal(path: Path) -> None:
    for name in ("", "-wal", "-shm"):
        path.with_name(path.name + name).unlink()


def replace_by_a_copy(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def replace_by_an_empty_one(path: Path) -> None:
    path.unlink()
    path.touch()


def delete_the_wal(path: Path) -> None:
    path.with_name(f"{path.name}-wal").unlink()


def delete_the_shm(path: Path) -> None:
    path.with_name(f"{path.name}-shm").unlink()


def delete_the_journal(path: Path) -> None:
    delete_the_wal(path)
    delete_the_shm(path)


def replace_the_wal(path: Path) -> None:
    wal = path.with_name(f"{path.name}-wal")
    shutil.copy(wal, path.with_name("copy"))
    path.with_name("copy").replace(wal)


WAYS = [
    delete,
    delete_with_its_journal,
    replace_by_a_copy,
    replace_by_an_empty_one,
    delete_the_wal,
    delete_the_shm,
    delete_the_journal,
    replace_the_wal,
]


def names_in(path: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM channel_names")]


def put_back(team: Team) -> None:
    """What the sentence says, to the letter."""
    path = team.folder / "bot.db"
    for name in ("bot.db-wal", "bot.db-shm"):
        (team.folder / name).unlink(missing_ok=True)
    (team.folder / "bot.db.rescued").replace(path)


@pytest.mark.parametrize("lose", WAYS)
def test_a_lost_file_stops_sending_is_told_once_and_its_copy_goes_on_where_it_was(team, lose: Callable[[Path], None]):
    bot = team.begin()
    path = team.folder / "bot.db"
    team.drop("a.txt", numbered(1, 2))
    team.at(f"{DAY} 09:00")
    assert team.check("database").ok
    team.drop("b.txt", numbered(3, 4))
    lose(path)
    with pytest.raises(StorageUnavailable, match="deleted or replaced"):
        team.at("2026-12-01 09:00")
    calls = team.posts()
    with capture_logs() as logs:
        for _ in range(3):
            check = team.check("database")
            assert not check.ok
            for words in (str(path), "stop the bot", "delete bot.db-wal", f"{path}.rescued"):
                assert words in check.detail
    assert [one["event"] for one in logs].count("database_file_lost") == 1
    (told,) = team.told()
    assert f"{path}.rescued" in told

    shutil.copy(f"{path}.rescued", team.folder / "another")
    (team.folder / "another").replace(path)
    with pytest.raises(StorageUnavailable):
        bot.deliver()
    assert not team.check("database").ok, "whoever wrote to it meanwhile, this bot did not see it"
    assert team.posts() == calls + 1, "the alert alone"

    team.stop()
    put_back(team)
    team.begin()
    team.at("2026-12-01 09:01")
    assert team.check("database").ok
    assert team.titles() == items(1, 4)


def test_a_file_lost_while_messages_leave_costs_and_doubles_none(team, monkeypatch):
    both = NINE + NINE.replace("vllm-digest", "other")
    team.workspace.create_channel("other")
    bot = team.begin(both)
    path = team.folder / "bot.db"
    team.drop("a.txt", numbered(1, 6))
    poster = bot.delivery._sender._poster
    post = poster.post

    def post_and_lose(*words, **more):
        answer = post(*words, **more)
        if team.posts() >= 4:
            monkeypatch.undo()  # the alert is posted, too
            path.unlink(missing_ok=True)
        return answer

    monkeypatch.setattr(poster, "post", post_and_lose)
    with pytest.raises(StorageUnavailable, match="deleted or replaced"):
        team.at(f"{DAY} 09:00")
    assert team.posts() <= 5, "what was in flight, and no more"
    assert not team.check("database").ok
    team.stop()
    put_back(team)
    team.begin(both)
    for minute in (2, 4, 6):
        team.at(f"{DAY} 09:0{minute}")
    assert team.titles() == team.titles("other") == items(1, 6)


def test_a_lost_journal_doubles_nothing_though_the_bot_is_killed_and_started_as_if_nothing_had_been(
    team, workspace, start_process
):
    workspace.create_channel(CHANNEL)
    workspace.create_channel("ops")
    (team.inbox / "a.txt").write_text(numbered(1, 3), "utf-8")
    team.write(NINE)
    env = {"SLACK_API_URL": workspace.api_url, "SLACK_BOT_TOKEN": workspace.bot_token}
    env["SLACK_APP_TOKEN"] = workspace.app_token
    first = start_process("run", "--now", cwd=team.folder, **env)
    channel = Reading.of(workspace.api_url, workspace.bot_token)
    eventually(lambda: len(channel.messages()) == 4, what="a root and three entries")
    delete_the_journal(team.folder / "bot.db")
    first.wait_for("database_file_copied")
    first.kill()
    second = start_process("run", "--now", cwd=team.folder, **env)
    assert '"anything_new": false' in second.wait_for(".*delivering_now.*")[0]
    assert second.terminate() == 0
    assert len(channel.messages()) == 4


def test_verbs_beside_the_bot_and_its_own_stop_and_start_are_no_loss(team):
    for _ in range(2):
        bot = team.begin()
        for verb in ("status", "search", "ingest", "status"):
            team.run(verb, *(["Item"] if verb == "search" else []))
            bot.file.check()
    team.drop("a.txt", numbered(1, 2))
    team.at(f"{DAY} 09:00")
    assert team.check("database").ok
    assert team.titles() == items(1, 2)
    assert team.told() == []


def test_without_room_for_a_copy_a_backup_is_asked_for(team):
    team.begin()
    path = team.folder / "bot.db"
    path.with_name(f"bot.db.rescued.{os.getpid()}.tmp").mkdir()
    path.unlink()
    with capture_logs() as logs:
        detail = team.check("database").detail
        assert team.check("database").detail == detail
    assert "goes on trying to write a copy, which failed: the database could not be copied" in detail
    assert [one["event"] for one in logs].count("database_file_not_copied") == 1, "once for one reason"
    (told,) = team.told()
    assert "put a backup in its place" in told


def test_a_copy_that_could_not_be_written_is_tried_until_it_is_and_then_told(team):
    bot = team.begin()
    path, half = team.folder / "bot.db", team.folder / f"bot.db.rescued.{os.getpid()}.tmp"
    half.mkdir()
    team.drop("a.txt", numbered(1, 2))
    team.at(f"{DAY} 09:00")
    path.unlink()
    with pytest.raises(StorageUnavailable, match="goes on trying"):
        bot.file.check()
    half.rmdir()
    for _ in range(3):
        with pytest.raises(StorageUnavailable, match=rf"move {path}\.rescued to its place, and start the bot again$"):
            bot.file.check()
    first, second = team.told()
    assert "put a backup in its place" in first
    assert f"move {path}.rescued to its place" in second
    assert not list(team.folder.glob("*.rescued-*"))
    team.stop()
    put_back(team)
    team.begin()
    team.at(f"{DAY} 09:02")
    assert team.titles() == items(1, 2)


def test_the_ticks_of_a_running_bot_notice_and_tell_and_readyz_says_what_to_do(team, workspace, start_process):
    workspace.create_channel(CHANNEL)
    workspace.create_channel("ops")
    port = free_port()
    folder = team.folder / "process"
    (folder / "inbox").mkdir(parents=True)
    path = folder / "bot.db"
    team.folder, team.database = folder, f"sqlite:///{path}"
    team.write(NINE)
    env = {"SLACK_API_URL": workspace.api_url, "SLACK_BOT_TOKEN": workspace.bot_token}
    bot = start_process(
        "run", "--host", "127.0.0.1", cwd=folder, SLACK_APP_TOKEN=workspace.app_token, PORT=str(port), **env
    )
    url = f"http://127.0.0.1:{port}/readyz"
    eventually(lambda: fetch(url)[0] == 200, what="a ready bot")
    eventually(lambda: len(names_in(path)) == 2, what="the channels' names")
    path.unlink()
    ops = Reading.of(workspace.api_url, workspace.bot_token, "ops")
    (told,) = eventually(ops.messages, what="the alert")
    assert "stop the bot" in told["text"]
    status, body = fetch(url)
    assert status == 503
    assert "stop the bot" in json.loads(body)["checks"]["database"]["detail"]
    assert bot.terminate() == 0
    assert not path.exists(), "nobody made an empty one"
    assert len(ops.messages()) == 1
    assert sum("database_file_lost" in line for line in bot.lines) == 1
