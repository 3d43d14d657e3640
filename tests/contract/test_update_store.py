"""What `UpdateStorage` and `ViewStorage` promise, and the editions that readers turn over, on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.delivery.values import Block, Draft, Record, Resolution, SentMessage, Shown, entry_subject
from bot.model import DeliveryKind, DeliveryState, DocumentState, Layout, SlotState
from bot.storage import stats
from bot.storage.editions import Editions
from bot.storage.listing import list_documents
from bot.storage.names_store import NamesStore
from tests.contract.conftest import (
    BOTH,
    DAY,
    HERE,
    LONG_AGO,
    NEVER,
    NOW,
    THERE,
    at_once,
    document,
    new,
    plan,
    planned_entries,
    revised,
    same,
    seconds,
    slot,
)

TOMORROW = DAY + timedelta(days=1)


def post(store, channel=HERE, *, told=1, kinds=(DeliveryKind.ROOT, DeliveryKind.ENTRY), first=1, folds=False):
    """Send what is planned of these kinds: the ts count from `<first>.0` on."""
    store.lease("me", NOW, NOW + seconds(30), since=NEVER, limit=9)
    queue = store.turns([channel], LONG_AGO, 99)[channel].queue
    for number, delivery in enumerate((one for one in queue if one.kind in kinds), first):
        if store.claim("me", [delivery.id], NOW, NOW + seconds(30)):
            record = Record(
                delivery_id=delivery.id,
                attempt=delivery.attempts + 1,
                state=DeliveryState.SENT,
                ts=f"{number}.0",
                told_revision=0 if delivery.kind is DeliveryKind.ROOT and not folds else told,
                folds=folds,
            )
            assert store.record("me", [record], NOW)
    store.release("me", [channel])


def revise(ingest, title, entry_id, expected=1, name="later.md"):
    intent = revised(title, entry_id, expected, body=f"新的正文 {expected}")
    assert ingest.record(document(name), [intent], NOW + timedelta(hours=expected))


def titles(store, ids):
    return {entry_id: entry.title for entry_id, entry in store.entries(ids).items()}


def send_update(store, delivery, state=DeliveryState.SENT, told=2):
    assert store.claim("me", [delivery.id], NOW, NOW + seconds(10)) == {delivery.id}
    record = Record(delivery_id=delivery.id, attempt=1, state=state, told_revision=told, ts=delivery.ts)
    assert store.record("me", [record], NOW) == {delivery.id}


@pytest.fixture
def ids(store, entry_ids):
    made = entry_ids(2)
    store.record_plan(plan(made), NOW)
    return made


# --- entries -----------------------------------------------------------------------------------------------------


def test_a_message_that_shows_an_older_wording_is_behind(store, ingest, ids):
    one, two = ids
    post(store)
    assert store.entries_behind(9, among=BOTH) == ()
    revise(ingest, titles(store, ids)[one], one)
    (behind,) = store.entries_behind(9, among=BOTH)
    assert (behind.channel, behind.entry_id, behind.told_revision, behind.revision, behind.ts) == (
        HERE,
        one,
        1,
        2,
        "2.0",
    )
    assert store.slot_views([behind.slot_id])[behind.slot_id].id == behind.slot_id
    assert store.wordings(one, [1, 2, 3])[1].body == "A body"
    assert store.wordings(one, [1, 2, 3])[2].body == "新的正文 1"
    assert set(store.wordings(one, [1, 2, 3])) == {1, 2}
    assert store.wordings(two, [2]) == {}


def test_what_is_behind_in_a_channel_that_is_not_asked_about_takes_no_place(store, ingest, ids):
    one, _ = ids
    store.record_plan(plan(ids, of=slot(THERE)), NOW)
    post(store)
    post(store, THERE)
    revise(ingest, titles(store, ids)[one], one)
    assert [entry.channel for entry in store.entries_behind(1, among={THERE})] == [THERE]
    assert [root.channel for root in store.roots_behind(1, among={THERE})] == [THERE]
    for channel in BOTH:
        draft = Draft(kind=DeliveryKind.UPDATE, subject=entry_subject(one), revision=2)
        store.add_deliveries(channel, [draft], None, NOW)
    assert [update.channel for update in store.due_updates(NOW, 1, among={THERE})] == [THERE]
    assert store.due_updates(NOW, 9, among=()) == store.entries_behind(9, among=()) == ()
    assert len(store.due_updates(NOW, 9, among=BOTH)) == 2


def test_a_planned_update_is_not_planned_twice_and_the_next_revision_is_behind_again(store, ingest, ids):
    one, _ = ids
    post(store)
    revise(ingest, titles(store, ids)[one], one)
    draft = Draft(kind=DeliveryKind.UPDATE, subject=entry_subject(one), revision=2)
    assert store.add_deliveries(HERE, [draft], None, NOW) == 1
    assert store.add_deliveries(HERE, [draft], None, NOW) == 0
    assert store.entries_behind(9, among=BOTH) == ()
    (update,) = store.due_updates(NOW, 9, among=BOTH)
    assert (update.ts, update.revision) == ("2.0", 2)
    send_update(store, update)
    assert store.due_updates(NOW, 9, among=BOTH) == ()
    assert store.entries_behind(9, among=BOTH) == ()
    assert store.sent_messages(HERE, ids)[one].told_revision == 2
    revise(ingest, titles(store, ids)[one], one, 2, "latest.md")
    assert [(one.told_revision, one.revision) for one in store.entries_behind(9, among=BOTH)] == [(2, 3)]


def test_a_wording_newer_than_planned_that_was_sent_is_not_behind(store, ingest, ids):
    one, _ = ids
    revise(ingest, titles(store, ids)[one], one)
    post(store, told=2)
    assert store.entries_behind(9, among=BOTH) == ()


def test_a_message_that_somebody_deleted_stays_deleted(store, ingest, ids):
    one, _ = ids
    post(store)
    revise(ingest, titles(store, ids)[one], one)
    store.add_deliveries(HERE, [Draft(kind=DeliveryKind.UPDATE, subject=entry_subject(one), revision=2)], None, NOW)
    send_update(store, store.due_updates(NOW, 9, among=BOTH)[0], DeliveryState.SKIPPED)
    revise(ingest, titles(store, ids)[one], one, 2, "latest.md")
    assert store.entries_behind(9, among=BOTH) == ()


def test_an_update_waits_for_blocks_and_its_time(store, ids):
    one, _ = ids
    post(store)
    store.add_deliveries(HERE, [Draft(kind=DeliveryKind.UPDATE, subject=entry_subject(one), revision=2)], None, NOW)
    (update,) = store.due_updates(NOW, 9, among=BOTH)
    block = Block(reason="is_archived", advice="", until=NOW + seconds(60))
    store.block_channel(HERE, block, NOW)
    assert store.due_updates(NOW, 9, among=BOTH) == ()
    assert store.due_updates(NOW + seconds(60), 9, among=BOTH)
    store.unblock_channel(HERE)
    store.block_team("T1", block, NOW)
    assert store.due_updates(NOW + seconds(60), 9, among=BOTH) == ()
    store.unblock_team("T1")
    store.claim("me", [update.id], NOW, NOW + seconds(10))
    wait = Record(
        delivery_id=update.id, attempt=1, state=DeliveryState.PLANNED, next_try_at=NOW + seconds(5), error="ratelimited"
    )
    store.record("me", [wait], NOW)
    assert store.due_updates(NOW, 9, among=BOTH) == ()
    assert store.due_updates(NOW + seconds(5), 9, among=BOTH)


# --- roots -------------------------------------------------------------------------------------------------------


def test_a_root_is_behind_once_its_entries_are_done_until_its_update_is_planned(store, ids):
    post(store, kinds=[DeliveryKind.ROOT])
    assert store.roots_behind(9, among=BOTH) == ()
    post(store, kinds=[DeliveryKind.ENTRY], first=2)
    (behind,) = store.roots_behind(9, among=BOTH)
    assert (behind.channel, behind.revision, behind.ts) == (HERE, 3, "1.0")
    draft = Draft(kind=DeliveryKind.UPDATE, subject=behind.subject, revision=3)
    assert store.add_deliveries(HERE, [draft], behind.slot_id, NOW) == 1
    assert store.roots_behind(9, among=BOTH) == ()
    (update,) = store.due_updates(NOW, 9, among=BOTH)
    assert update.ts == "1.0"
    send_update(store, update, told=3)
    assert store.slot_views([behind.slot_id])[behind.slot_id].root_revision == 3


def test_a_root_is_behind_by_every_revision_of_its_entries(store, ingest, ids):
    one, two = ids
    post(store)
    (behind,) = store.roots_behind(9, among=BOTH)
    store.add_deliveries(
        HERE, [Draft(kind=DeliveryKind.UPDATE, subject=behind.subject, revision=1)], behind.slot_id, NOW
    )
    revise(ingest, titles(store, ids)[one], one, 1, "revised 1.md")
    revise(ingest, titles(store, ids)[one], one, 2, "revised 2.md")
    revise(ingest, titles(store, ids)[two], two, 1, "revised 3.md")
    assert [root.revision for root in store.roots_behind(9, among=BOTH)] == [6]


def test_a_compact_root_is_behind_for_the_entries_that_stand_in_it(store, ingest, entry_ids):
    _, two = ids = entry_ids(2)
    store.record_plan(plan(ids, layout=Layout.COMPACT), NOW)
    post(store, told=3, folds=True)
    assert store.roots_behind(9, among=BOTH) == ()
    revise(ingest, titles(store, ids)[two], two)
    assert store.entries_behind(9, among=BOTH) == ()
    assert [root.revision for root in store.roots_behind(9, among=BOTH)] == [4]


def test_an_entry_that_comes_after_its_root_was_updated_makes_it_behind_again(store, ids):
    post(store, kinds=[DeliveryKind.ROOT])
    first, second = planned_entries(store, HERE)
    store.lease("me", NOW, NOW + seconds(30), since=NEVER, limit=9)
    store.claim("me", [first.id, second.id], NOW, NOW + seconds(30))
    sent = Record(delivery_id=first.id, attempt=1, state=DeliveryState.SENT, ts="2.0")
    store.record("me", [sent, Record(delivery_id=second.id, attempt=1, state=DeliveryState.UNCERTAIN)], NOW)
    held = Resolution(delivery_id=second.id, expected=DeliveryState.UNCERTAIN, state=DeliveryState.HELD)
    assert store.resolve(held, NOW)
    (behind,) = store.roots_behind(9, among=BOTH)
    draft = Draft(kind=DeliveryKind.UPDATE, subject=behind.subject, revision=behind.revision)
    store.add_deliveries(HERE, [draft], behind.slot_id, NOW)
    assert store.roots_behind(9, among=BOTH) == ()
    settled = Resolution(delivery_id=second.id, expected=DeliveryState.HELD, state=DeliveryState.SENT, ts="3.0")
    assert store.resolve(settled, NOW)
    assert [one.revision for one in store.roots_behind(9, among=BOTH)] == [behind.revision + 1]


def test_what_a_compact_root_says_of_its_entries_is_kept_from_its_claim_on(store, ingest, entry_ids):
    one, _ = ids = entry_ids(2)
    store.record_plan(plan(ids, layout=Layout.COMPACT), NOW)
    revise(ingest, titles(store, ids)[one], one)
    store.lease("me", NOW, NOW + seconds(30), since=NEVER, limit=9)
    root = store.turns([HERE], LONG_AGO, 9)[HERE].queue[0]
    assert store.claim("me", [root.id], NOW, NOW + seconds(30), {root.id: Shown(revision=4, folds=True)})
    store.record("me", [Record(delivery_id=root.id, attempt=1, state=DeliveryState.UNCERTAIN)], NOW)
    found = Resolution(delivery_id=root.id, expected=DeliveryState.UNCERTAIN, state=DeliveryState.SENT, ts="1.0")
    assert store.resolve(found, NOW)
    assert [store.sent_messages(HERE, ids)[one].told_revision for one in ids] == [2, 1]
    assert store.slot_views([root.slot_id])[root.slot_id].root_revision == 4
    assert store.roots_behind(9, among=BOTH) == ()


def test_a_root_that_somebody_deleted_and_one_of_an_empty_slot_are_left_alone(store, ids):
    post(store)
    (behind,) = store.roots_behind(9, among=BOTH)
    store.add_deliveries(
        HERE, [Draft(kind=DeliveryKind.UPDATE, subject=behind.subject, revision=1)], behind.slot_id, NOW
    )
    send_update(store, store.due_updates(NOW, 9, among=BOTH)[0], DeliveryState.SKIPPED)
    store.record_plan(plan(of=slot(day=TOMORROW), state=SlotState.EMPTY), NOW)
    post(store, first=20)
    assert store.roots_behind(9, among=BOTH) == ()


# --- views -------------------------------------------------------------------------------------------------------


def test_a_slot_is_shown_with_its_root(store, ids):
    slot_id = planned_entries(store, HERE)[0].slot_id
    before = store.slot_views([slot_id])[slot_id]
    assert (before.slot, before.state, before.layout) == (slot(), SlotState.PLANNED, Layout.CHANNEL)
    assert before.detail["entries"] == ids
    assert (before.root_ts, before.root_sent_at, before.root_revision) == (None, None, 0)
    post(store)
    after = store.slot_views([slot_id])[slot_id]
    assert (after.root_ts, after.root_sent_at, after.root_revision) == ("1.0", NOW, 0)
    assert after.dropped == frozenset()
    assert store.slot_views([999]) == {}


def test_a_skipped_entry_is_dropped_from_its_slot_and_counts_for_nothing(store, ingest, ids):
    _, two = ids
    first, second = planned_entries(store, HERE)
    store.skip([second.id], "policy", NOW)
    assert store.slot_views([first.slot_id])[first.slot_id].dropped == {two}
    post(store)
    revise(ingest, titles(store, ids)[two], two)
    assert [root.revision for root in store.roots_behind(9, among=BOTH)] == [2]
    assert store.entries_behind(9, among=BOTH) == ()


def test_sent_entries_are_found_where_they_stand(store, ids):
    one, two = ids
    assert store.sent_messages(HERE, ids) == {}
    post(store)
    assert store.sent_messages(HERE, [one, two, 999]) == {
        one: SentMessage(entry_id=one, ts="2.0", slot_date=DAY, root_ts="1.0"),
        two: SentMessage(entry_id=two, ts="3.0", slot_date=DAY, root_ts="1.0"),
    }
    assert store.sent_messages(THERE, ids) == {}


def test_entries_are_given_in_the_order_asked_for(store, ids):
    assert list(store.entries([ids[1], 999, ids[0]])) == [ids[1], ids[0]]
    assert store.entries([]) == {}


# --- editions, documents, names, numbers -------------------------------------------------------------------------


def test_the_latest_edition_of_a_channel_is_one_it_was_sent_an_entry_of(store, ingest, database):
    editions = Editions(database)
    assert editions.latest(None) is None
    ingest.record(document("a.md"), [new("one")], NOW)
    entry_id = ingest.known_entries(["one"])["one"].id
    ingest.record(document("b.md", edition=TOMORROW), [same("one", entry_id), new("two", 2)], NOW)
    assert editions.latest(None) == TOMORROW
    assert editions.latest(HERE) is None
    first, second = store.fresh_documents_of([HERE])[HERE]
    store.record_plan(plan([entry_id], documents=[first]), NOW)
    assert editions.latest(HERE) is None
    post(store)
    assert editions.latest(HERE) == DAY
    store.record_plan(plan([], of=slot(day=TOMORROW), documents=[second]), NOW)
    assert editions.latest(HERE) == TOMORROW
    assert editions.latest(THERE) is None
    assert editions.entry(entry_id).editions == (DAY, TOMORROW)
    assert editions.entry(999) is None


def test_what_was_sent_on_a_day_is_told_by_channel_in_order(store, ids, database):
    store.record_plan(plan(ids[::-1], of=slot(THERE)), NOW)
    post(store)
    post(store, THERE)
    found = Editions(database).sent_on("T1", DAY)
    assert {channel: [entry.id for entry in some] for channel, some in found.items()} == {"C1": ids, "C2": ids[::-1]}
    assert Editions(database).sent_on("T1", TOMORROW) == {}
    assert Editions(database).sent_on("T2", DAY) == {}


def test_documents_are_listed_as_they_count_now(ingest, database):
    broken = {"state": DocumentState.QUARANTINED}
    ingest.record(document("a.md", "1", **broken), [], NOW)
    ingest.record(document("b.md", "2", **broken), [], NOW)
    ingest.record(document("a.md", "3"), [new("one")], NOW)
    assert [(row["document"], row["state"], row["entries"]) for row in list_documents(database)] == [
        ("b.md", "quarantined", 0),
        ("a.md", "accepted", 1),
    ]
    assert [row["document"] for row in list_documents(database, state="quarantined")] == ["b.md"]
    assert [row["document"] for row in list_documents(database, limit=1)] == ["a.md"]
    assert stats.documents_by_state(database) == {"accepted": 1, "quarantined": 1}
    assert stats.entry_count(database) == 1


def test_a_name_keeps_the_channel_it_was_first_found_to_have(database, store):
    names = NamesStore(database)
    assert names.channel_named("T1", "#here") is None
    found = at_once(4, lambda n: names.name_channel("T1", "#here", f"C{n}", NOW))
    assert len(set(found)) == 1
    assert names.channel_named("T1", "#here") == found[0]
    assert names.channel_named("T2", "#here") is None


def test_numbers_name_every_state(store, ids, database):
    assert stats.deliveries_by_state(database)["planned"] == 3
    assert stats.deliveries_by_state(database)["held"] == 0
    post(store)
    after = stats.deliveries_by_state(database)
    assert (after["planned"], after["sent"]) == (0, 3)
    stats.reachable(database)
