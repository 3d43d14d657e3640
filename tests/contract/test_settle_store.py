"""What `ReconcileStorage` and `DeskStorage` promise, on both databases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.delivery.values import Draft, Record, Resolution, entry_subject
from bot.model import DeliveryKind, DeliveryState, Layout
from bot.storage.delivery_store import DeliveryStore
from bot.storage.listing import list_channels, list_deliveries
from tests.contract.conftest import BOTH, HERE, NEVER, NOW, THERE, at_once, plan, planned_entries, seconds, slot

UNTIL = NOW + seconds(10)
LOOK_AT = NOW + seconds(40)


@pytest.fixture
def ids(store, entry_ids):
    made = entry_ids(2)
    store.record_plan(plan(made), NOW)
    return made


def claim(store, delivery, now=NOW, until=UNTIL, owner="me"):
    store.lease(owner, now, now + seconds(30), since=NEVER, limit=9)
    assert store.claim(owner, [delivery.id], now, until) == {delivery.id}


def root_of(store, channel=HERE):
    return store.turns([channel], NOW, 9)[channel].queue[0]


def make_uncertain(store):
    root = root_of(store)
    claim(store, root)
    record = Record(delivery_id=root.id, attempt=1, state=DeliveryState.UNCERTAIN, error="timeout", next_try_at=LOOK_AT)
    assert store.record("me", [record], NOW)
    return root


def test_an_expired_claim_becomes_uncertain_once(store, ids, database_url, opened):
    root = root_of(store)
    claim(store, root)
    assert store.expire_sending(UNTIL, LOOK_AT) == ()
    later = UNTIL + seconds(1)
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]
    expired = [one for some in at_once(4, lambda n: stores[n].expire_sending(later, LOOK_AT)) for one in some]
    assert [(one.id, one.state, one.next_try_at) for one in expired] == [(root.id, DeliveryState.UNCERTAIN, LOOK_AT)]
    late = Record(delivery_id=root.id, attempt=1, state=DeliveryState.FAILED)
    assert store.record("me", [late], later) == frozenset()


def test_an_expired_update_is_simply_planned_again(store, ids):
    root = root_of(store)
    claim(store, root)
    store.record("me", [Record(delivery_id=root.id, attempt=1, state=DeliveryState.SENT, ts="1.0")], NOW)
    draft = Draft(kind=DeliveryKind.UPDATE, subject=root.subject, revision=1)
    assert store.add_deliveries(HERE, [draft], root.slot_id, NOW) == 1
    (update,) = store.due_updates(NOW, 9, among=BOTH)
    assert store.claim("me", [update.id], NOW, UNTIL)
    assert store.due_updates(NOW, 9, among=BOTH) == ()
    (expired,) = store.expire_sending(UNTIL + seconds(1), LOOK_AT)
    assert (expired.state, expired.next_try_at) == (DeliveryState.PLANNED, None)
    assert [one.id for one in store.due_updates(NOW, 9, among=BOTH)] == [update.id]


def test_an_uncertain_delivery_is_looked_for_from_its_first_attempt_on(store, ids):
    root = root_of(store)
    claim(store, root)
    again = Record(delivery_id=root.id, attempt=1, state=DeliveryState.PLANNED, error="ratelimited")
    store.record("me", [again], NOW)
    later = NOW + seconds(5)
    claim(store, root, later, later + seconds(10))
    unknown = Record(delivery_id=root.id, attempt=2, state=DeliveryState.UNCERTAIN, next_try_at=LOOK_AT)
    assert store.record("me", [unknown], later)
    assert store.uncertain(LOOK_AT - seconds(1), 9) == ()
    (doubtful,) = store.uncertain(LOOK_AT, 9)
    assert (doubtful.delivery.id, doubtful.looks, doubtful.oldest) == (root.id, 0, NOW)
    assert doubtful.delivery.sending_since == later


def test_doubt_comes_in_the_order_of_channel_and_sending(store, ids):
    store.record_plan(plan(ids, of=slot(THERE)), NOW)
    store.lease("me", NOW, NOW + seconds(30), since=NEVER, limit=9)
    for channel in (THERE, HERE):
        queue = store.turns([channel], NOW, 9)[channel].queue
        store.claim("me", [one.id for one in queue], NOW, UNTIL)
    store.expire_sending(UNTIL + seconds(1), LOOK_AT)
    found = [one.delivery for one in store.uncertain(LOOK_AT, 9)]
    assert [(one.channel, one.ordinal) for one in found] == sorted((one.channel, one.ordinal) for one in found)
    assert len(found) == 6
    assert len(store.uncertain(LOOK_AT, 4)) == 4


def test_a_look_that_failed_is_counted_and_repeated(store, ids):
    root = make_uncertain(store)
    again = Resolution(
        delivery_id=root.id,
        expected=DeliveryState.UNCERTAIN,
        state=DeliveryState.UNCERTAIN,
        error="cannot look",
        next_try_at=LOOK_AT + seconds(60),
        looks=1,
    )
    assert store.resolve(again, NOW)
    assert store.uncertain(LOOK_AT, 9) == ()
    (doubtful,) = store.uncertain(LOOK_AT + seconds(60), 9)
    assert (doubtful.looks, doubtful.delivery.error) == (1, "cannot look")


def test_what_was_not_found_says_nothing_about_a_later_attempt(store, ids):
    root = make_uncertain(store)
    slow = Resolution(
        delivery_id=root.id, expected=DeliveryState.UNCERTAIN, state=DeliveryState.PLANNED, looks=1, attempt=1
    )
    assert store.resolve(slow, NOW)
    claim(store, root, LOOK_AT, LOOK_AT + seconds(10))
    store.expire_sending(LOOK_AT + seconds(11), LOOK_AT + seconds(60))
    assert not store.resolve(slow, LOOK_AT + seconds(60)), "in doubt again, but for the second attempt"
    assert not store.resolve(replace(slow, state=DeliveryState.HELD), LOOK_AT + seconds(60))
    assert store.resolve(replace(slow, state=DeliveryState.SENT, ts="9.0"), LOOK_AT + seconds(60))


@pytest.mark.parametrize("meanwhile", [DeliveryState.HELD, DeliveryState.PLANNED, DeliveryState.SENDING])
def test_what_a_look_found_counts_whatever_another_look_made_of_it(store, ids, meanwhile):
    root = make_uncertain(store)
    found = Resolution(
        delivery_id=root.id, expected=DeliveryState.UNCERTAIN, state=DeliveryState.SENT, ts="9.0", attempt=1
    )
    other = DeliveryState.HELD if meanwhile is DeliveryState.HELD else DeliveryState.PLANNED
    assert store.resolve(replace(found, state=other, ts=None, looks=1), NOW)
    if meanwhile is DeliveryState.SENDING:
        claim(store, root, LOOK_AT, LOOK_AT + seconds(10))
    assert store.resolve(found, LOOK_AT)
    stands = store.by_key(root.key)
    assert (stands.state, stands.ts) == (DeliveryState.SENT, "9.0")
    assert not store.resolve(replace(found, ts="8.0"), LOOK_AT)
    assert not store.resolve(replace(found, attempt=None, ts="8.0"), LOOK_AT), "a person's word is about one state"


def test_absence_plans_again_and_starts_counting_anew(store, ids):
    root = make_uncertain(store)
    absent = Resolution(delivery_id=root.id, expected=DeliveryState.UNCERTAIN, state=DeliveryState.PLANNED, looks=3)
    assert store.resolve(absent, NOW)
    assert not store.resolve(absent, NOW)
    claim(store, root, LOOK_AT, LOOK_AT + seconds(10))
    store.expire_sending(LOOK_AT + seconds(11), LOOK_AT + seconds(60))
    (doubtful,) = store.uncertain(LOOK_AT + seconds(60), 9)
    assert (doubtful.looks, doubtful.delivery.attempts, doubtful.oldest) == (0, 2, NOW)


def test_finding_it_makes_it_sent(store, ids):
    root = make_uncertain(store)
    found = Resolution(delivery_id=root.id, expected=DeliveryState.UNCERTAIN, state=DeliveryState.SENT, ts="9.0")
    assert store.resolve(found, NOW)
    assert (store.by_key(root.key).state, store.by_key(root.key).ts) == (DeliveryState.SENT, "9.0")
    assert store.slot_views([root.slot_id])[root.slot_id].root_ts == "9.0"
    assert store.slot_views([root.slot_id])[root.slot_id].root_sent_at == NOW


def test_a_compact_root_that_was_found_takes_its_entries_with_it(store, entry_ids):
    ids = entry_ids(2)
    store.record_plan(plan(ids, layout=Layout.COMPACT), NOW)
    root = make_uncertain(store)
    found = Resolution(delivery_id=root.id, expected=DeliveryState.UNCERTAIN, state=DeliveryState.SENT, ts="9.0")
    assert store.resolve(found, NOW)
    assert {one.ts for one in store.in_state(DeliveryState.SENT, 9)} == {"9.0"}
    assert planned_entries(store, HERE) == ()


def test_a_persons_word_and_a_look_at_once_have_one_winner(store, ids, database_url, opened):
    root = make_uncertain(store)
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]
    states = [DeliveryState.SENT, DeliveryState.PLANNED, DeliveryState.HELD, DeliveryState.SENT]

    def resolve(number):
        return stores[number].resolve(
            Resolution(delivery_id=root.id, expected=DeliveryState.UNCERTAIN, state=states[number], ts=f"{number}.0"),
            NOW,
        )

    assert sorted(at_once(4, resolve)) == [False] * 3 + [True]


def test_what_is_held_is_shown_and_found_by_the_beginning_of_its_key(store, ids):
    root = make_uncertain(store)
    held = Resolution(
        delivery_id=root.id, expected=DeliveryState.UNCERTAIN, state=DeliveryState.HELD, error="cannot look"
    )
    assert store.resolve(held, NOW)
    status = store.status(NOW)
    assert [one.id for one in status.held] == [root.id]
    assert status.by_state == {"held": 1, "planned": 2}
    assert status.oldest_planned_at == NOW
    assert store.by_key(root.key[:10]).id == root.id
    assert store.by_key("") is None
    assert store.by_key("%") is None
    assert store.by_key("no such key") is None
    assert [one.id for one in store.in_state(DeliveryState.HELD, 9)] == [root.id]


def test_the_list_for_people_tells_each_delivery_in_sending_order(store, ids, database):
    make_uncertain(store)
    rows = list_deliveries(database)
    assert [(row["kind"], row["entry_id"], row["state"]) for row in rows] == [
        ("root", None, "uncertain"),
        ("entry", ids[0], "planned"),
        ("entry", ids[1], "planned"),
    ]
    assert rows[0].items() >= {"channel": "C1", "ts": None, "attempts": 1, "error": "timeout"}.items()
    assert [row["entry_id"] for row in list_deliveries(database, state="planned", channel_id="C1", limit=1)] == ids[1:]
    assert list_deliveries(database, channel_id="C2") == []
    assert [(row["channel"], row["waiting"]) for row in list_channels(database)] == [("C1", 2)]


def test_an_update_draft_is_not_an_entry(store, ids):
    draft = Draft(kind=DeliveryKind.UPDATE, subject=entry_subject(ids[0]), revision=2)
    store.add_deliveries(HERE, [draft], None, NOW)
    assert [one.kind for one in planned_entries(store, HERE)] == [DeliveryKind.ENTRY] * 2
