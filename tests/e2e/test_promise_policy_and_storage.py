"""A new configuration while messages wait, and a database that is locked or full for a while."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from bot.errors import StorageUnavailable
from bot.model import DeliveryState
from bot.storage import engine
from bot.workspace.faults import Fault, FaultKind
from tests.e2e.promise import NINE, Team, items, numbered
from tests.e2e.support import digest

DAY = "2026-11-30"


@pytest.fixture
def team(make_team) -> Team:
    return make_team(f"{DAY} 08:00")


def test_a_narrowed_policy_skips_what_is_planned_and_not_sent(team):
    bot = team.begin()
    team.drop("a.txt", numbered(1, 2))
    team.drop("b.txt", digest(("Item 3", "值得精读。It is another machine."), repo="acme/gadgets"))
    team.workspace.remove_member(team.channel.channel_id, team.workspace.bot_user_id)
    team.at(f"{DAY} 09:00")
    team.write(NINE.replace("}}\n", "}, policy: {exclude: {repositories: [acme/widgets]}}}\n"))
    bot.reload()
    team.workspace.add_member(team.channel.channel_id, team.workspace.bot_user_id)
    team.at(f"{DAY} 09:10")
    assert team.titles() == ["Item 3"]
    assert bot.delivery.status().by_state[DeliveryState.SKIPPED] == 2


def test_a_wrong_configuration_is_refused_whole_told_once_and_forgotten_when_it_is_mended(team):
    bot = team.begin()
    team.drop("a.txt", numbered(1, 2))
    wrong = NINE.replace('"09:00"', "09:00") + NINE.replace("vllm-digest", "ops")
    for _ in range(2):
        team.write(wrong)
        bot.reload()
    (told,) = team.told()
    assert "must be quoted" in told
    assert [policy.name for policy in bot.refresh_policies().values()] == ["#vllm-digest"]
    team.at(f"{DAY} 09:00")
    assert team.titles() == items(1, 2)
    team.write(NINE)
    bot.reload()
    assert team.verb("status")["alerts"] == []


def test_a_new_channel_starts_with_its_first_run_limit(team):
    team.workspace.create_channel("late")
    bot = team.begin()
    for number in range(1, 7):
        team.drop(f"2026-11-{10 + number}.txt", numbered(number * 10, number * 10 + 4))
    team.at(f"{DAY} 08:30")
    team.write(NINE + NINE.replace("vllm-digest", "late").replace("}}\n", "}, first_run_limit: 10}\n"))
    bot.reload()
    team.at(f"{DAY} 09:00")
    assert team.titles("late") == items(50, 54) + items(60, 64)


def test_a_locked_database_is_waited_for_and_nothing_is_lost_or_doubled(team, monkeypatch):
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.2)
    bot = team.begin()
    team.drop("a.txt", numbered(1, 4))
    team.at(f"{DAY} 08:59")
    bot.delivery.plan(team.clock.now().replace(hour=1, minute=0))
    posted = bot.delivery._sender._poster.post

    with contextlib.closing(
        sqlite3.connect(team.folder / "bot.db", isolation_level=None, check_same_thread=False)
    ) as other:

        def post_and_lock(*words, **more):
            answer = posted(*words, **more)
            if team.posts() == 2:
                other.execute("BEGIN IMMEDIATE")
            return answer

        monkeypatch.setattr(bot.delivery._sender._poster, "post", post_and_lock)
        with pytest.raises(StorageUnavailable):
            team.at(f"{DAY} 09:00")
        with pytest.raises(StorageUnavailable):
            team.tick()
        assert team.posts() == 2
        other.execute("ROLLBACK")
    team.at(f"{DAY} 09:01")
    assert team.titles() == items(1, 4)
    assert team.posts() == 5


def test_a_full_disk_is_waited_out_and_nothing_is_lost_or_doubled(team):
    bot = team.begin()
    database = bot.archive.database

    def limit(pages: int) -> None:
        with database.statement() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    with database.reading() as connection:
        used = int(connection.exec_driver_sql("PRAGMA page_count").scalar_one())
    limit(used)
    team.drop("a.txt", digest(*((f"Item {n}", f"值得精读。{'It moves. ' * 400}{n}") for n in range(1, 5))))
    team.clock.set(team.clock.now().replace(hour=0, minute=30))
    with pytest.raises(StorageUnavailable, match="full"):
        team.tick()
    limit(1_000_000)
    team.at(f"{DAY} 09:00")
    assert team.titles() == items(1, 4)


@pytest.mark.parametrize("kind", [FaultKind.HANG_BEFORE, FaultKind.HANG_AFTER])
def test_a_slack_that_never_answers_ends_in_its_time_and_the_next_slot_runs(team, kind):
    team.begin(delivery="post_timeout: 1s, lease: 3s")
    team.drop("a.txt", numbered(1, 2))
    team.workspace.add_fault(Fault(kind=kind, skip=1, seconds=20))
    team.at(f"{DAY} 09:00")
    team.at(f"{DAY} 09:01")
    team.drop("b.txt", numbered(3, 3))
    team.at("2026-12-01 09:00")
    assert team.titles() == items(1, 3)
    assert len(team.roots()) == 2
