"""What `PlanStorage` promises, on both databases."""

from __future__ import annotations

import itertools
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.delivery.values import Block, Draft, entry_subject
from bot.model import Channel, DeliveryKind, DeliveryState, DocumentState, Extraction, SlotState
from bot.storage.delivery_store import DeliveryStore
from tests.contract.conftest import (
    DAY,
    HERE,
    NEVER,
    NOW,
    THERE,
    at_once,
    document,
    new,
    plan,
    planned_entries,
    same,
    seconds,
    slot,
)

LATER = NOW + timedelta(hours=1)
TOMORROW = DAY + timedelta(days=1)


def test_a_channel_is_known_since_it_was_first_registered(store):
    first = store.register_channel(HERE, "#here", NOW)
    assert (first.channel, first.known_since, first.baseline_at, first.block) == (HERE, NOW, None, None)
    assert store.register_channel(HERE, "#renamed", LATER).known_since == NOW
    assert store.register_channel(THERE, "#there", LATER).known_since == LATER


def test_a_channels_state_tells_its_block(store):
    store.register_channel(HERE, "#here", NOW)
    block = Block(reason="not_in_channel", advice="invite the bot", until=LATER)
    store.block_channel(HERE, block, NOW)
    assert store.register_channel(HERE, "#here", NOW).block == block


def test_a_plan_is_recorded_once_and_whole(store, entry_ids):
    ids = entry_ids(3)
    documents = store.fresh_documents_of([HERE])[HERE]
    assert len(documents) == 1
    slot_id = store.record_plan(plan(ids, documents=documents, baseline=True), NOW)
    assert slot_id is not None
    assert store.record_plan(plan(ids), LATER) is None
    planned = planned_entries(store, HERE)
    assert [one.subject for one in planned] == [entry_subject(entry_id) for entry_id in ids]
    assert {one.slot_id for one in planned} == {slot_id}
    assert [one.ordinal for one in planned] == [2, 3, 4]
    assert len({one.key for one in planned}) == 3
    assert store.fresh_documents_of([HERE])[HERE] == ()
    assert store.fresh_documents_of([THERE])[THERE] == documents
    assert store.register_channel(HERE, "#here", LATER).baseline_at == NOW
    assert store.taken_by([HERE], [*ids, 999])[HERE] == frozenset(ids)
    assert store.taken_by([THERE], ids)[THERE] == frozenset()


def test_ordinals_go_on_from_the_channels_greatest(store, entry_ids):
    ids = entry_ids(4)
    store.record_plan(plan(ids[:2]), NOW)
    store.record_plan(plan(ids, of=slot(day=TOMORROW)), LATER)
    planned = planned_entries(store, HERE)
    assert [one.subject for one in planned] == [entry_subject(entry_id) for entry_id in ids]
    assert [one.ordinal for one in planned] == sorted(one.ordinal for one in planned)


def test_an_entry_that_another_slot_took_is_passed_over_alone(store, entry_ids):
    ids = entry_ids(2)
    first = store.record_plan(plan(ids[:1]), NOW)
    second = store.record_plan(plan(ids, of=slot(day=TOMORROW)), LATER)
    assert [one.slot_id for one in planned_entries(store, HERE)] == [first, second]


def test_the_baseline_is_set_once(store, entry_ids):
    entry_ids(1)
    store.record_plan(plan(baseline=True), NOW)
    store.record_plan(plan(of=slot(day=TOMORROW), baseline=True), LATER)
    assert store.register_channel(HERE, "#here", LATER).baseline_at == NOW


def test_drafts_may_be_born_skipped(store, entry_ids):
    (one,) = entry_ids(1)
    draft = Draft(kind=DeliveryKind.ENTRY, subject=entry_subject(one), state=DeliveryState.SKIPPED, error="first run")
    store.record_plan(plan(drafts=(draft,)), NOW)
    assert planned_entries(store, HERE) == ()
    assert store.taken_by([HERE], [one])[HERE] == {one}
    (skipped,) = store.in_state(DeliveryState.SKIPPED, 10)
    assert skipped.error == "first run"


def test_slots_are_listed_from_a_day_on_in_order(store):
    for name in ("17:00", "09:00"):
        store.record_plan(plan(of=slot(name=name), state=SlotState.EMPTY, drafts=()), NOW)
    store.record_plan(plan(of=slot(day=TOMORROW), state=SlotState.PASSED, drafts=()), NOW)
    assert {one.slot.name for one in store.slots_of([HERE], DAY)[HERE]} == {"09:00", "17:00"}
    (found,) = store.slots_of([HERE], TOMORROW)[HERE]
    assert (found.slot, found.state) == (slot(day=TOMORROW), SlotState.PASSED)
    assert store.slots_of([THERE], DAY)[THERE] == ()


def test_news_have_the_present_wording_by_position(store, ingest):
    ingest.record(document("a.md"), [new("two", 2, extraction=Extraction(topics=("rocm",))), new("one", 1)], NOW)
    (document_id,) = store.fresh_documents_of([HERE])[HERE]
    news = store.document_news([document_id, 999])
    assert list(news) == [document_id]
    assert [one.title for one in news[document_id].entries] == ["one", "two"]
    assert news[document_id].entries[1].topics == ("rocm",)
    assert news[document_id].edition == DAY


def test_fresh_documents_come_by_edition_without_broken_and_replaced_ones(store, ingest):
    ingest.record(document("b.md", "b", TOMORROW), [new("one")], NOW)
    ingest.record(document("a.md", "a"), [new("two")], NOW)
    ingest.record(document("c.md", "c", state=DocumentState.QUARANTINED), [], NOW)
    entry_id = ingest.known_entries(["two"])["two"].id
    ingest.record(document("a.md", "again"), [same("two", entry_id)], NOW)
    news = store.document_news(store.fresh_documents_of([HERE])[HERE])
    assert [one.edition for one in news.values()] == [DAY, TOMORROW]


def test_only_what_is_still_planned_is_skipped(store, entry_ids):
    store.record_plan(plan(entry_ids(2)), NOW)
    first, second = planned_entries(store, HERE)
    store.lease("me", NOW, NOW + seconds(30), since=NEVER, limit=9)
    assert store.claim("me", [first.id], NOW, NOW + seconds(10)) == {first.id}
    assert store.skip([first.id, second.id], "policy changed", NOW) == 1
    assert planned_entries(store, HERE) == ()
    (skipped,) = store.in_state(DeliveryState.SKIPPED, 10)
    assert (skipped.id, skipped.error) == (second.id, "policy changed")
    assert store.skip([], "nothing", NOW) == 0


def test_of_many_replicas_one_plans_a_slot(store, entry_ids, database_url, opened):
    ids = entry_ids(5)
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]
    assert sum(one is not None for one in at_once(4, lambda n: stores[n].record_plan(plan(ids), NOW))) == 1
    assert len(planned_entries(store, HERE)) == 5


def test_two_slots_planned_at_once_take_each_entry_once(store, entry_ids, database_url, opened):
    ids = entry_ids(6)
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]
    plans = [plan(ids if number % 2 else ids[::-1], of=slot(name=f"0{number}:00")) for number in range(4)]
    assert all(at_once(4, lambda n: stores[n].record_plan(plans[n], NOW)))
    planned = planned_entries(store, HERE)
    assert sorted(one.subject for one in planned) == sorted(map(entry_subject, ids))
    assert len({one.ordinal for one in planned}) == 6


def test_one_slot_of_a_channel_tells_about_a_document(store, entry_ids, database_url, opened):
    ids = entry_ids(2)
    documents = store.fresh_documents_of([HERE])[HERE]
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]
    plans = [plan(ids, of=slot(name=f"now {number}"), documents=documents) for number in range(4)]
    recorded = at_once(4, lambda n: stores[n].record_plan(plans[n], NOW))
    assert sum(one is not None for one in recorded) == 1
    assert len(store.planned(HERE)) == 3
    assert len(store.slots_of([HERE], DAY)[HERE]) == 1


def elsewhere(count: int) -> list[Channel]:
    return [Channel(team_id=f"T{number % 2}", channel_id=f"E{number}") for number in range(count)]


def test_many_plans_at_once_are_each_recorded_once_and_whole(store, entry_ids):
    ids = entry_ids(3)
    documents = store.fresh_documents_of([HERE])[HERE]
    channels = elsewhere(5)
    store.register_channels(dict.fromkeys(channels, "#a"), NOW)
    store.record_plan(plan(ids[:1], of=slot(channels[1])), NOW)
    plans = [plan(ids, of=slot(channel), documents=documents, baseline=True) for channel in channels]
    recorded = store.record_plans([*plans, plan(ids, of=slot(channels[0], TOMORROW))], LATER)
    assert [slot_id is None for slot_id in recorded] == [False, True, False, False, False, False]
    assert len({slot_id for slot_id in recorded if slot_id}) == 5
    for channel, slot_id in zip(channels, recorded, strict=False):
        planned = planned_entries(store, channel)
        if slot_id is None:  # overtaken: nothing of its plan is there
            assert [one.subject for one in planned] == [entry_subject(ids[0])]
            assert store.fresh_documents_of([channel])[channel] == documents
            continue
        assert [one.subject for one in planned] == [entry_subject(entry_id) for entry_id in ids]
        assert [(one.slot_id, one.ordinal) for one in planned] == [(slot_id, 2), (slot_id, 3), (slot_id, 4)]
        assert store.fresh_documents_of([channel])[channel] == ()
    states = store.register_channels(dict.fromkeys(channels, "#a"), LATER)
    assert [states[channel].baseline_at for channel in channels] == [LATER, None, LATER, LATER, LATER]
    tomorrow = [one for one in store.planned(channels[0]) if one.slot_id == recorded[5]]
    assert [(one.kind, one.ordinal) for one in tomorrow] == [(DeliveryKind.ROOT, 5)]
    assert store.record_plans([], NOW) == ()


def test_plans_of_channels_never_met_are_recorded_too(store, entry_ids):
    ids = entry_ids(2)
    recorded = store.record_plans([plan(ids), plan(ids, of=slot(THERE))], NOW)
    assert None not in recorded
    assert len(planned_entries(store, HERE)) == len(planned_entries(store, THERE)) == 2


def test_of_many_plans_one_that_tells_about_a_told_document_changes_nothing(store, entry_ids):
    ids = entry_ids(2)
    documents = store.fresh_documents_of([HERE])[HERE]
    store.register_channels({HERE: "#here", THERE: "#there"}, NOW)
    store.record_plan(plan(ids, of=slot(name="now"), documents=documents), NOW)
    first, second = store.record_plans(
        [plan(ids, documents=documents), plan(ids, of=slot(THERE), documents=documents)], NOW
    )
    assert first is None
    assert second is not None
    assert [one.slot.name for one in store.slots_of([HERE], DAY)[HERE]] == ["now"]
    assert len(planned_entries(store, THERE)) == 2


def test_of_many_replicas_that_plan_many_channels_one_plans_each(store, entry_ids, database_url, opened):
    ids = entry_ids(3)
    documents = store.fresh_documents_of([HERE])[HERE]
    channels = elsewhere(20)
    store.register_channels(dict.fromkeys(channels[:15], "#a"), NOW)
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]

    def run(number: int) -> tuple[int | None, ...]:
        mine = channels if number % 2 else channels[::-1]
        recorded = stores[number].record_plans([plan(ids, of=slot(one), documents=documents) for one in mine], NOW)
        return recorded if number % 2 else recorded[::-1]

    for won in zip(*at_once(4, run), strict=True):
        assert sum(slot_id is not None for slot_id in won) == 1
    for channel in channels:
        assert [one.ordinal for one in planned_entries(store, channel)] == [2, 3, 4]


def test_the_questions_about_many_channels_are_the_questions_about_each(store, entry_ids):
    ids = entry_ids(2)
    documents = store.fresh_documents_of([HERE])[HERE]
    channels = [HERE, THERE, Channel(team_id="T2", channel_id="C1")]
    states = store.register_channels(dict.fromkeys(channels, "#a"), NOW)
    assert states == {channel: store.register_channel(channel, "#a", LATER) for channel in channels}
    store.record_plan(plan(ids[:1], of=slot(THERE), documents=documents), NOW)
    assert store.slots_of(channels, DAY) == {channel: store.slots_of([channel], DAY)[channel] for channel in channels}
    assert store.fresh_documents_of(channels) == {
        channel: store.fresh_documents_of([channel])[channel] for channel in channels
    }
    assert store.taken_by(channels, ids) == {channel: store.taken_by([channel], ids)[channel] for channel in channels}
    assert store.fresh_documents_of(channels)[THERE] == ()
    assert store.taken_by(channels, ids)[THERE] == {ids[0]}
    assert store.taken_by(channels, ids)[HERE] == frozenset()


def test_whatever_is_planned_in_whatever_order_each_entry_is_owed_once_and_in_order(store, entry_ids):
    ids = entry_ids(8)
    channels = iter(range(10_000))

    @given(st.lists(st.lists(st.sampled_from(ids), unique=True, max_size=5), max_size=5))
    @settings(max_examples=15, deadline=None)
    def check(slots):
        channel = Channel(team_id="T1", channel_id=f"P{next(channels)}")
        for number, chosen in enumerate(slots):
            store.record_plan(plan(chosen, of=slot(channel, DAY + timedelta(days=number))), NOW)
        planned = planned_entries(store, channel)
        first_met = list(dict.fromkeys(one for chosen in slots for one in chosen))
        assert [one.subject for one in planned] == [entry_subject(entry_id) for entry_id in first_met]
        assert all(a.ordinal < b.ordinal for a, b in itertools.pairwise(planned))

    check()
