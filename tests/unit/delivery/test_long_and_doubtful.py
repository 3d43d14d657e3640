"""Entries of several messages, roots that nobody can see, and what counts against a message."""

import pytest

from bot.delivery.desk import Standing
from bot.delivery.values import CannotLook
from bot.model import DeliveryKind, DeliveryState, Layout
from tests.unit.delivery.fakes import (
    CHANNEL,
    DROP_AFTER,
    DROP_BEFORE,
    NO_NETWORK,
    House,
    code,
    policy,
    too_fast,
)

UNREADABLE = [CannotLook(reason="missing_scope")] * 99


def morning(*script, kind=None, entries=2, parts=1):
    house = House(policy(**(kind or {})), now="2026-03-02T01:00:00")
    house.storage.add_document(1, "2026-03-02", range(1, entries + 1))
    house.maker.parts[1] = parts
    house.slack.script.extend(script)
    return house


def updated(house):
    for _ in range(3):
        house.service.update(house.stop)
    house.run(60)
    house.service.update(house.stop)


def messages_of(house, entry):
    found = [one for one in house.slack.messages[CHANNEL] if one.text.startswith(f"e{entry}")]
    return [one for one in found if "now says" not in one.text]


@pytest.mark.parametrize("kind", [{"max_messages": 1}, {"layout": Layout.THREAD}])
def test_entries_wait_without_end_for_a_root_that_nobody_can_see(kind):
    house = morning(DROP_AFTER, kind=kind)
    house.slack.looks.extend(UNREADABLE)
    house.run(3 * 3600, every=300)
    assert len(house.slack.texts()) == 1
    (held,) = house.storage.in_state(DeliveryState.HELD, 9)
    house.service.settle(held.key, Standing(ts=house.slack.messages[CHANNEL][0].ts))
    house.run(60)
    assert set(house.states()) == {"sent"}
    threads = [one.thread_ts for one in house.slack.messages[CHANNEL][1:]]
    assert threads == ([] if "max_messages" in kind else [house.slack.messages[CHANNEL][0].ts] * 2)


def test_the_parts_of_a_refused_entry_are_not_posted_and_follow_when_it_is_retried():
    house = morning(None, code("invalid_blocks"), parts=3)
    house.run(3600, every=60)
    assert messages_of(house, 1) == []
    assert house.service.retry(house.delivery("entry:1").key)
    house.run(60)
    head, *parts = messages_of(house, 1)
    assert [one.thread_ts for one in parts] == [head.ts, head.ts]


def test_the_parts_of_a_held_entry_wait_for_it():
    house = morning(None, DROP_AFTER, parts=3)
    house.slack.looks.extend(UNREADABLE)
    house.run(2 * 3600, every=120)
    (head,) = messages_of(house, 1)
    house.slack.looks.clear()
    house.service.settle(house.delivery("entry:1").key, Standing(ts=head.ts))
    house.run(60)
    assert [one.thread_ts for one in messages_of(house, 1)] == [None, head.ts, head.ts]


def test_a_text_that_grows_gets_more_parts_and_one_that_shrinks_says_where_it_ends():
    house = morning(parts=2)
    house.run(60)
    house.storage.revise(1, "body 1!")
    house.maker.parts[1] = 3
    updated(house)
    head, second, third = messages_of(house, 1)
    assert (head.edits, second.edits) == (["e1 r2 changed body"], ["e1 r2 part 1"])
    assert (third.text, third.thread_ts) == ("e1 part 2", head.ts)
    house.storage.revise(1, "body")
    house.maker.parts[1] = 1
    updated(house)
    assert [one.edits[-1] for one in messages_of(house, 1)] == ["e1 r3 changed body", "ends above", "ends above"]


@pytest.mark.parametrize("trouble", [NO_NETWORK, too_fast(1)])
def test_a_dead_network_and_a_throttle_use_up_no_attempt(trouble):
    house = morning(None, *[trouble] * 12, DROP_BEFORE)
    house.run(3600, every=5)
    assert house.states() == ["sent"] * 3


def test_a_closed_channel_uses_up_no_refusal():
    house = morning(None, *[code("is_archived")] * 9, code("a_new_word"))
    house.run(2 * 3600, every=30)
    assert house.states() == ["sent"] * 3


def test_a_person_s_retry_begins_at_nought():
    house = morning(None, *[DROP_BEFORE] * 8)
    house.run(3600, every=5)
    held = house.delivery("entry:1")
    assert (held.state, held.doubts) == (DeliveryState.HELD, 8)
    house.slack.script.append(DROP_BEFORE)
    house.service.retry(held.key)
    house.run(120)
    assert house.delivery("entry:1").state is DeliveryState.SENT


def test_a_message_that_was_found_is_not_said_to_be_edited():
    house = morning(None, DROP_AFTER)
    house.storage.revise(1, "before it was posted")
    house.run(60)
    updated(house)
    assert messages_of(house, 1)[0].edits == []


def test_an_entry_that_is_settled_late_gets_its_link():
    house = morning(None, DROP_AFTER)
    house.slack.looks.extend(UNREADABLE)
    house.run(3600, every=60)
    updated(house)
    root = house.slack.messages[CHANNEL][0]
    assert root.edits == ["root 2 links 1"]
    house.service.settle(
        house.delivery("entry:1", kind=DeliveryKind.ENTRY).key, Standing(ts=messages_of(house, 1)[0].ts)
    )
    updated(house)
    assert root.edits[-1] == "root 2 links 2"
