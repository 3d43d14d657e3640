"""What people are told about one file: that names it, and ends with its cause."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from tests.e2e.promise import items, numbered

DAY = "2026-11-30"


@pytest.fixture
def team(make_team):
    team = make_team(f"{DAY} 07:00")
    team.begin()
    return team


def look(team):
    """Let a minute pass, and what has arrived be taken."""
    team.clock.set(team.clock.now() + timedelta(minutes=1))
    team.bot.ingest()


def causes(team):
    return [one["cause"] for one in team.verb("status")["alerts"]]


@pytest.mark.parametrize("restarted", [False, True])
def test_an_alert_about_an_unreadable_file_ends_when_the_file_is_removed(team, restarted):
    path = team.inbox / "locked_100%.txt"
    path.symlink_to("/proc/self/mem")  # a file to look at, and an error to whoever reads it, root too
    look(team)
    look(team)
    assert causes(team) == ["document:locked_100%.txt"]
    assert team.told()[0].startswith("locked_100%.txt cannot be read")
    path.unlink()
    if restarted:
        team.begin()
    look(team)
    assert causes(team) == []
    assert team.run("status").exit_code == 0


def test_a_file_that_the_bot_fails_on_is_named_and_holds_up_no_other(team):
    trigger = (
        "CREATE TRIGGER refuse BEFORE INSERT ON documents WHEN NEW.name = 'b.txt' BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    with team.bot.archive.database.transaction() as connection:
        connection.execute(text(trigger))
    for number, name in enumerate(("a.txt", "b.txt", "c.txt"), start=1):
        team.drop(name, numbered(number, number))
    look(team)
    assert causes(team) == ["document:b.txt"]
    assert team.told()[0].startswith("b.txt could not be taken")
    with team.bot.archive.database.transaction() as connection:
        connection.execute(text("DROP TRIGGER refuse"))
    team.at(f"{DAY} 09:00")
    assert team.titles() == ["Item 1", "Item 3"]
    team.begin()
    look(team)
    assert causes(team) == []
    team.at("2026-12-01 09:00")
    assert team.titles() == ["Item 1", "Item 3", *items(2, 2)]


def test_a_date_of_the_far_future_is_set_aside_and_the_corrected_file_takes_its_place(team):
    team.drop("typo.txt", "\n2062-11-30\n\n" + numbered(1, 2))
    look(team)
    (alert,) = team.verb("status")["alerts"]
    assert alert["text"].startswith("typo.txt was set aside: line 2: the date is over 7 days ahead of 2026-11-30")
    assert team.run("parse", str(team.inbox / "typo.txt")).exit_code == 1
    team.drop("typo.txt", "2026-11-30\n\n" + numbered(1, 2))
    look(team)
    assert [(one["edition"], one["state"]) for one in team.verb("documents")] == [("2026-11-30", "accepted")]
    assert causes(team) == []
    team.at(f"{DAY} 09:00")
    assert team.titles() == items(1, 2)
