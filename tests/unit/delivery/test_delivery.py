"""The promise, scenario by scenario, through the front door."""

import contextlib
from datetime import timedelta
from itertools import pairwise

import pytest
import structlog

from bot.delivery.desk import Standing
from bot.delivery.policy import Wanted, WhenEmpty
from bot.delivery.values import Absent, Answer, AnswerKind, CannotLook
from bot.errors import MessageInvalid, StorageUnavailable
from bot.model import Channel, DeliveryKind, DeliveryState, Layout
from tests.unit.delivery.fakes import (
    CHANNEL,
    DROP_AFTER,
    DROP_BEFORE,
    HANG,
    KILL_AFTER,
    KILL_BEFORE,
    NO_NETWORK,
    OTHER,
    THIRD,
    House,
    Killed,
    at,
    code,
    policy,
    too_fast,
)


def morning(*policies, entries=5, **settings):
    house = House(*policies, **settings)
    house.storage.add_document(1, "2026-03-02", range(1, entries + 1))
    house.tick()
    house.go_to("2026-03-02T01:00:00")
    return house


def expected(count, links=0):
    return [f"root {count} links {links}", *(f"e{n}" for n in range(1, count + 1))]


def test_a_slot_gives_a_root_and_the_entries_in_file_order_once():
    house = morning()
    assert house.slack.texts() == []
    house.run(30)
    assert house.slack.texts() == expected(5)
    house.run(3600, every=60)
    assert house.slack.texts() == expected(5)


def test_a_new_process_on_the_same_ledger_posts_nothing_again():
    house = morning(entries=2)
    house.run(30)
    house.restart()
    house.run(30)
    assert house.slack.texts() == expected(2)


def test_messages_in_a_channel_are_never_less_than_a_second_apart():
    house = morning()
    house.slack.latency = 0.3
    house.run(30)
    times = [one.at for one in house.slack.messages[CHANNEL]]
    gaps = [(b - a).total_seconds() for a, b in pairwise(times)]
    assert min(gaps) >= 1.0
    assert max(gaps) <= 1.4


def test_what_falls_due_in_the_same_moment_is_claimed_together_and_still_goes_when_it_is_due():
    house = morning(policy(), policy(OTHER), entries=1)
    claim, sizes = house.storage.claim, []

    def counted(owner, delivery_ids, *rest):
        sizes.append(len(delivery_ids))
        return claim(owner, delivery_ids, *rest)

    house.storage.claim = counted
    house.slack.latency = 0.01
    house.slack.scripts[OTHER].append(too_fast(1.1))  # its root is due again a little after the other's entry
    house.run(30)
    assert sizes == [2, 2, 1]
    starts = [moment for moment, where in house.slack.calls if where == OTHER]
    assert (starts[1] - starts[0]).total_seconds() >= 1.11


def test_too_fast_waits_to_the_second_and_keeps_the_order():
    house = morning()
    house.slack.script.extend([None, None, too_fast(7)])
    house.run(60)
    assert house.slack.texts() == expected(5)
    refused, again = house.slack.calls[2][0], house.slack.calls[3][0]
    assert 7 <= (again - refused).total_seconds() <= 7.6


def test_killed_after_a_throttle_the_next_process_goes_on_where_the_first_stopped():
    house = morning(entries=6)
    house.slack.script.extend([None, None, None, None, too_fast(2), None, KILL_BEFORE])
    with pytest.raises(Killed):
        house.run(60)
    house.restart()
    house.run(120)
    assert house.slack.texts() == expected(6)


def test_a_channel_that_is_throttled_delays_no_other():
    house = morning(policy(), policy(OTHER), turn=2)
    house.slack.scripts[CHANNEL].append(too_fast(20))
    house.run(15, every=0.1)
    assert house.slack.texts(OTHER) == expected(5)
    assert house.slack.texts(CHANNEL) == []
    house.run(30)
    assert house.slack.texts(CHANNEL) == expected(5)


@pytest.mark.parametrize("fault", [DROP_AFTER, HANG, code("internal_error", accepts=True)])
@pytest.mark.parametrize("place", range(4))
def test_an_accepted_message_whose_answer_was_lost_is_found_and_not_posted_again(fault, place):
    house = morning()
    house.slack.script.extend([None] * place + [fault])
    house.run(120)
    assert house.slack.texts() == expected(5)
    assert set(house.states()) == {"sent"}
    first = house.storage.of(CHANNEL, DeliveryKind.ROOT, DeliveryKind.ENTRY)[place].delivery
    assert first.ts == house.slack.messages[CHANNEL][place].ts


@pytest.mark.parametrize("place", range(3))
def test_a_look_that_outlasts_another_replicas_attempt_says_nothing_about_it(place):
    house = morning()
    house.slack.script.extend([None] * place + [DROP_BEFORE, DROP_AFTER])
    house.service.plan()
    house.service.deliver(house.stop)  # the first attempt does not arrive
    house.clock.advance(30)
    other, look = house.process(), house.slack.find

    def slow(*asked, **more):
        found = look(*asked, **more)
        house.slack.find = look
        other.reconcile(house.stop)  # sees what this one saw, and is quicker
        other.deliver(house.stop)  # arrives, and the answer is lost
        return found

    house.slack.find = slow
    house.service.reconcile(house.stop)
    house.run(120)
    assert house.slack.texts() == expected(5)


@pytest.mark.parametrize("seen", [Absent(), CannotLook(reason="missing_scope")])
@pytest.mark.parametrize("place", range(3))
def test_what_one_look_found_counts_whatever_another_made_of_it(place, seen):
    house = morning()
    house.slack.script.extend([None] * place + [DROP_AFTER])
    house.service.plan()
    house.service.deliver(house.stop)
    house.clock.advance(30)
    other, look = house.process(), house.slack.find

    def slow(*asked, **more):
        found = look(*asked, **more)
        house.slack.find = lambda *_asked, **_more: seen  # Slack showed it to one and not yet to the other
        other.reconcile(house.stop)
        house.slack.find = look
        return found

    house.slack.find = slow
    house.service.reconcile(house.stop)
    house.run(120)
    assert house.slack.texts() == expected(5)
    assert set(house.states()) == {"sent"}
    assert not [cause for cause in house.storage.alerts if cause.startswith("held")]


def test_the_question_about_a_held_message_is_taken_back_where_it_was_answered_meanwhile():
    house = morning()
    house.slack.script.extend([DROP_AFTER])
    house.slack.looks.append(CannotLook(reason="missing_scope"))
    house.service.plan()
    house.service.deliver(house.stop)
    house.clock.advance(30)
    resolve = house.storage.resolve

    def answered(resolution, now):
        done = resolve(resolution, now)
        if resolution.state is DeliveryState.HELD:  # a person was quicker than the question
            (held,) = house.storage.in_state(DeliveryState.HELD, 9)
            assert house.service.settle(held.key, Standing(ts=house.slack.messages[CHANNEL][0].ts))
        return done

    house.storage.resolve = answered
    house.service.reconcile(house.stop)
    assert not [cause for cause in house.storage.alerts if cause.startswith("held")]


def test_a_channel_whose_next_message_was_dropped_meanwhile_goes_on_at_once():
    house = morning()
    house.service.plan()
    claim = house.storage.claim

    def dropped(owner, ids, *rest):
        house.storage.claim = claim
        house.storage.skip(ids, "policy", house.clock.now())
        return claim(owner, ids, *rest)

    house.storage.claim = dropped
    began = house.clock.now()
    while len(house.slack.calls) < 5:
        house.service.deliver(house.stop)
        house.clock.advance(0.2)
    assert (house.clock.now() - began).total_seconds() < 10


@pytest.mark.parametrize("fault", [DROP_BEFORE, code("fatal_error")])
@pytest.mark.parametrize("place", range(4))
def test_a_message_that_was_lost_on_the_way_is_looked_for_then_sent_in_its_place(fault, place):
    house = morning()
    house.slack.script.extend([None] * place + [fault])
    house.run(120)
    assert house.slack.texts() == expected(5)


@pytest.mark.parametrize("fault", [KILL_BEFORE, KILL_AFTER])
@pytest.mark.parametrize(
    ("kind", "place"),
    [*(({"layout": layout}, place) for layout in Layout for place in range(4)), ({"max_messages": 4}, 0)],
)
def test_a_process_killed_on_either_side_of_acceptance_loses_and_doubles_nothing(fault, place, kind):
    house = morning(policy(**kind))
    house.slack.script.extend([None] * place + [fault])
    with pytest.raises(Killed):
        house.run(60)
    house.restart()
    house.run(180)
    assert house.slack.texts() == (["root 5 flood links 0"] if "max_messages" in kind else expected(5))
    assert set(house.states()) == {"sent"}


def test_doubt_is_settled_only_after_the_last_moment_of_acceptance():
    house = morning()
    house.slack.script.append(DROP_BEFORE)
    house.service.plan()
    house.service.deliver(house.stop)
    doubt = house.delivery("slot:2026-03-02/09:00")
    assert doubt.state is DeliveryState.UNCERTAIN
    assert (doubt.next_try_at - at("2026-03-02T01:00:00")).total_seconds() >= 10 + 5


def test_a_doubtful_message_holds_back_the_later_ones_until_it_is_settled():
    house = morning()
    house.slack.script.extend([None, DROP_AFTER])
    house.slack.looks.extend(CannotLook(reason="ratelimited", retry_at=at("2026-03-02T01:02:00")) for _ in range(1))
    house.run(60)
    assert house.slack.texts() == expected(5)[:2]
    house.run(120)
    assert house.slack.texts() == expected(5)


def test_after_a_bounded_wait_the_channel_goes_on_and_the_late_one_says_so():
    house = morning()
    house.slack.script.extend([None, DROP_BEFORE])
    house.slack.looks.append(CannotLook(reason="missing_scope"))
    house.run(29 * 60, every=30)
    assert house.slack.texts() == expected(5)[:1]
    house.run(3 * 60, every=30)
    assert house.slack.texts() == ["root 5 links 0", "e2", "e3", "e4", "e5"]
    held = house.service.status().held
    assert [one.subject for one in held] == ["entry:1"]
    assert house.service.retry(held[0].key[:32])
    house.run(30)
    assert house.slack.texts()[-1] == "e1 (out of turn)"


def test_a_message_that_cannot_be_looked_for_is_held_and_told_once():
    house = morning(entries=1)
    house.slack.script.extend([None, DROP_AFTER])
    house.slack.looks.append(CannotLook(reason="missing_scope"))
    house.run(3600, every=30)
    held = house.delivery("entry:1")
    assert (held.state, held.error) == (DeliveryState.HELD, "missing_scope")
    assert house.storage.alerts[f"held:{held.key}"]["count"] == 1
    assert not house.service.settle("ffff", Standing(ts="9.9"))
    assert house.service.settle(held.key, Standing(ts="2.0"))
    assert house.delivery("entry:1").ts == "2.0"
    house.run(60)
    assert house.slack.texts() == expected(1)


def test_looks_that_fail_are_bounded():
    house = morning(entries=1, max_looks=3)
    house.slack.script.extend([None, DROP_AFTER])
    house.slack.looks.extend(CannotLook(reason="ratelimited", retry_at=at("2026-03-02T01:01:00")) for _ in range(9))
    house.run(600)
    assert house.delivery("entry:1").state is DeliveryState.HELD
    assert len(house.slack.looks) == 6


def test_one_closed_channel_stops_no_other_and_goes_on_when_the_bot_is_invited():
    house = morning(policy(), policy(OTHER), policy(THIRD))
    house.slack.closed[OTHER] = "not_in_channel"
    house.run(60)
    assert house.slack.texts(CHANNEL) == house.slack.texts(THIRD) == expected(5)
    assert set(house.states(OTHER)) == {"planned"}
    block = house.service.status().channel_blocks[OTHER]
    assert "/invite" in block.advice
    calls = len([1 for _, channel in house.slack.calls if channel == OTHER])
    assert calls == 1
    del house.slack.closed[OTHER]
    house.run(330)
    assert house.slack.texts(OTHER) == ["root 5 late 5 links 0", *expected(5)[1:]]
    assert not house.service.status().channel_blocks
    assert not house.storage.alerts


def test_an_invitation_opens_the_channel_at_once():
    house = morning()
    house.slack.closed[CHANNEL] = "not_in_channel"
    house.run(10)
    house.slack.closed.clear()
    house.service.welcome(CHANNEL)
    house.run(15)
    assert house.slack.texts() == expected(5)


def test_a_dead_token_stops_everything_and_is_asked_once_an_interval():
    house = morning(policy(), policy(OTHER), turn=2)
    house.tick()
    posted = sum(len(house.slack.texts(one)) for one in (CHANNEL, OTHER))
    house.slack.token_error = "token_revoked"
    before = len(house.slack.calls)
    house.run(300)
    assert sum(len(house.slack.texts(one)) for one in (CHANNEL, OTHER)) <= posted + 2
    # Two channels can be in flight when the token dies; from then on only the question goes out.
    assert len(house.slack.calls) - before <= 12
    assert house.slack.checks <= 6
    assert house.service.status().team_blocks
    assert house.storage.alerts["team:T1"]["count"] <= 2
    house.slack.token_error = None
    house.run(90)
    assert house.slack.texts(CHANNEL) == house.slack.texts(OTHER) == expected(5)
    assert not house.service.status().team_blocks


def test_a_new_token_is_tried_at_once_by_a_new_process():
    house = morning()
    house.slack.token_error = "invalid_auth"
    house.run(5)
    house.slack.token_error = None
    house.restart()
    house.run(15)
    assert house.slack.texts() == expected(5)


def test_a_message_that_slack_will_never_take_is_told_and_passed_over():
    house = morning()
    house.slack.script.extend([None, None, code("invalid_blocks")])
    house.run(30)
    assert house.slack.texts() == ["root 5 links 0", "e1", "e3", "e4", "e5"]
    failed = house.delivery("entry:2")
    assert failed.state is DeliveryState.FAILED
    assert f"failed:{failed.key}" in house.storage.alerts
    assert house.service.retry(failed.key)
    house.run(30)
    assert house.slack.texts()[-1].startswith("e2")


@pytest.mark.parametrize("fault", [MessageInvalid("too many blocks"), KeyError("title"), RecursionError()])
def test_a_message_that_cannot_be_made_is_never_sent_and_stops_no_other(fault):
    house = morning(policy(), policy(OTHER), policy(THIRD), alert_channel=THIRD)
    house.maker.bad["e3"] = fault
    house.run(60)
    for channel in (CHANNEL, OTHER):
        assert house.slack.texts(channel) == ["root 5 links 0", "e1", "e2", "e4", "e5"]
    broken = house.delivery("entry:3")
    assert (broken.state, broken.error) == (DeliveryState.FAILED, "message_invalid")
    told = [text for text in house.slack.texts(THIRD) if broken.key in text]
    assert len(told) == 1
    assert told[0].startswith("ALERT A message could not be made (")
    assert f"digest-bot deliveries retry {broken.key[:8]}" in told[0]
    house.maker.bad.clear()
    assert house.service.retry(broken.key)
    house.run(60)
    assert house.slack.texts()[-1].startswith("e3")


def test_a_root_that_cannot_be_made_stops_no_other_channel():
    house = morning(policy(), policy(OTHER, times=("10:00",)), entries=1)
    house.maker.bad["root"] = ZeroDivisionError()
    house.run(20)
    assert house.delivery("slot:2026-03-02/09:00").state is DeliveryState.FAILED
    house.maker.bad.clear()
    house.go_to("2026-03-02T02:00:00")
    house.run(20)
    assert house.slack.texts(OTHER) == expected(1)


def test_a_database_that_goes_away_is_no_fault_of_the_message_that_was_to_be_made():
    house = morning(entries=1)
    house.tick()
    house.storage.add_document(2, "2026-03-03", [1, 2])
    house.go_to("2026-03-03T01:00:00")
    house.service.plan()
    read, house.storage.sent_messages = house.storage.sent_messages, away
    with pytest.raises(StorageUnavailable):
        house.service.deliver(house.stop)
    house.storage.sent_messages = read
    house.run(20)
    assert house.slack.texts()[-2:] == ["root 1 carried 1 links 0", "e2"]
    assert "failed" not in house.states()


def away(*_args):
    raise StorageUnavailable("the database is away")


def test_an_alert_that_cannot_be_made_does_no_harm_to_what_it_tells_of():
    house = morning(policy(), policy(THIRD), alert_channel=THIRD)
    house.maker.bad |= {"alert": KeyError("text"), "e3": KeyError("title")}
    house.run(60)
    assert house.slack.texts() == ["root 5 links 0", "e1", "e2", "e4", "e5"]


def test_a_word_that_is_not_in_the_table_is_tried_a_bounded_number_of_times():
    house = morning(entries=1, max_attempts=3)
    house.slack.script.extend([None, *[code("new_word")] * 9])
    house.run(300)
    assert house.delivery("entry:1").state is DeliveryState.FAILED
    assert house.delivery("entry:1").attempts == 3


def test_without_network_nothing_is_doubted_and_all_is_sent_later():
    house = morning()
    house.slack.script.extend([NO_NETWORK] * 6)
    house.run(240)
    assert house.slack.texts() == expected(5)
    assert not house.storage.alerts


def test_in_the_thread_layout_the_entries_go_under_the_root():
    house = morning(policy(layout=Layout.THREAD))
    house.run(30)
    root, *entries = house.slack.messages[CHANNEL]
    assert root.thread_ts is None
    assert {one.thread_ts for one in entries} == {root.ts}


def test_when_somebody_deletes_the_root_its_entries_go_to_the_channel():
    house = morning(policy(layout=Layout.THREAD))
    house.slack.script.extend([None, code("thread_not_found")])
    house.run(60)
    assert house.slack.texts() == expected(5)
    assert house.slack.messages[CHANNEL][1].thread_ts is None


def test_the_parts_of_a_long_entry_follow_in_its_thread():
    house = morning(entries=2)
    house.maker.parts[1] = 3
    house.run(60)
    assert house.slack.texts() == ["root 2 links 0", "e1", "e1 part 1", "e1 part 2", "e2"]
    first = house.slack.messages[CHANNEL][1]
    assert [one.thread_ts for one in house.slack.messages[CHANNEL]] == [None, None, first.ts, first.ts, None]


def test_a_compact_slot_is_one_message_in_the_channel_with_its_entries_in_the_thread():
    house = morning(policy(layout=Layout.COMPACT))
    house.run(30)
    assert house.slack.texts() == expected(5)
    root, *entries = house.slack.messages[CHANNEL]
    assert root.thread_ts is None
    assert {one.thread_ts for one in entries} == {root.ts}


@pytest.mark.parametrize("layout", list(Layout))
def test_a_flood_is_one_message_that_counts_for_all_its_entries(layout):
    house = morning(policy(layout=layout, max_messages=4))
    house.run(30)
    assert house.slack.texts() == ["root 5 flood links 0"]
    assert house.states() == ["sent"] * 6


def test_the_root_of_a_flood_that_slack_refuses_loses_no_entry():
    house = morning(policy(max_messages=4))
    house.slack.script.append(code("msg_blocks_too_long"))
    house.run(30)
    assert house.slack.texts() == ["e1", "e2", "e3", "e4", "e5"]


def test_an_empty_slot_is_silent_or_says_one_line():
    silent = House()
    silent.run(180)
    assert silent.slack.texts() == []
    talking = House(policy(when_empty=WhenEmpty.SAY))
    talking.run(180)
    assert talking.slack.texts() == ["nothing new"]


def test_two_mornings_carry_over_what_stands_in_both():
    house = House()
    house.storage.add_document(1, "2026-03-02", range(1, 9))
    house.tick()
    house.go_to("2026-03-02T01:00:00")
    house.run(30)
    house.storage.add_document(2, "2026-03-03", range(5, 13))
    house.go_to("2026-03-03T01:00:00")
    house.run(30)
    assert house.slack.texts()[9:] == ["root 4 carried 4 links 0", "e9", "e10", "e11", "e12"]


def test_a_delivery_asked_for_now_goes_at_once_and_only_once():
    house = House()
    house.storage.add_document(1, "2026-03-01", range(1, 4))
    assert house.service.deliver_now(CHANNEL)
    house.service.deliver(house.stop)
    assert house.slack.texts() == expected(3)
    assert house.service.deliver_now(CHANNEL) is None


def test_the_database_away_while_a_message_lands_doubles_nothing():
    house = morning()
    house.service.plan()
    post = house.slack.post

    def post_and_lose(*args, **more):
        house.storage.away = len(house.slack.messages[CHANNEL]) == 2
        return post(*args, **more)

    house.slack.post = post_and_lose
    with pytest.raises(StorageUnavailable):
        house.service.deliver(house.stop)
    house.storage.away, house.slack.post = False, post
    house.run(60)
    assert house.slack.texts() == expected(5)
    assert set(house.states()) == {"sent"}


def test_stop_ends_the_message_in_flight_and_gives_the_lease_back():
    house = morning()
    house.service.plan()
    post = house.slack.post

    def stopping(*args, **more):
        house.stop.set()
        return post(*args, **more)

    house.slack.post = stopping
    house.service.deliver(house.stop)
    assert house.states() == ["sent", *["planned"] * 5]
    assert house.storage.channels[CHANNEL].owner is None


def test_a_process_that_was_held_up_past_its_lease_does_not_post():
    house = morning()
    house.service.plan()
    claim = house.storage.claim

    def claim_and_freeze(*args):
        won = claim(*args)
        house.clock.advance(25)
        house.storage.claim = claim
        return won

    house.storage.claim = claim_and_freeze
    house.service.deliver(house.stop)
    root = house.delivery("slot:2026-03-02/09:00")
    assert (root.state, root.attempts) == (DeliveryState.PLANNED, 1)
    assert house.slack.calls == []
    house.run(60)
    assert len(house.slack.calls) == 6
    assert house.slack.texts() == expected(5)


def test_a_record_that_comes_after_the_claim_ran_out_still_counts_as_proof():
    house = morning()
    house.service.plan()
    other = house.process()
    record = house.storage.record

    def frozen(owner, records, now):
        house.storage.record = record
        house.clock.advance(31)
        other.reconcile(house.stop)  # takes the claim for lost
        return record(owner, records, house.clock.now())

    house.storage.record = frozen
    house.run(60)
    assert house.slack.texts() == expected(5)
    assert set(house.states()) == {"sent"}


def test_several_processes_share_the_work_and_post_one_set():
    channels = [policy(one) for one in (CHANNEL, OTHER, THIRD)]
    house = morning(*channels, grab=1, turn=0.5)
    crew = [house.service, *(house.process() for _ in range(3))]
    for _ in range(60):
        for service in crew:
            service.plan()
            service.reconcile(house.stop)
            service.deliver(house.stop)
        house.clock.advance(0.5)
    for one in (CHANNEL, OTHER, THIRD):
        assert house.slack.texts(one) == expected(5)


@pytest.mark.parametrize("tick", [0.3, 1.0, 1.7])
def test_a_replica_that_comes_late_to_a_morning_finds_work(tick):
    channels = [Channel(team_id="T1", channel_id=f"C{number}") for number in range(20)]
    house = morning(*map(policy, channels), entries=12, turn=0.1)
    house.service.plan()
    while len(house.slack.calls) < 2 * len(channels):  # by now one process holds every channel
        house.service.deliver(house.stop)
    late, sent, awake = house.process(), 0, house.clock.now()
    while len(house.slack.calls) < 13 * len(channels):
        house.service.deliver(house.stop)
        house.clock.advance(0.05)
        if house.clock.now() >= awake:
            awake = house.clock.now() + timedelta(seconds=tick)
            sent += late.deliver(house.stop).sent
    assert all(house.slack.texts(one) == expected(12) for one in channels)
    assert sent > 20


def test_the_workspace_ceiling_holds_over_all_channels():
    house = morning(*(policy(one) for one in (CHANNEL, OTHER, THIRD)), ceiling_per_minute=60)
    house.run(30)
    times = sorted(moment for moment, _ in house.slack.calls)
    gaps = [(b - a).total_seconds() for a, b in pairwise(times)]
    assert min(gaps) >= 0.99
    assert len(times) == 18


def test_equal_entries_are_rendered_once_for_many_channels():
    house = morning(policy(), policy(OTHER), policy(THIRD))
    house.run(30)
    assert set(house.maker.rendered.values()) == {1}


def test_a_narrowed_policy_skips_what_is_planned_and_not_sent():
    house = House()
    house.storage.add_document(1, "2026-03-02", [1, 2])
    house.storage.add_document(2, "2026-03-02", [3, 4], repo="sgl-project/sglang")
    house.tick()
    house.go_to("2026-03-02T01:00:00")
    house.service.plan()
    assert house.service.take_policies({CHANNEL: policy(wanted=Wanted(repos=("vllm",)))}) == 2
    house.run(30)
    assert house.slack.texts() == expected(2)


def test_a_channel_that_is_not_configured_any_more_waits_without_noise():
    house = morning(policy(), policy(OTHER))
    house.service.plan()
    house.service.take_policies({CHANNEL: policy()})
    house.run(600)
    assert house.slack.texts(OTHER) == []
    assert not house.storage.alerts
    house.service.take_policies(house.policies)
    house.run(20)
    assert house.slack.texts(OTHER) == ["root 5 late 10 links 0", *expected(5)[1:]]


def test_the_wait_for_an_unresolved_message_begins_with_its_first_attempt():
    house = morning(entries=2)
    post, blind_until = house.slack.post, [house.clock.now()]

    def lose_the_first_entry(channel, message, **more):
        if message.text != "e1":
            return post(channel, message, **more)
        blind_until[0] = house.clock.now() + timedelta(minutes=12)
        return Answer(kind=AnswerKind.TIMEOUT_READ)

    find = house.slack.find

    def look(channel, **more):
        if house.clock.now() < blind_until[0]:
            return CannotLook(reason="503", retry_at=house.clock.now() + timedelta(seconds=30))
        return find(channel, **more)

    house.slack.post, house.slack.find = lose_the_first_entry, look
    begun = house.clock.now()
    while "e2" not in house.slack.texts():
        house.tick()
        house.clock.advance(5)
    waited = house.clock.now() - begun
    assert timedelta(minutes=29) < waited < timedelta(minutes=32)  # order_wait is 30 minutes


def test_a_clock_that_is_set_back_while_a_message_waits_for_its_moment_holds_nothing_up():
    house = morning(entries=3)
    wait, waits = house.clock.wait, []

    def set_back(seconds, stop):
        waits.append(seconds)
        return wait(seconds, stop)

    house.clock.wait = set_back
    real = house.storage.claim

    def claim(*arguments, **more):
        won = real(*arguments, **more)
        if len(house.slack.texts()) == 2:
            house.clock.advance(-3600)
        return won

    house.storage.claim = claim
    house.service.plan()
    house.service.deliver(house.stop)
    assert waits
    assert max(waits) < 1


def test_a_replica_that_does_not_know_a_channel_keeps_nobody_else_from_it():
    house = morning(policy(), policy(OTHER))
    house.service.plan()
    older = house.process()
    older.take_policies({CHANNEL: policy()})
    for _ in range(20):
        older.deliver(house.stop)
        house.service.deliver(house.stop)
        house.clock.advance(1)
    assert house.slack.texts(OTHER) == expected(5)
    assert not house.service.status().channel_blocks


def failing(storage, name, times=1):
    """Let the next call of the storage's method end as a database that is away does."""
    real, left = getattr(storage, name), [times]

    def method(*arguments, **more):
        if left[0]:
            left[0] -= 1
            raise StorageUnavailable("the server restarts")
        return real(*arguments, **more)

    setattr(storage, name, method)


@pytest.mark.parametrize("step", ["claim", "turns", "record", "release"])
def test_what_was_about_to_be_sent_when_the_database_went_away_is_another_replica_s_to_send(step):
    house = morning(policy(), policy(OTHER))
    house.service.plan()
    failing(house.storage, step)
    with pytest.raises(StorageUnavailable):
        house.service.deliver(house.stop)
    other = house.process()
    for _ in range(80):
        other.deliver(house.stop)
        other.reconcile(house.stop)
        house.clock.advance(1)
    assert house.slack.texts() == house.slack.texts(OTHER) == expected(5)
    begun = house.clock.now()
    house.service.deliver(house.stop)
    assert house.clock.now() == begun  # there is nothing to do, and nothing is waited for


def test_a_block_that_cannot_be_written_leaves_nothing_in_flight():
    house = morning(policy(), policy(OTHER), policy(THIRD))
    house.service.plan()
    house.slack.scripts[CHANNEL].append(code("not_in_channel"))
    failing(house.storage, "block_channel")
    for _ in range(60):
        with contextlib.suppress(StorageUnavailable):
            house.tick()
        house.clock.advance(1)
    assert house.slack.texts() == house.slack.texts(OTHER) == house.slack.texts(THIRD) == expected(5)
    house.stop.set()
    begun = house.clock.now()
    house.service.deliver(house.stop)
    assert house.clock.now() == begun


def test_before_the_configuration_is_read_no_channel_is_taken_for_a_stranger():
    house = morning()
    house.service.plan()
    house.policies = {}
    fresh = house.process()
    fresh.deliver(house.stop)
    assert not house.service.status().channel_blocks
    fresh.take_policies({CHANNEL: policy()})
    fresh.deliver(house.stop)
    assert house.slack.texts() == expected(5)


def test_alerts_go_to_their_channel_once_and_never_about_themselves():
    alerts = THIRD
    house = morning(policy(), policy(alerts), alert_channel=alerts)
    house.slack.closed[CHANNEL] = "is_archived"
    house.slack.closed[alerts] = "not_in_channel"
    house.run(20)
    assert len([1 for _, channel in house.slack.calls if channel == alerts]) == 2  # its own root, and one alert
    del house.slack.closed[alerts]
    house.run(1800, every=30)
    assert not [text for text in house.slack.texts(alerts) if "C3" in text]


def test_a_share_and_an_alert_take_their_places_in_the_pace_of_a_running_digest():
    house = House(now="2026-03-02T01:00:00", pace=1.1, alert_channel=CHANNEL, ceiling_per_minute=300)
    house.storage.add_document(1, "2026-03-02", [1, 2, 3, 4])
    record, shared = house.storage.record, []

    def record_and_share(*arguments):
        accepted = record(*arguments)
        if len(house.slack.calls) == 2:
            # While the sender holds the channel between two messages, somebody shares.
            shared.append(house.clock.now() + timedelta(seconds=house.service.leave_to_post(CHANNEL)))
        return accepted

    house.storage.record = record_and_share
    house.run(60)
    house.service.alarm.raise_alert("x", "text")
    times = sorted([at for at, _ in house.slack.calls] + shared)
    assert len(times) == 7
    assert all((later - sooner).total_seconds() >= 0.99 for sooner, later in pairwise(times))


def test_a_refusal_that_the_check_does_not_see_is_told_once_until_a_message_is_taken():
    house = morning(alert_channel=OTHER)
    house.slack.closed[CHANNEL] = "missing_scope"
    with structlog.testing.capture_logs() as logs:
        house.run(3 * 3600, every=20)
    assert [one["cause"] for one in logs if one["event"] == "alert"] == ["team:T1"]
    assert "team:T1" in house.storage.alerts
    del house.slack.closed[CHANNEL]
    house.run(300, every=20)
    assert house.slack.texts()[1:] == expected(5)[1:]
    assert house.storage.alerts == {}


def test_a_run_that_was_left_behind_while_it_planned_sends_under_its_own_name():
    house = morning()
    house.service.plan()
    send = house.service.sending()
    house.service.leave_sending_behind("successor")
    lease, owners = house.storage.lease, []

    def note(owner, *arguments, **more):
        owners.append(owner)
        return lease(owner, *arguments, **more)

    house.storage.lease = note
    send(house.stop)
    assert set(owners) == {"process-1"}
    house.service.deliver(house.stop)
    assert set(owners) == {"process-1", "successor"}
    assert house.slack.texts() == expected(5)
