"""Digest files that are copied, renamed and written anew: what stands in any file of the inbox is owed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.e2e.promise import items, numbered
from tests.e2e.support import shanghai

DAY = "2026-11-30"
BROKEN = "acme/widgets\n\nA title without a paragraph\n"


@pytest.fixture
def team(make_team, database_url):
    team = make_team(f"{DAY} 07:00", database_url)
    team.begin()
    return team


def look(team, minutes=1):
    """Let some minutes pass, and what has arrived be taken."""
    team.clock.set(team.clock.now() + timedelta(minutes=minutes))
    team.bot.ingest()


def listed(team, state="accepted"):
    return [(one["document"], one["entries"]) for one in team.verb("documents", "--state", state)]


def test_a_copy_keeps_its_entries_owed_when_the_first_file_is_written_anew(team):
    team.drop("today.txt", numbered(1, 2))
    look(team)
    team.drop("archive.txt", numbered(1, 2))
    look(team)
    team.drop("today.txt", numbered(3, 4))
    look(team)
    assert listed(team) == [("archive.txt", 2), ("today.txt", 2)]
    team.at(f"{DAY} 09:00")
    assert team.titles() == items(1, 4)


def test_a_renamed_file_keeps_its_entries_owed_when_its_old_name_is_used_again(team):
    path = team.drop("today.txt", numbered(1, 2))
    look(team)
    path.rename(path.with_name("morning.txt"))
    team.drop("today.txt", numbered(3, 4))
    look(team)
    team.at(f"{DAY} 09:00")
    assert team.titles() == items(1, 4)


def test_a_copy_is_kept_also_by_a_bot_that_begins_after_the_first_file_was_written_anew(team):
    team.drop("today.txt", numbered(1, 2))
    look(team)
    team.stop()
    team.drop("archive.txt", numbered(1, 2))  # read before today.txt: at that time the document still counts
    team.drop("today.txt", numbered(3, 4))
    team.begin()
    team.clock.set(shanghai(f"{DAY} 08:00"))
    team.bot.ingest()
    team.at(f"{DAY} 09:00")
    assert team.titles() == items(1, 4)


def test_a_correction_of_the_copy_takes_its_place_and_a_copy_that_is_gone_keeps_nothing(team):
    team.drop("today.txt", numbered(1, 2))
    team.drop("archive.txt", numbered(1, 2))
    look(team)
    team.drop("today.txt", numbered(3, 4))
    look(team)
    team.drop("archive.txt", numbered(5, 6))
    look(team)
    (team.inbox / "archive.txt").unlink()
    look(team)
    team.drop("today.txt", numbered(7, 8))
    look(team)
    assert listed(team) == [("archive.txt", 2), ("today.txt", 2)]
    team.at(f"{DAY} 09:00")
    assert team.titles() == [*items(5, 6), *items(7, 8)]


def test_two_files_that_swap_their_contents_both_count(team):
    team.drop("a.txt", numbered(1, 2))
    team.drop("b.txt", numbered(3, 4))
    look(team)
    team.drop("a.txt", numbered(3, 4))
    team.drop("b.txt", numbered(1, 2))
    look(team)
    assert sorted(listed(team)) == [("a.txt", 2), ("b.txt", 2)]
    team.at(f"{DAY} 09:00")
    assert sorted(team.titles()) == items(1, 4)


def test_a_file_that_was_renamed_over_another_withdraws_what_stands_nowhere(team):
    team.drop("a.txt", numbered(1, 2))
    team.drop("b.txt", numbered(3, 4))
    look(team)
    (team.inbox / "a.txt").rename(team.inbox / "b.txt")
    look(team)
    team.at(f"{DAY} 09:00")
    assert team.titles() == items(1, 2)


def test_the_command_line_keeps_copies_too(team):
    team.drop("today.txt", numbered(1, 2))
    team.run("ingest")
    team.drop("archive.txt", numbered(1, 2))
    team.drop("today.txt", numbered(3, 4))
    team.run("ingest")
    assert listed(team) == [("archive.txt", 2), ("today.txt", 2)]


def test_of_two_broken_files_alike_each_is_told_and_each_ends_by_itself(team):
    paths = [team.drop(name, BROKEN) for name in ("one.txt", "two.txt")]
    look(team)
    told = team.told()
    assert [sum(text.startswith(name) for text in told) for name in ("one.txt", "two.txt")] == [1, 1], told
    assert [one["cause"] for one in team.verb("status")["alerts"]] == ["document:one.txt", "document:two.txt"]
    team.begin()  # what was told is not told again
    team.clock.set(team.clock.now() + timedelta(hours=7))
    look(team)
    assert len(team.told()) == 2
    paths[0].unlink()
    look(team)
    assert listed(team, "quarantined") == [("two.txt", 0)]
    assert [one["cause"] for one in team.verb("status")["alerts"]] == ["document:two.txt"]
    team.drop("two.txt", numbered(1, 1))
    look(team)
    assert listed(team, "quarantined") == []
    assert team.verb("status")["alerts"] == []


def test_the_command_line_names_each_of_two_broken_files_alike(team):
    for name in ("one.txt", "two.txt"):
        team.drop(name, BROKEN)
    lines = team.run("ingest").stdout.splitlines()
    assert [line.partition(":")[0] for line in lines if "set aside" in line] == ["one.txt", "two.txt"]
