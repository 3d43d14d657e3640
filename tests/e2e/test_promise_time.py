"""When a slot is due: zones, days, holidays, changes of the clock, restarts around the hour."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest

from bot.workspace.faults import Fault, FaultKind
from tests.e2e.promise import NINE, items, numbered
from tests.e2e.support import plain, shanghai

DAY = "2026-11-30"


def channel(name: str, schedule: str, more: str = "") -> str:
    return f'  - {{channel: "#{name}", schedule: {{{schedule}}}{more}}}\n'


def test_each_channel_has_its_own_zone_and_hours_and_days_off(make_team):
    team = make_team(f"{DAY} 05:00")  # a Monday
    for name in ("berlin", "twice", "holiday", "paused"):
        team.workspace.create_channel(name)
    team.begin(
        NINE
        + channel("berlin", 'at: "09:00", days: daily, timezone: Europe/Berlin')
        + channel("twice", 'at: ["09:00", "15:00"], days: daily, timezone: Asia/Shanghai')
        + channel("holiday", f'at: "09:00", days: daily, timezone: Asia/Shanghai, skip_dates: [{DAY}]')
        + channel("paused", 'at: "09:00", days: daily, timezone: Asia/Shanghai, pause_until: 2026-12-02')
    )
    team.drop("a.txt", numbered(1, 2))
    team.at(f"{DAY} 09:00")
    assert team.titles() == team.titles("twice") == items(1, 2)
    team.drop("b.txt", numbered(3, 4))
    team.at(f"{DAY} 15:00")
    assert team.titles() == items(1, 2)
    assert team.titles("twice") == items(1, 4)
    assert team.titles("berlin") == []
    team.at(f"{DAY} 16:00")  # nine in Berlin, in winter
    assert team.titles("berlin") == items(1, 4)
    assert team.titles("holiday") == team.titles("paused") == []
    team.at("2026-12-01 09:00")
    assert team.titles("holiday") == team.titles() == items(1, 4)
    assert team.titles("paused") == []
    team.at("2026-12-01 15:00")
    team.at("2026-12-01 16:00")
    team.at("2026-12-02 09:00")
    assert team.titles("paused") == items(1, 4)
    assert team.told() == []


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_half_past_two_in_berlin_comes_once_on_both_days_of_change(make_team, day):
    team = make_team(f"{day} 05:00")
    team.begin(channel("vllm-digest", 'at: "02:30", days: daily, timezone: Europe/Berlin'))
    team.drop("a.txt", numbered(1, 2))
    moment = datetime.fromisoformat(f"{day}T00:00").replace(tzinfo=UTC)
    for minutes in range(0, 180, 15):
        team.clock.set(moment + timedelta(minutes=minutes))
        team.tick()
    assert team.titles() == items(1, 2)
    assert len(team.roots()) == 1
    assert "原定" not in team.roots()[0], "it is not late"
    team.drop("b.txt", numbered(3, 3))
    team.clock.set(moment + timedelta(days=1, minutes=105))
    team.tick()
    assert team.titles() == items(1, 3)


def test_a_clock_that_jumps_forward_and_back_brings_one_digest(make_team):
    team = make_team(f"{DAY} 08:00")
    team.begin()
    team.drop("a.txt", numbered(1, 2))
    for moment in ("08:59", "09:40", "08:30", "09:00", "09:00", "12:00", "08:59", "09:01"):
        team.at(f"{DAY} {moment}")
    assert team.titles() == items(1, 2)
    (root,) = team.roots()
    assert "原定 09:00，09:40 发出" in root


@pytest.mark.parametrize("restarts", [False, True])
def test_a_clock_that_ran_ahead_for_a_moment_does_not_stop_the_channel_until_then(make_team, restarts):
    team = make_team(f"{DAY} 08:00")
    team.begin()
    team.drop("a.txt", numbered(1, 3))
    team.at(f"{DAY} 08:30")
    team.bot.delivery.plan(shanghai(f"{DAY} 09:00:00"))
    team.clock.set(shanghai(f"{DAY} 12:00"))  # three hours too far
    team.workspace.add_fault(Fault(kind=FaultKind.RATE_LIMITED, skip=1, seconds=30))  # the second message is too fast
    team.bot.delivery.deliver(threading.Event())
    assert len(team.roots()) == 1
    assert team.titles() == []
    team.clock.set(shanghai(f"{DAY} 09:00:10"))
    if restarts:
        team.begin()
    team.at(f"{DAY} 09:02")
    assert team.titles() == items(1, 3)


@pytest.mark.parametrize(("stopped", "started"), [("08:59:59", "09:00:01"), ("08:59:58", "08:59:59")])
def test_a_restart_around_the_hour_brings_one_digest_in_time(make_team, stopped, started):
    team = make_team(f"{DAY} 08:00")
    team.begin()
    team.drop("a.txt", numbered(1, 2))
    team.at(f"{DAY} 08:30")  # the two looks at a new file take seconds of this clock
    team.at(f"{DAY} {stopped}")
    assert team.titles() == []
    team.begin()
    team.at(f"{DAY} {started}")
    team.begin()
    team.at(f"{DAY} 09:00:01")
    team.begin()
    team.at(f"{DAY} 09:00:02")
    assert team.titles() == items(1, 2)
    assert "原定" not in team.roots()[0]


def test_a_crontab_line_from_one_to_five_is_monday_to_friday(make_team):
    team = make_team("2026-03-06 08:00")  # a Friday
    team.begin(channel("vllm-digest", 'cron: "30 9 * * 1-5", timezone: Asia/Shanghai'))
    team.drop("a.txt", numbered(1, 1))
    team.at("2026-03-06 09:30")
    team.drop("b.txt", numbered(2, 2))
    for moment in ("2026-03-07 09:30", "2026-03-08 09:30"):
        team.at(moment)
    assert team.titles() == items(1, 1)
    team.at("2026-03-09 09:30")
    assert team.titles() == items(1, 2)


@pytest.mark.parametrize(("say", "lines"), [("silent", 0), ("say", 1)])
def test_an_empty_slot_is_silent_or_says_one_line(make_team, say, lines):
    team = make_team(f"{DAY} 08:00")
    team.begin(channel("vllm-digest", 'at: "09:00", days: daily, timezone: Asia/Shanghai', f", when_empty: {say}"))
    for moment in ("09:00", "09:01", "09:30"):
        team.at(f"{DAY} {moment}")
    messages = team.channel.messages()
    assert len(messages) == lines
    assert all("\n" not in plain(one) for one in messages)


def test_a_digest_that_arrives_half_a_minute_before_its_slot_comes_with_it(make_team):
    team = make_team(f"{DAY} 08:50")
    team.begin()
    team.tick()
    team.clock.set(shanghai(f"{DAY} 08:59:35"))
    team.drop("a.txt", numbered(1, 2))
    team.clock.set(shanghai(f"{DAY} 09:00:00"))
    for _ in range(3):
        team.bot.deliver()  # the inbox's own tick has not come round
    assert team.titles() == items(1, 2)


def test_a_slot_waits_a_minute_for_a_file_that_is_being_written_and_no_longer(make_team):
    team = make_team(f"{DAY} 08:50")
    team.begin()
    team.tick()
    team.drop("a.txt", numbered(1, 1))
    team.clock.set(shanghai(f"{DAY} 09:00:00"))
    wait, size = team.clock.wait, iter(range(2, 100))

    def grow(seconds, stop):
        team.drop("a.txt", numbered(1, next(size)))
        return wait(seconds, stop)

    team.clock.wait = grow
    team.bot.deliver()
    assert team.run("status", "--json").exit_code == 0
    assert team.slots() == []
    team.clock.set(shanghai(f"{DAY} 09:01:01"))
    team.drop("a.txt", numbered(1, next(size)))
    team.bot.deliver()
    assert team.slots() == ["empty"]
    team.clock.wait = wait
    team.at("2026-12-01 09:00")
    assert team.titles() == items(1, next(size) - 1)


def test_a_slot_does_not_wait_for_an_inbox_that_is_away(make_team):
    team = make_team(f"{DAY} 08:50")
    team.begin()
    team.drop("a.txt", numbered(1, 2))
    team.tick()
    team.inbox.rename(team.folder / "away")
    team.at(f"{DAY} 09:00:30")
    assert team.titles() == []
    team.at(f"{DAY} 09:01:01")
    assert team.titles() == items(1, 2)
