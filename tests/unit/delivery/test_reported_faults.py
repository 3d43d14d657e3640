"""Faults that people have reported about bots of this kind, each with the value that is right here."""

from itertools import pairwise

import pytest

from bot.model import DeliveryState, SlotState
from tests.unit.delivery.fakes import (
    CHANNEL,
    DROP_AFTER,
    HANG,
    KILL_BEFORE,
    OTHER,
    THIRD,
    House,
    Killed,
    code,
    policy,
    too_fast,
)


def house_at_nine(*policies, entries=5, **settings):
    house = House(*policies, **settings)
    house.storage.add_document(1, "2026-03-02", range(1, entries + 1))
    house.tick()
    house.go_to("2026-03-02T01:00:00")
    return house


def names(house, channel=CHANNEL):
    return [text.split()[0] for text in house.slack.texts(channel)]


def test_a1_a_restart_posts_nothing_that_stands_already():
    house = house_at_nine(entries=2)
    house.run(20)
    before = len(house.slack.calls)
    house.restart()
    house.run(3600, every=60)
    assert len(house.slack.calls) == before == 3


def test_a2_a_first_run_over_ninety_digests_posts_the_newest_that_fit():
    house = House(now="2026-03-02T01:00:00")
    for number in range(90):
        house.storage.add_document(
            number, f"2025-{number // 30 + 10}-{number % 30 + 1:02}", range(number * 8, number * 8 + 8)
        )
    house.run(60)
    assert names(house)[1:] == [f"e{n}" for n in range(88 * 8, 90 * 8)]
    assert house.states().count("skipped") == 88 * 8


def test_a3_an_edited_entry_is_changed_in_place_and_never_posted_again():
    house = house_at_nine(entries=2)
    house.run(20)
    house.storage.revise(1, "body one")
    house.storage.add_document(2, "2026-03-03", [1, 2])
    house.go_to("2026-03-03T01:00:00")
    house.run(60)
    house.service.update(house.stop)
    assert names(house) == ["root", "e1", "e2"]
    assert house.slack.messages[CHANNEL][1].edits


def test_a5_the_channel_keeps_file_order_under_a_throttle():
    house = house_at_nine()
    house.slack.script.extend([None, None, too_fast(5)])
    house.run(60)
    assert names(house) == ["root", "e1", "e2", "e3", "e4", "e5"]


def test_a7_a_message_whose_answer_was_lost_stands_once_and_its_ts_is_learnt():
    house = house_at_nine(entries=1)
    house.slack.script.extend([None, DROP_AFTER])
    house.service.plan()
    house.service.deliver(house.stop)
    assert house.delivery("entry:1").state is DeliveryState.UNCERTAIN
    house.run(60)
    assert house.delivery("entry:1").ts == house.slack.messages[CHANNEL][1].ts
    assert names(house) == ["root", "e1"]


def test_a8_throttled_then_killed_nothing_is_repeated_and_nothing_is_left_out():
    house = house_at_nine(entries=6)
    house.slack.script.extend([None] * 4 + [too_fast(2), None, KILL_BEFORE])
    with pytest.raises(Killed):
        house.run(60)
    assert names(house)[-1] == "e4"
    house.restart()
    house.run(120)
    assert names(house) == ["root", "e1", "e2", "e3", "e4", "e5", "e6"]
    gaps = [(b.at - a.at).total_seconds() for a, b in pairwise(house.slack.messages[CHANNEL])]
    assert min(gaps) >= 1.0


def test_b10_asleep_until_twenty_to_ten_posts_once_and_says_it_is_late():
    house = house_at_nine()
    house.go_to("2026-03-02T01:40:00")
    house.run(60)
    assert house.slack.texts()[0] == "root 5 late 40 links 0"
    assert len(house.slack.texts()) == 6


def test_b10_asleep_until_ten_at_night_posts_nothing_warns_once_and_keeps_the_entries_for_the_next_slot():
    house = house_at_nine()
    house.go_to("2026-03-02T14:00:00")
    house.run(600, every=30)
    assert house.slack.texts() == []
    passed = {cause: told["count"] for cause, told in house.storage.alerts.items() if cause.startswith("passed:")}
    assert list(passed.values()) == [1]
    (slot,) = [plan for plan, _ in house.storage.slot_rows.values()]
    assert slot.state is SlotState.PASSED
    house.go_to("2026-03-03T01:00:00")
    house.run(60)
    assert names(house) == ["root", "e1", "e2", "e3", "e4", "e5"]


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_b11_half_past_two_in_berlin_delivers_once_on_a_day_of_change(day):
    house = House(policy(times=("02:30",), zone="Europe/Berlin"), now=f"{day}T00:00:00")
    house.storage.add_document(1, day, [1, 2])
    house.run(4 * 3600, every=300)
    assert names(house) == ["root", "e1", "e2"]


@pytest.mark.parametrize(("stopped", "started"), [("00:59:59", "01:00:01"), ("01:00:00", "01:00:00")])
def test_b10_a_restart_around_the_hour_delivers_once(stopped, started):
    house = house_at_nine(entries=2)
    house.go_to(f"2026-03-02T{stopped}")
    house.tick()
    house.restart()
    house.go_to(f"2026-03-02T{started}")
    house.run(30)
    assert names(house) == ["root", "e1", "e2"]


def test_b10_a_clock_that_jumps_back_and_forth_delivers_once():
    house = house_at_nine(entries=2)
    house.run(10)
    for moment in (
        "2026-03-02T00:30:00",
        "2026-03-02T01:00:00",
        "2026-03-02T03:00:00",
        "2026-03-02T00:59:59",
    ):
        house.go_to(moment)
        house.run(60)
    assert names(house) == ["root", "e1", "e2"]


def test_b13_four_processes_on_one_ledger_send_one_set():
    house = house_at_nine(policy(), policy(OTHER), turn=1)
    services = [house.process() for _ in range(4)]
    for _ in range(40):
        for service in services:
            service.plan()
            service.deliver(house.stop)
            service.reconcile(house.stop)
    assert names(house) == names(house, OTHER) == ["root", "e1", "e2", "e3", "e4", "e5"]


def test_b15_a_slack_that_never_answers_ends_within_the_time_budget_and_the_next_slot_runs():
    house = house_at_nine(policy(times=("09:00", "10:00")), entries=2)
    house.slack.script.append(HANG)
    began = house.clock.now()
    house.tick()
    assert (house.clock.now() - began).total_seconds() <= house.settings.turn + house.settings.post_timeout
    house.storage.add_document(2, "2026-03-02", [3])
    house.go_to("2026-03-02T02:00:00")
    house.run(60)
    assert names(house) == ["root", "e1", "e2", "root", "e3"]


def test_b16_nine_in_shanghai_is_one_in_utc():
    house = house_at_nine(entries=1)
    house.run(5)
    assert house.slack.calls[0][0].isoformat() == "2026-03-02T01:00:00+00:00"


def test_d32_a_private_channel_without_the_bot_stops_no_other_and_keeps_its_entries():
    house = house_at_nine(policy(), policy(OTHER), policy(THIRD))
    house.slack.closed[OTHER] = "channel_not_found"
    house.run(120)
    assert names(house) == names(house, THIRD) == ["root", "e1", "e2", "e3", "e4", "e5"]
    assert set(house.states(OTHER)) == {"planned"}
    assert "invite the bot" in house.service.status().channel_blocks[OTHER].advice


def test_d33_a_token_that_dies_on_the_second_of_five_leaves_the_others_pending_and_is_asked_once_an_interval():
    house = house_at_nine()
    house.slack.script.extend([None, None, code("token_revoked")])
    house.tick()
    house.slack.token_error = "token_revoked"
    calls = len(house.slack.calls)
    house.run(600)
    assert names(house) == ["root", "e1"]
    assert house.states() == ["sent", "sent", "planned", "planned", "planned", "planned"]
    assert house.service.status().team_blocks
    assert len(house.slack.calls) == calls
    assert house.slack.checks <= 600 / house.settings.team_retry.total_seconds() + 1
    assert house.storage.alerts["team:T1"]["count"] == 1


def test_a_poster_that_breaks_its_promise_and_raises_is_taken_for_doubt():
    house = house_at_nine(entries=1)
    post = house.slack.post

    def broken(*args, **more):
        house.slack.post = post
        raise RuntimeError("a fault of ours")

    house.slack.post = broken
    house.tick()
    assert house.states()[0] == "uncertain"
    house.run(60)
    assert names(house) == ["root", "e1"]
