"""What a person must see: once per cause, never about the telling itself, and over when it is over."""

from __future__ import annotations

import re
import threading
from datetime import date, timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.workspace.faults import Fault, FaultKind
from tests.e2e.promise import NINE, Team, items, numbered
from tests.e2e.support import FIRST, eventually, plain, shanghai

DAY = "2026-11-30"
BROKEN = "acme/widgets\n\nA title without a paragraph\n"


@pytest.fixture
def team(make_team) -> Team:
    return make_team(f"{DAY} 08:00")


def test_trouble_of_the_alert_channel_is_not_told_there_and_does_not_loop(team):
    team.begin(NINE + NINE.replace("vllm-digest", "ops"))
    team.drop("a.txt", numbered(1, 2))
    team.workspace.remove_member(team.ops.channel_id, team.workspace.bot_user_id)
    team.at(f"{DAY} 09:00")
    team.at(f"{DAY} 09:01")
    calls = team.posts()
    team.at(f"{DAY} 09:02")
    assert team.posts() == calls
    assert team.titles() == items(1, 2)
    (alert,) = team.verb("status")["alerts"]
    assert alert["cause"].startswith("channel:")
    assert team.run("status").exit_code == 1


def test_an_alert_channel_that_comes_later_hears_what_was_not_told(make_team):
    team = make_team(f"{DAY} 08:00")
    team.write(NINE)
    path = team.folder / "config.yaml"
    text = path.read_text("utf-8").replace("#ops", "#night-watch")
    begin = team.write
    team.write = lambda *words, **more: (begin(*words, **more), path.write_text(text, "utf-8"), path)[2]
    bot = team.begin()
    team.drop("broken.txt", BROKEN)
    team.at(f"{DAY} 08:10")
    team.workspace.create_channel("night-watch")
    bot.refresh_policies()
    (told,) = [plain(one) for one in team.read("night-watch").messages() if "broken.txt" in plain(one)]
    assert "line 3" in told
    assert [alert["cause"] for alert in team.verb("status")["alerts"]] == ["document:broken.txt"]


def test_a_folder_that_hangs_keeps_no_tick_waiting_twice_and_no_slot_for_ever(team, monkeypatch):
    bot = team.begin()
    team.drop("a.txt", numbered(1, 2))
    bot.ingest()
    hung, go, waits = threading.Event(), threading.Event(), []
    look, wait = bot.arrivals.inbox.look, threading.Thread.join

    def hang(**more):
        hung.set()
        assert go.wait(60)
        return look(**more)

    def join(thread, seconds=None):
        if thread.name != "look":
            return wait(thread, seconds)
        waits.append(seconds)
        return wait(thread, 0.001)

    monkeypatch.setattr(bot.arrivals.inbox, "look", hang)
    monkeypatch.setattr(threading.Thread, "join", join)
    try:
        for second in (0, 1, 2, 30, 61):
            team.clock.set(shanghai(f"{DAY} 09:00") + timedelta(seconds=second))
            bot.deliver()
            assert hung.is_set()
            assert sum(one.name == "look" for one in threading.enumerate()) == 1
            if second == 0:
                first = len(waits)
        assert len(waits) == first
        assert team.titles() == items(1, 2)
    finally:
        go.set()


def test_a_slack_that_is_away_when_the_alert_channel_is_looked_up_is_not_fatal(team):
    team.workspace.add_fault(Fault(kind=FaultKind.STATUS_BEFORE, method="conversations.list", times=None))
    bot = team.begin()
    team.workspace.clear_faults()
    team.drop("broken.txt", BROKEN)
    bot.ingest()
    bot.refresh_policies()
    assert len(team.told()) == 1


def test_a_file_that_goes_back_to_bytes_it_had_before_it_broke_is_not_set_aside_any_more(team):
    team.begin()
    good = numbered(1, 2)
    team.drop("a.txt", good)
    team.at(f"{DAY} 09:00")
    for minute, data in ((10, BROKEN), (20, good), (30, BROKEN), (40, good)):
        team.drop("a.txt", data)
        team.at(f"{DAY} 09:{minute}")
        team.at(f"{DAY} 09:{minute + 1}")
        broken = data == BROKEN
        listed = team.verb("documents", "--state", "quarantined")
        assert [one["document"] for one in listed] == ["a.txt"] * broken
        assert len(team.verb("status")["alerts"]) == broken
        assert team.run("status").exit_code == broken
    assert len(team.told()) == 2, "it was told each time that it broke"
    team.begin()
    team.at(f"{DAY} 10:00")
    assert team.verb("documents", "--state", "quarantined") == []
    assert team.titles() == items(1, 2)


def test_a_file_that_goes_back_to_an_earlier_wording_brings_it_back(make_team, database_url):
    team = make_team(f"{DAY} 08:00", database_url)
    team.begin()
    one = numbered(1, 2)
    other = one.replace("part 2", "part two")
    team.drop("a.txt", one)
    team.at(f"{DAY} 09:00")
    for minute, data, words in ((10, other, "part two"), (20, one, "part 2"), (30, other, "part two")):
        team.drop("a.txt", data)
        team.at(f"{DAY} 09:{minute}")
        team.at(f"{DAY} 09:{minute + 1}")
        assert words in plain(team.channel.messages()[2])
    team.begin()
    team.at(f"{DAY} 11:00")
    assert "part two" in plain(team.channel.messages()[2])
    assert team.titles() == items(1, 2)


def test_a_tick_that_hangs_is_counted_and_told_and_the_next_slot_still_runs(team, monkeypatch):
    bot = team.begin()
    hang, stuck = threading.Event(), threading.Event()
    usual = bot.delivery.plan

    def plan(**named) -> None:
        if not stuck.is_set():
            stuck.set()
            hang.wait(60)
        usual(**named)

    monkeypatch.setattr(bot.delivery, "plan", plan)
    team.drop("a.txt", numbered(1, 3))
    runtime = bot.runtime()
    runtime.start()
    try:
        assert stuck.wait(20)
        team.clock.set(team.clock.now() + timedelta(minutes=4))
        eventually(lambda: team.figure("digest_ticks_hung_total", tick="deliver") == 1, what="the figure")
        eventually(lambda: any("deliver" in one for one in team.told()), what="the alert")
        team.clock.set(team.clock.now().replace(hour=1, minute=0))
        eventually(lambda: team.titles() == items(1, 3), what="the slot after it")
        eventually(lambda: not bot.delivery.alarm.standing("tick:"), what="the end of the alert")
        assert "deliver" not in team.check("ticks").detail
    finally:
        hang.set()
        runtime.stop()
    assert team.titles() == items(1, 3)


def test_a_tick_that_cannot_be_left_behind_makes_the_bot_unready_until_it_ends(team):
    bot = team.begin()
    hang = threading.Event()
    looked = bot.watch.timed("ingest", lambda: hang.wait(60))
    delivered = bot.watch.timed("deliver", bot.deliver)
    thread = threading.Thread(target=looked, daemon=True)
    thread.start()
    eventually(lambda: bot.watch.is_running("ingest"), what="the tick")
    team.clock.set(team.clock.now() + timedelta(minutes=4))
    delivered()
    for name in ("channels", "reconcile", "update"):
        bot.watch.timed(name, lambda: None)()
    check = team.check("ticks")
    assert not check.ok
    assert "ingest" in check.detail
    hang.set()
    thread.join()
    assert team.check("ticks").ok


def test_work_that_is_stuck_and_a_lost_socket_are_named_for_a_person(team):
    bot = team.begin()
    assert team.check("work").ok
    assert "not started" in team.check("socket").detail
    bot.front.start()
    assert team.check("socket").ok


def test_the_figures_move_with_what_they_count(team):
    team.begin()
    team.drop("a.txt", numbered(1, 3))
    team.drop("broken.txt", BROKEN)
    team.at(f"{DAY} 09:00")
    place = team.channel.channel_id
    assert team.figure("digest_documents_total", state="accepted") == 1
    assert team.figure("digest_documents_total", state="quarantined") == 1
    assert team.figure("digest_documents_stored", state="accepted") == 1
    assert team.figure("digest_entries_total", kind="new") == 3
    assert team.figure("digest_entries_stored", state="all") == 3
    assert team.figure("digest_deliveries", state="sent") >= 4
    assert team.figure("digest_deliveries", state="planned") == 0
    assert team.figure("digest_deliveries_finished_total", state="sent") == 4
    assert team.figure("digest_post_seconds_count") >= 4
    assert team.figure("digest_search_seconds_count") == 0
    assert team.figure("digest_slot_lag_seconds", channel=place) < 60
    team.bot.front.start()
    team.workspace.act("reader", lambda person: person.type(place, "/digest machine"))
    eventually(lambda: team.workspace.ephemerals(place, "reader"), what="the answer")
    assert team.figure("digest_search_seconds_count") == 1

    team.workspace.remove_member(place, team.workspace.bot_user_id)
    team.drop("b.txt", numbered(4, 5))
    team.at("2026-12-01 09:00")
    team.clock.set(team.clock.now() + timedelta(hours=1))
    assert team.figure("digest_slot_lag_seconds", channel=place) >= 3600
    assert team.figure("digest_deliveries", state="planned") == 3


def test_every_example_of_the_help_finds_something(team):
    bot = team.begin()
    team.drop(FIRST.name, FIRST)
    team.at(f"{DAY} 09:00")
    bot.front.start()
    place = team.channel.channel_id
    team.workspace.act("reader", lambda person: person.type(place, "/digest help"))
    (answer,) = eventually(lambda: team.workspace.ephemerals(place, "reader"), what="the help")
    examples = [one for one in codes(answer["blocks"]) if not one.startswith(("/digest", "verdict:"))]
    assert "repo:vllm" in examples
    assert "path:spec_decode" in examples
    assert any(re.fullmatch(r"\S+ since:7d sort:new", one) for one in examples), examples
    assert len(examples) >= 9, examples
    for query in examples:
        found = bot.front.answers.search(query, channel=None, today=date(2026, 11, 30))
        assert found.hits, query
        assert not found.relaxed, query


def codes(blocks: Any) -> list[str]:
    """What stands in code style in rich text, in the order of reading."""
    if isinstance(blocks, list):
        return [text for one in blocks for text in codes(one)]
    if not isinstance(blocks, dict):
        return []
    own = [blocks["text"]] if blocks.get("type") == "text" and blocks.get("style", {}).get("code") else []
    return own + [text for value in blocks.values() for text in codes(value)]


def test_a_broken_file_that_somebody_removes_is_not_set_aside_any_more(team):
    team.begin()
    path = team.drop("broken.txt", BROKEN)
    team.bot.ingest()
    assert team.run("status").exit_code == 1
    path.unlink()
    team.bot.ingest()
    assert team.verb("documents", "--state", "quarantined") == []
    assert team.verb("status")["alerts"] == []
    assert team.run("status").exit_code == 0
    team.drop("broken.txt", BROKEN)
    team.bot.ingest()
    assert [one["document"] for one in team.verb("documents", "--state", "quarantined")] == ["broken.txt"]


@pytest.mark.parametrize(
    ("more", "messages"), [("", 10), (", layout: thread", 10), (", layout: compact", 10), (", max_messages: 2", 1)]
)
def test_the_log_says_once_that_a_digest_stands(team, more, messages):
    team.begin(NINE.replace("}}\n", "}" + more + "}\n"))
    team.drop("a.txt", numbered(1, 9))
    with capture_logs() as logs:
        for minute in range(4):
            team.at(f"{DAY} 09:0{minute}")
    (line,) = [one for one in logs if one["event"] == "digest_delivered"]
    assert (line["channel"], line["messages"]) == (team.channel.channel_id, messages)


def test_a_tick_that_fails_again_and_again_is_told_and_its_success_ends_the_alert(team, monkeypatch):
    bot = team.begin()
    usual = bot.delivery.reconcile

    def reconcile(_stop):
        raise ValueError("a row that nobody foresaw")

    monkeypatch.setattr(bot.delivery, "reconcile", reconcile)
    runtime = bot.runtime()
    runtime.start()
    try:
        eventually(lambda: any("reconcile has failed 5 times" in one for one in team.told()), what="the alert")
        monkeypatch.setattr(bot.delivery, "reconcile", usual)
        eventually(lambda: not bot.delivery.alarm.standing("tick:"), what="the end of the alert")
    finally:
        runtime.stop()
    assert len(team.told()) == 1


def test_what_is_planned_is_sent_though_planning_fails(team, monkeypatch):
    bot = team.begin()
    team.drop("a.txt", numbered(1, 3))
    bot.ingest()
    team.clock.set(shanghai(f"{DAY} 09:00"))
    bot.delivery.plan()

    def plan(**_named):
        raise ValueError("a row that nobody foresaw")

    monkeypatch.setattr(bot.delivery, "plan", plan)
    with pytest.raises(ValueError, match="foresaw"):
        bot.deliver()
    assert team.titles() == items(1, 3)


def test_alerts_about_what_the_configuration_does_not_name_any_more_are_over_and_told_nowhere_without_a_channel(team):
    bot = team.begin(NINE + '  - {channel: "#gone", schedule: {at: "09:00", days: daily}}\n')
    bot.delivery.alarm.raise_alert("tick:deliver", "hangs")
    bot.delivery.alarm.raise_alert("configuration", "is wrong")
    assert len(team.told()) == 3
    path = team.write(NINE)
    path.write_text(path.read_text("utf-8").replace('alerts: {channel: "#ops"}', ""), "utf-8")
    bot.reload()
    assert [one["cause"] for one in team.verb("status")["alerts"]] == ["tick:deliver"]
    bot.delivery.alarm.raise_alert("inbox", "is away")
    assert len(team.told()) == 3
    team.begin()
    assert [one["cause"] for one in team.verb("status")["alerts"]] == ["inbox"]
