"""What `SendStorage` promises about leases, turns, claims and records, on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.delivery.values import Block, Draft, Record, Resolution, Shown, entry_subject
from bot.model import Channel, DeliveryKind, DeliveryState, Layout
from bot.storage.delivery_store import DeliveryStore
from tests.contract.conftest import BOTH, DAY, HERE, LONG_AGO, NEVER, NOW, THERE, at_once, plan, seconds, slot

UNTIL = NOW + seconds(30)
TOMORROW = DAY + timedelta(days=1)


@pytest.fixture
def ids(store, entry_ids):
    """Two channels, each with a root and three entries planned; gives the entries' ids."""
    made = entry_ids(3)
    store.record_plan(plan(made), NOW)
    store.record_plan(plan(made, of=slot(THERE)), NOW)
    return made


def turn(store, channel=HERE, since=LONG_AGO, limit=50):
    return store.turns([channel], since, limit)[channel]


def send(store, delivery, ts, now=NOW, shown=None, **more):
    """Lease, claim and record as sent."""
    store.lease("me", now, now + seconds(30), since=NEVER, limit=99)
    shows = {delivery.id: shown or Shown()}
    assert store.claim("me", [delivery.id], now, now + seconds(10), shows) == {delivery.id}
    record = Record(delivery_id=delivery.id, attempt=delivery.attempts + 1, state=DeliveryState.SENT, ts=ts, **more)
    assert store.record("me", [record], now) == {delivery.id}


# --- leases ------------------------------------------------------------------------------------------------------


def test_two_callers_never_lease_the_same_channel(store, ids):
    assert set(store.lease("me", NOW, UNTIL, since=NEVER, limit=9)) == {HERE, THERE}
    assert store.lease("you", NOW, UNTIL, since=NEVER, limit=9) == ()
    assert store.lease("me", NOW, UNTIL, since=NEVER, limit=9) == ()
    assert set(store.lease("you", UNTIL, UNTIL + seconds(30), since=NEVER, limit=9)) == {HERE, THERE}


def test_no_more_channels_are_leased_than_asked_for(store, ids):
    (first,) = store.lease("me", NOW, UNTIL, since=NEVER, limit=1)
    (second,) = store.lease("you", NOW, UNTIL, since=NEVER, limit=1)
    assert {first, second} == {HERE, THERE}


def test_channels_that_the_caller_cannot_serve_are_passed_over(store, ids):
    other = Channel(team_id="T2", channel_id=HERE.channel_id)
    assert store.lease("me", NOW, UNTIL, since=NEVER, limit=9, apart_from={HERE, other}) == (THERE,)
    assert store.lease("you", NOW, UNTIL, since=NEVER, limit=9) == (HERE,)


def test_many_callers_at_once_share_the_channels(store, ids, entry_ids, database_url, opened):
    channels = [Channel(team_id="T1", channel_id=f"M{number}") for number in range(30)]
    for channel in channels:
        store.record_plan(plan(ids, of=slot(channel)), NOW)
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]
    leased = at_once(
        4, lambda n: [one for _ in range(5) for one in stores[n].lease(str(n), NOW, UNTIL, since=NEVER, limit=3)]
    )
    everything = [channel for some in leased for channel in some]
    assert len(everything) == len(set(everything))
    assert set(everything) | set(store.lease("late", NOW, UNTIL, since=NEVER, limit=99)) == {HERE, THERE, *channels}


def test_a_lease_given_back_is_free_and_one_that_is_not_held_is_left_alone(store, ids):
    store.lease("me", NOW, UNTIL, since=NEVER, limit=9)
    store.release("you", [HERE, THERE])
    assert store.lease("you", NOW, UNTIL, since=NEVER, limit=9) == ()
    store.release("me", [HERE])
    assert store.lease("you", NOW, UNTIL, since=NEVER, limit=9) == (HERE,)


def test_a_channel_without_work_or_with_updates_only_is_not_leased(store, entry_ids):
    store.register_channel(HERE, "#here", NOW)
    assert store.lease("me", NOW, UNTIL, since=NEVER, limit=9) == ()
    (one,) = entry_ids(1)
    draft = Draft(kind=DeliveryKind.UPDATE, subject=entry_subject(one), revision=2)
    store.add_deliveries(HERE, [draft], None, NOW)
    assert store.lease("me", NOW, UNTIL, since=NEVER, limit=9) == ()


def test_a_blocked_channel_is_leased_again_when_its_time_has_come(store, ids):
    store.block_channel(HERE, Block(reason="is_archived", advice="", until=NOW + seconds(60)), NOW)
    assert store.lease("me", NOW, UNTIL, since=NEVER, limit=9) == (THERE,)
    assert store.lease("me", NOW + seconds(60), NOW + seconds(90), since=NEVER, limit=1) == (HERE,)


def test_a_blocked_workspace_waits_for_a_check_even_when_its_time_has_come(store, ids):
    store.block_team("T1", Block(reason="invalid_auth", advice="", until=NOW - seconds(1)), NOW)
    assert store.lease("me", NOW, UNTIL, since=NEVER, limit=9) == ()
    assert store.unblock_team("T1")
    assert len(store.lease("me", NOW, UNTIL, since=NEVER, limit=9)) == 2


def test_the_pace_of_a_channel_and_the_wait_of_its_first_message_hold(store, ids):
    root = turn(store).queue[0]
    send(store, root, "1.0", next_post_at=NOW + seconds(5))
    store.release("me", [HERE, THERE])
    assert HERE not in store.lease("me", NOW + seconds(3.9), UNTIL, since=NEVER, limit=9)
    assert store.lease("me", NOW + seconds(4), UNTIL + seconds(9), since=NEVER, limit=9) == (HERE,)
    entry = turn(store).queue[0]
    store.claim("me", [entry.id], NOW, UNTIL)
    wait = Record(delivery_id=entry.id, attempt=1, state=DeliveryState.PLANNED, error="ratelimited", next_try_at=UNTIL)
    assert store.record("me", [wait], NOW)
    store.release("me", [HERE, THERE])
    assert HERE not in store.lease("me", UNTIL - seconds(1), UNTIL + seconds(9), since=NEVER, limit=9)
    store.release("me", [THERE])
    assert HERE in store.lease("me", UNTIL, UNTIL + seconds(9), since=NEVER, limit=9)


def test_the_channel_that_has_waited_longest_is_leased_first(store, ids):
    send(store, turn(store).queue[0], "1.0", next_post_at=NOW + seconds(1))
    store.release("me", [HERE, THERE])
    assert store.lease("me", NOW + seconds(1), UNTIL, since=NEVER, limit=1) == (THERE,)


def test_a_channel_is_leased_as_long_before_the_end_of_its_pace_as_was_asked(store, ids):
    send(store, turn(store).queue[0], "1.0", next_post_at=NOW + seconds(1))
    store.release("me", [HERE, THERE])
    asked = {"since": NEVER, "limit": 9}
    assert store.lease("me", NOW + seconds(0.7), UNTIL, ahead=seconds(0.2), **asked) == (THERE,)
    assert store.lease("me", NOW + seconds(0.8), UNTIL, ahead=seconds(0.2), **asked) == (HERE,)


def test_an_unresolved_message_holds_its_channel_back_until_the_wait_is_over(store, ids):
    store.lease("me", NOW, UNTIL, since=NEVER, limit=9)
    root = turn(store).queue[0]
    store.claim("me", [root.id], NOW, UNTIL)
    store.record("me", [Record(delivery_id=root.id, attempt=1, state=DeliveryState.UNCERTAIN)], NOW)
    store.release("me", [HERE, THERE])
    assert store.lease("me", NOW, UNTIL, since=NOW, limit=9) == (THERE,)
    store.release("me", [THERE])
    assert set(store.lease("me", NOW, UNTIL, since=NOW + seconds(1), limit=9)) == {HERE, THERE}


def test_the_wait_begins_with_the_first_attempt_but_nothing_overtakes_one_that_is_on_its_way(store, ids):
    store.lease("me", NOW, UNTIL, since=NEVER, limit=9)
    root = turn(store).queue[0]
    doubt = Record(delivery_id=root.id, attempt=1, state=DeliveryState.UNCERTAIN)
    absent = Resolution(delivery_id=root.id, expected=DeliveryState.UNCERTAIN, state=DeliveryState.PLANNED)
    store.claim("me", [root.id], NOW, UNTIL)
    store.record("me", [doubt], NOW)
    store.resolve(absent, NOW)
    store.claim("me", [root.id], NOW + seconds(20), UNTIL)
    store.release("me", [HERE])
    after_the_first = NOW + seconds(1)
    assert store.lease("me", NOW, UNTIL, since=after_the_first, limit=9) == ()
    assert turn(store, since=after_the_first).unresolved
    store.record("me", [replace(doubt, attempt=2)], NOW + seconds(20))
    assert turn(store, since=NOW).unresolved
    assert turn(store, since=after_the_first).unresolved == ()
    assert store.lease("me", NOW, UNTIL, since=after_the_first, limit=9) == (HERE,)


# --- claims ------------------------------------------------------------------------------------------------------


def test_only_the_leaseholder_claims_and_each_delivery_once(store, ids):
    root, first, *_ = turn(store).queue
    assert store.claim("me", [root.id], NOW, UNTIL) == frozenset()
    store.lease("me", NOW, UNTIL, since=NEVER, limit=9)
    assert store.claim("you", [root.id], NOW, UNTIL) == frozenset()
    assert store.claim("me", [root.id, first.id, 999], NOW, UNTIL) == {root.id, first.id}
    assert store.claim("me", [root.id], NOW, UNTIL) == frozenset()
    assert store.claim("me", [], NOW, UNTIL) == frozenset()
    claimed = store.by_key(root.key)
    assert (claimed.state, claimed.attempts, claimed.sending_since) == (DeliveryState.SENDING, 1, NOW)


def test_a_lease_that_has_run_out_claims_nothing(store, ids):
    store.lease("me", NOW, UNTIL, since=NEVER, limit=9)
    root = turn(store).queue[0]
    assert store.claim("me", [root.id], UNTIL, UNTIL + seconds(30)) == frozenset()
    assert store.by_key(root.key).state is DeliveryState.PLANNED


def test_a_claim_extends_the_lease_and_never_shortens_it(store, ids):
    store.lease("me", NOW, UNTIL, since=NEVER, limit=9)
    root, first, *_ = turn(store).queue
    store.claim("me", [root.id], NOW, UNTIL + seconds(30))
    store.claim("me", [first.id], NOW, NOW + seconds(1))
    assert store.lease("you", UNTIL + seconds(29), UNTIL + seconds(99), since=NEVER, limit=9) == (THERE,)
    assert store.lease("you", UNTIL + seconds(30), UNTIL + seconds(99), since=NEVER, limit=9) == (HERE,)


def test_an_update_is_claimed_without_a_lease_and_once(store, ids, database_url, opened):
    draft = Draft(kind=DeliveryKind.UPDATE, subject=entry_subject(ids[0]), revision=2)
    assert store.add_deliveries(HERE, [draft], None, NOW) == 1
    send_first(store)
    (update,) = store.due_updates(NOW, 9, among=BOTH)
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]
    won = at_once(4, lambda n: stores[n].claim(str(n), [update.id], NOW, UNTIL))
    assert sorted(map(len, won)) == [0, 0, 0, 1]


def send_first(store):
    root, first, *_ = turn(store).queue
    send(store, root, "1.0")
    send(store, first, "2.0")


def test_a_claim_and_a_skip_at_once_have_one_winner(store, ids, database_url, opened):
    store.lease("me", NOW, UNTIL, since=NEVER, limit=9)
    entries = [one.id for one in turn(store).queue]
    stores = [DeliveryStore(opened(database_url)) for _ in range(2)]
    claimed, skipped = at_once(
        2, lambda n: stores[n].claim("me", entries, NOW, UNTIL) if n else stores[n].skip(entries, "no", NOW)
    )[::-1]
    assert len(claimed) + skipped == len(entries)
    assert len(store.in_state(DeliveryState.SENDING, 99)) == len(claimed)


def test_a_takeover_and_a_late_claim_at_once_never_both_succeed(store, ids, database_url, opened):
    """The clocks disagree: the holder believes that its lease still runs, the other that it is over."""
    mine, other = (DeliveryStore(opened(database_url)) for _ in range(2))
    for turn_number in range(12):
        channel = Channel(team_id="T1", channel_id=f"R{turn_number}")
        store.record_plan(plan(ids, of=slot(channel)), NOW)
        store.lease("me", NOW, UNTIL, since=NEVER, limit=99)
        root = turn(store, channel).queue[0]

        def race(number, root=root):
            if number:
                return other.lease("you", UNTIL, UNTIL + seconds(60), since=NEVER, limit=99)
            return mine.claim("me", [root.id], UNTIL - seconds(1), UNTIL + seconds(10))

        won, taken = at_once(2, race)
        assert not (won and channel in taken)
        store.release("you", [channel, *taken])


# --- records -----------------------------------------------------------------------------------------------------


def claim_root(store, owner="me", now=NOW):
    store.lease(owner, now, now + seconds(30), since=NEVER, limit=9)
    root = turn(store).queue[0]
    assert store.claim(owner, [root.id], now, now + seconds(10))
    return root


def test_what_became_of_a_claim_is_written_down(store, ids):
    root = claim_root(store)
    record = Record(
        delivery_id=root.id, attempt=1, state=DeliveryState.SENT, ts="1.5", told_revision=1, thread_ts="1.0"
    )
    assert store.record("me", [record], NOW) == {root.id}
    sent = store.by_key(root.key)
    assert (sent.state, sent.ts, sent.thread_ts, sent.error) == (DeliveryState.SENT, "1.5", "1.0", None)
    assert store.record("me", [record], NOW) == frozenset()


@pytest.mark.parametrize("state", [DeliveryState.PLANNED, DeliveryState.FAILED, DeliveryState.UNCERTAIN])
def test_only_the_claim_that_a_record_belongs_to_is_accepted(store, ids, state):
    root = claim_root(store)
    record = Record(delivery_id=root.id, attempt=1, state=state, error="why", next_try_at=UNTIL)
    assert store.record("you", [record], NOW) == frozenset()
    older = Record(delivery_id=root.id, attempt=0, state=state)
    assert store.record("me", [older], NOW) == frozenset()
    assert store.record("me", [record], NOW) == {root.id}
    found = store.by_key(root.key)
    assert (found.state, found.error, found.next_try_at) == (state, "why", UNTIL)
    assert store.record("me", [record], NOW) == frozenset()


@pytest.mark.parametrize(
    "state", [DeliveryState.UNCERTAIN, DeliveryState.HELD, DeliveryState.PLANNED, DeliveryState.FAILED]
)
def test_sent_is_proof_and_wins_over_every_other_state(store, ids, state):
    root = claim_root(store)
    between = DeliveryState.UNCERTAIN if state is DeliveryState.HELD else state
    store.record("me", [Record(delivery_id=root.id, attempt=1, state=between)], NOW)
    if state is DeliveryState.HELD:
        held = Resolution(delivery_id=root.id, expected=DeliveryState.UNCERTAIN, state=state)
        assert store.resolve(held, NOW)
    late = Record(delivery_id=root.id, attempt=1, state=DeliveryState.SENT, ts="1.0")
    assert store.record("paused", [late], NOW) == {root.id}
    assert store.by_key(root.key).state is DeliveryState.SENT


def test_records_of_many_deliveries_are_judged_one_by_one(store, ids):
    store.lease("me", NOW, UNTIL, since=NEVER, limit=9)
    root, first, second, _ = turn(store).queue
    store.claim("me", [root.id, first.id], NOW, UNTIL)
    records = [
        Record(delivery_id=root.id, attempt=1, state=DeliveryState.SENT, ts="1.0"),
        Record(delivery_id=second.id, attempt=1, state=DeliveryState.FAILED),
        Record(delivery_id=first.id, attempt=1, state=DeliveryState.FAILED, error="invalid_blocks"),
    ]
    assert store.record("me", records, NOW) == {root.id, first.id}
    assert store.record("me", [], NOW) == frozenset()


def test_the_pace_is_kept_whoever_s_record_is_accepted_and_never_falls_back(store, ids):
    root = claim_root(store)
    record = Record(delivery_id=root.id, attempt=1, state=DeliveryState.SENT, ts="1.0", next_post_at=NOW + seconds(9))
    store.record("me", [record], NOW)
    earlier = Record(delivery_id=root.id, attempt=1, state=DeliveryState.SENT, ts="1.0", next_post_at=NOW + seconds(1))
    store.record("me", [earlier], NOW)
    assert turn(store).next_post_at == NOW + seconds(9)


def test_a_compact_root_takes_its_planned_entries_with_it(store, entry_ids):
    ids = entry_ids(3)
    store.record_plan(plan(ids, layout=Layout.COMPACT), NOW)
    root, first, *_ = turn(store).queue
    store.skip([first.id], "policy", NOW)
    send(store, root, "7.0", folds=True)
    assert turn(store).queue == ()
    assert {one.ts for one in store.in_state(DeliveryState.SENT, 9)} == {"7.0"}
    assert len(store.in_state(DeliveryState.SENT, 9)) == 3
    assert set(store.sent_messages(HERE, ids)) == set(ids[1:])


# --- turns and parts ---------------------------------------------------------------------------------------------


def test_a_turn_shows_the_queue_in_order_and_the_state_of_its_root(store, ids):
    before = turn(store)
    assert [one.kind for one in before.queue] == [DeliveryKind.ROOT, *[DeliveryKind.ENTRY] * 3]
    slot_id = before.queue[0].slot_id
    assert (before.roots[slot_id].state, before.roots[slot_id].ts) == (DeliveryState.PLANNED, None)
    assert (before.highest_sent, before.next_post_at, before.unresolved) == (-1, None, ())
    send(store, before.queue[0], "1.0", next_post_at=UNTIL)
    after = turn(store)
    assert [one.id for one in after.queue] == [one.id for one in before.queue[1:]]
    assert (after.roots[slot_id].state, after.roots[slot_id].ts) == (DeliveryState.SENT, "1.0")
    assert after.roots[slot_id].layout is Layout.CHANNEL
    assert (after.highest_sent, after.next_post_at) == (before.queue[0].ordinal, UNTIL)


def test_a_turn_tells_that_its_channel_was_blocked(store, ids):
    assert not turn(store).blocked
    store.block_channel(HERE, Block(reason="is_archived", advice="", until=NOW), NOW)
    assert turn(store).blocked


def test_turns_of_several_channels_are_each_their_own_and_limited_each(store, ids):
    both = store.turns([HERE, THERE, Channel(team_id="T2", channel_id="C9")], LONG_AGO, 2)
    assert set(both) == {HERE, THERE}
    assert [len(one.queue) for one in both.values()] == [2, 2]
    assert {one.channel for one in both[THERE].queue} == {THERE}


def test_unresolved_ones_stand_apart_from_the_time_asked_for_on(store, ids):
    root = claim_root(store)
    assert [one.id for one in turn(store, since=NOW).unresolved] == [root.id]
    assert turn(store, since=NOW + seconds(1)).unresolved == ()
    store.record("me", [Record(delivery_id=root.id, attempt=1, state=DeliveryState.UNCERTAIN)], NOW)
    assert [one.state for one in turn(store).unresolved] == [DeliveryState.UNCERTAIN]
    assert len(turn(store, limit=1).queue) == 1
    assert turn(store, limit=1).unresolved


def test_an_update_neither_queues_nor_overtakes(store, ids):
    draft = Draft(kind=DeliveryKind.UPDATE, subject=entry_subject(ids[0]), revision=2)
    store.add_deliveries(HERE, [draft], None, NOW)
    send_first(store)
    (update,) = store.due_updates(NOW, 9, among=BOTH)
    assert store.claim("me", [update.id], NOW, UNTIL)
    done = Record(delivery_id=update.id, attempt=1, state=DeliveryState.SENT, ts="2.0", told_revision=2)
    assert store.record("me", [done], NOW)
    now = turn(store)
    assert [one.kind for one in now.queue] == [DeliveryKind.ENTRY] * 2
    assert now.highest_sent < now.queue[0].ordinal < update.ordinal


def test_parts_are_planned_when_their_entry_is_sent_and_know_its_message(store, ids):
    root, first, second, _ = turn(store).queue
    send(store, root, "1.0")
    store.lease("me", NOW, UNTIL, since=NEVER, limit=99)
    assert store.claim("me", [first.id], NOW, UNTIL, {first.id: Shown(revision=1, parts=3)})
    assert [one.id for one in turn(store, since=NEVER).queue][:1] == [second.id]
    sent = Record(delivery_id=first.id, attempt=1, state=DeliveryState.SENT, ts="2.0")
    assert store.record("me", [sent], NOW)
    queue = turn(store).queue
    assert [(one.subject, one.part) for one in queue[:3]] == [
        (first.subject, 1),
        (first.subject, 2),
        (second.subject, 0),
    ]
    assert {one.ordinal for one in queue[:2]} == {first.ordinal}
    assert turn(store).parents == {first.subject: "2.0"}
    assert len({one.key for one in queue}) == len(queue)
    threaded = turn(store, THERE).queue
    send(store, threaded[0], "5.0")
    send(store, threaded[1], "6.0", shown=Shown(parts=2), thread_ts="5.0")
    assert turn(store, THERE).parents == {first.subject: "5.0"}


def test_an_entry_that_was_found_plans_its_parts_and_knows_its_revision(store, ids):
    root, first, *_ = turn(store).queue
    send(store, root, "1.0")
    store.lease("me", NOW, UNTIL, since=NEVER, limit=99)
    assert store.claim("me", [first.id], NOW, UNTIL, {first.id: Shown(revision=2, parts=2)})
    store.record("me", [Record(delivery_id=first.id, attempt=1, state=DeliveryState.UNCERTAIN)], NOW)
    found = Resolution(
        delivery_id=first.id, expected=DeliveryState.UNCERTAIN, state=DeliveryState.SENT, ts="2.0", looks=1
    )
    assert store.resolve(found, NOW)
    assert [one.part for one in turn(store).queue][:2] == [1, 0]
    assert store.sent_messages(HERE, ids)[ids[0]].told_revision == 2


def test_a_change_of_an_entry_reaches_its_parts_and_plans_new_ones(store, ids):
    root, first, *_ = turn(store).queue
    send(store, root, "1.0")
    send(store, first, "2.0", shown=Shown(revision=1, parts=2))
    send(store, turn(store).queue[0], "2.1", shown=Shown(revision=1, parts=2), thread_ts="2.0")
    draft = Draft(kind=DeliveryKind.UPDATE, subject=first.subject, revision=2)
    store.add_deliveries(HERE, [draft], first.slot_id, NOW)
    (update,) = store.due_updates(NOW, 9, among=[HERE])
    assert store.claim("me", [update.id], NOW, UNTIL)
    done = Record(delivery_id=update.id, attempt=1, state=DeliveryState.SENT, ts="2.0", told_revision=2, parts=3)
    assert store.record("me", [done], NOW)
    (of_part,) = store.due_updates(NOW, 9, among=[HERE])
    assert (of_part.part, of_part.revision, of_part.ts) == (1, 2, "2.1")
    assert [one.part for one in turn(store).queue][:2] == [2, 0]


@pytest.mark.parametrize("state", [DeliveryState.UNCERTAIN, DeliveryState.PLANNED])
def test_doubts_and_refusals_are_counted_apart_from_claims_and_forgotten_at_a_person_s_word(store, ids, state):
    root = claim_root(store)
    record = Record(delivery_id=root.id, attempt=1, state=state, refused=state is DeliveryState.PLANNED)
    assert store.record("me", [record], NOW)
    counted = store.by_key(root.key)
    expected = (1, 0) if state is DeliveryState.UNCERTAIN else (0, 1)
    assert (counted.attempts, (counted.doubts, counted.refusals)) == (1, expected)
    if state is DeliveryState.PLANNED:
        claimed_again = claim_root(store, now=NOW + seconds(60))
        failed = Record(delivery_id=claimed_again.id, attempt=2, state=DeliveryState.FAILED)
        assert store.record("me", [failed], NOW)
        state = DeliveryState.FAILED
    else:
        held = Resolution(delivery_id=root.id, expected=state, state=DeliveryState.HELD)
        assert store.resolve(held, NOW)
        assert store.by_key(root.key).doubts == 1
        state = DeliveryState.HELD
    assert store.resolve(Resolution(delivery_id=root.id, expected=state, state=DeliveryState.PLANNED), NOW)
    again = store.by_key(root.key)
    assert (again.doubts, again.refusals) == (0, 0)


def test_a_reply_knows_the_message_it_answers(store, ids):
    send_first(store)
    draft = Draft(kind=DeliveryKind.REPLY, subject=entry_subject(ids[0]), revision=2)
    assert store.add_deliveries(HERE, [draft], None, NOW) == 1
    assert turn(store).parents == {entry_subject(ids[0]): "2.0"}
