"""Sent messages that are kept true."""

import time
from datetime import timedelta

from bot.delivery.updates import worth_a_reply
from bot.delivery.values import Wording
from bot.model import DeliveryKind, DeliveryState, Layout
from tests.unit.delivery.fakes import CHANNEL, DROP_AFTER, OTHER, House, code, policy, too_fast


def sent_house(*policies, **settings):
    house = House(*policies, now="2026-03-02T01:00:00", **settings)
    house.storage.add_document(1, "2026-03-02", [1, 2, 3])
    house.run(30)
    return house


def root_edits(house):
    return house.slack.messages[CHANNEL][0].edits


def test_the_root_gets_its_links_once_when_its_entries_stand():
    house = sent_house()
    for _ in range(3):
        house.service.update(house.stop)
    assert root_edits(house) == ["root 3 links 3"]


def test_a_root_is_not_touched_while_entries_are_on_their_way():
    house = House(now="2026-03-02T01:00:00", turn=2)
    house.storage.add_document(1, "2026-03-02", [1, 2, 3])
    house.tick()
    house.service.update(house.stop)
    assert root_edits(house) == []


def test_an_edit_changes_the_message_in_place_and_posts_nothing():
    house = sent_house()
    house.service.update(house.stop)
    house.storage.revise(2, "body 2!")
    house.run(10)
    house.service.update(house.stop)
    house.service.update(house.stop)
    assert house.slack.messages[CHANNEL][2].edits == ["e2 r2 changed body"]
    assert house.slack.texts() == ["root 3 links 0", "e1", "e2", "e3"]
    assert root_edits(house) == ["root 3 links 3", "root 3 links 3"]


def test_a_change_that_cannot_be_made_stops_no_other():
    house = sent_house()
    house.maker.bad |= {"update e1": KeyError("title"), "reply e2": KeyError("body")}
    for number in (1, 2, 3):
        house.storage.revise(number, f"something else entirely of {number}, much longer than it was")
    for _ in range(4):
        house.service.update(house.stop)
        house.run(10)
    entries = house.slack.messages[CHANNEL][1:4]
    assert [one.edits for one in entries] == [[], ["e2 r2 changed body"], ["e3 r2 changed body"]]
    assert house.slack.texts()[4:] == ["e1 now says r2", "e3 now says r2"]
    assert sum(cause.startswith("failed:") for cause in house.storage.alerts) == 2


def test_a_large_change_says_so_in_the_thread():
    house = sent_house()
    house.storage.revise(2, "something else entirely, much longer than it was")
    house.service.update(house.stop)
    house.run(10)
    reply = house.slack.messages[CHANNEL][-1]
    assert (reply.text, reply.thread_ts) == ("e2 now says r2", house.slack.messages[CHANNEL][2].ts)
    house.service.update(house.stop)
    house.run(10)
    assert len(house.slack.texts()) == 5


def test_an_entry_that_is_revised_before_it_is_sent_needs_no_update():
    house = House(now="2026-03-02T01:00:00")
    house.storage.add_document(1, "2026-03-02", [1, 2, 3])
    house.service.plan()
    house.storage.revise(2, "body 2!")
    house.run(30)
    house.service.update(house.stop)
    assert house.slack.messages[CHANNEL][2].edits == []


def test_a_lost_answer_to_an_update_is_made_again():
    house = sent_house()
    house.slack.script.append(DROP_AFTER)
    house.service.update(house.stop)
    house.clock.advance(5)
    house.service.update(house.stop)
    assert root_edits(house) == ["root 3 links 3"]


def test_a_deleted_message_is_left_alone():
    house = sent_house()
    del house.slack.messages[CHANNEL][0]
    for _ in range(3):
        house.service.update(house.stop)
        house.clock.advance(60)
    (update,) = [row.delivery for row in house.storage.of(CHANNEL, DeliveryKind.UPDATE)]
    assert (update.state, update.error, update.attempts) == (DeliveryState.SKIPPED, "message_not_found", 1)


def test_an_update_that_is_too_fast_waits_and_does_not_slow_the_channel():
    house = sent_house()
    pace = house.storage.channels[CHANNEL].next_post_at
    house.slack.script.append(too_fast(30))
    house.service.update(house.stop)
    assert house.storage.channels[CHANNEL].next_post_at == pace
    house.service.update(house.stop)
    assert root_edits(house) == []
    house.clock.advance(31)
    house.service.update(house.stop)
    assert root_edits(house) == ["root 3 links 3"]


def test_a_refused_update_is_told_and_given_up():
    house = sent_house()
    house.slack.script.append(code("block_mismatch"))
    house.service.update(house.stop)
    assert house.storage.of(CHANNEL, DeliveryKind.UPDATE)[0].delivery.state is DeliveryState.FAILED


def test_updates_keep_to_their_own_tier():
    house = sent_house(updates_per_minute=45)
    for entry in (1, 2, 3):
        house.storage.revise(entry, f"body {entry}!")
    began = house.clock.now()
    assert house.service.update(house.stop) == 4
    assert (house.clock.now() - began).total_seconds() >= 3 * 60 / 45


def test_a_changed_entry_of_a_flood_changes_its_root():
    house = sent_house(policy(max_messages=2))
    house.service.update(house.stop)
    assert root_edits(house) == []
    house.storage.revise(2, "body 2!")
    house.service.update(house.stop)
    assert root_edits(house) == ["root 3 flood links 3"]


def test_a_changed_entry_of_a_compact_slot_changes_its_message_in_the_thread_and_the_root():
    house = sent_house(policy(layout=Layout.COMPACT))
    house.service.update(house.stop)
    assert root_edits(house) == ["root 3 links 3"]
    house.storage.revise(2, "body 2!")
    house.service.update(house.stop)
    house.service.update(house.stop)
    assert root_edits(house) == ["root 3 links 3", "root 3 links 3"]
    assert len(house.slack.messages[CHANNEL][2].edits) == 1


def test_a_change_is_worth_a_reply_when_the_verdict_or_a_tenth_of_the_text_changed():
    old = Wording(revision=1, title="t", body="x" * 100, verdict="skim")
    assert not worth_a_reply(old, Wording(revision=2, title="t", body="x" * 98 + "yy", verdict="skim"), 0.1)
    assert worth_a_reply(old, Wording(revision=2, title="t", body="x" * 70 + "y" * 30, verdict="skim"), 0.1)
    assert worth_a_reply(old, Wording(revision=2, title="t", body="x" * 100, verdict="must_read"), 0.1)
    assert not worth_a_reply(old, Wording(revision=2, title="t", body="other", verdict="skip"), None)


def test_a_change_that_was_held_up_past_its_claim_is_not_made_over_a_newer_one():
    house = sent_house()
    claim = house.storage.claim

    def slow_claim(*arguments):
        won = claim(*arguments)
        house.clock.advance(45)
        return won

    house.storage.claim = slow_claim
    house.service.update(house.stop)
    assert root_edits(house) == []
    house.storage.claim = claim
    house.service.update(house.stop)
    assert root_edits(house) == ["root 3 links 3"]


def test_a_change_is_not_sent_after_its_claim():
    house = sent_house()
    update, limits = house.slack.update, []

    def seen(*arguments, until, **more):
        limits.append(until - house.clock.now())
        return update(*arguments, until=until, **more)

    house.slack.update = seen
    house.service.update(house.stop)
    assert limits == [timedelta(seconds=20)]


def test_a_channel_that_left_the_configuration_holds_back_no_update_of_the_others(monkeypatch):
    monkeypatch.setattr("bot.delivery.updates._AT_ONCE", 2)
    house = sent_house(policy(), policy(OTHER))
    for entry in (1, 2, 3):
        house.storage.revise(entry, f"body {entry}!")
    house.service.take_policies({OTHER: policy(OTHER)})
    for _ in range(4):
        house.service.update(house.stop)
    assert root_edits(house) == []
    assert all(message.edits for message in house.slack.messages[OTHER])


def test_a_long_text_is_compared_in_no_time():
    old = Wording(revision=1, title="t", body="一二三四五六七八" * 12_500)
    new = Wording(revision=2, title="t", body="八七六五四三二一" * 12_500)
    began = time.monotonic()
    assert worth_a_reply(old, new, 0.1)
    assert time.monotonic() - began < 1
