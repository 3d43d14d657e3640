"""Titles that are alike: which are one entry, in a new database and in one that an earlier version has filled."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from bot.storage.schema import identities
from tests.e2e.support import digest

DAY, NEXT = "2026-11-30", "2026-12-01"
LONG = "这一处改动把心跳线程与抢锁事务合并到同一条语句里，避免了进程在两步之间被杀时任务被重复领取，建议对照自己的实现检查一遍。"
EQUAL, UNEQUAL = ("Item a == b", f"建议阅读。{LONG}"), ("Item a != b", f"建议阅读。{LONG}")


@pytest.fixture
def team(make_team, database_url):
    team = make_team(f"{DAY} 08:00", database_url)
    team.begin()
    return team


def test_titles_that_differ_in_an_operator_are_posted_both(team):
    team.drop("a.txt", digest(EQUAL, UNEQUAL))
    team.at(f"{DAY} 09:00")
    assert team.titles() == [EQUAL[0], UNEQUAL[0]]


def test_what_an_earlier_version_recorded_is_not_posted_again_and_its_twin_is_posted(team):
    team.drop("a.txt", digest(EQUAL))
    team.at(f"{DAY} 09:00")
    with team.bot.archive.database.transaction() as connection:
        connection.execute(update(identities).values(identity="title:acme/widgets:item a b"))
    team.drop("b.txt", digest(UNEQUAL, EQUAL))
    team.at(f"{NEXT} 09:00")
    assert team.titles() == [EQUAL[0], UNEQUAL[0]]


def test_an_old_and_a_new_title_of_one_entry_side_by_side_do_not_stop_the_inbox(team):
    old, new = "修复任务重复执行", "修复任务被重复执行的竞态"
    team.drop("2026-11-28.txt", digest((old, LONG)))
    team.bot.ingest()
    team.drop("2026-11-29.txt", digest((new, LONG)))
    team.bot.ingest()
    team.drop("2026-11-30.txt", digest((old, f"{LONG}一。"), (new, f"{LONG}二。")))
    team.drop("x.txt", digest(("Item 1", "A neighbour.")))
    team.bot.ingest()
    assert [one["document"] for one in team.verb("documents")][2:] == ["2026-11-30.txt", "x.txt"]
