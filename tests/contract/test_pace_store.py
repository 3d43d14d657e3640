"""What `SendStorage` promises about blocks and the workspace's pace."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.delivery.values import Block, Lane, Record
from bot.model import DeliveryState
from bot.storage.delivery_store import DeliveryStore
from tests.contract.conftest import HERE, NEVER, NOW, THERE, at_once, plan, seconds, slot

QUIET = timedelta(hours=6)


LATER = NOW + seconds(60)


def block(reason="not_in_channel", until=LATER):
    return Block(reason=reason, advice="invite the bot with /invite", until=until)


def test_a_reason_is_new_to_a_channel_until_the_block_is_lifted(store):
    assert store.block_channel(HERE, block(), NOW)
    assert not store.block_channel(HERE, block(until=NOW + seconds(99)), NOW)
    assert store.block_channel(HERE, block("is_archived"), NOW)
    assert store.status(NOW).channel_blocks == {HERE: block("is_archived")}
    assert not store.unblock_channel(THERE)
    assert store.unblock_channel(HERE)
    assert not store.unblock_channel(HERE)
    assert store.block_channel(HERE, block("is_archived"), NOW)


def test_a_reason_is_new_to_a_workspace_until_the_block_is_lifted(store):
    assert store.block_team("T1", block("invalid_auth"), NOW)
    assert not store.block_team("T1", block("invalid_auth", NOW - seconds(1)), NOW)
    assert store.team_blocks() == {"T1": block("invalid_auth", NOW - seconds(1))}
    assert store.status(NOW).team_blocks
    assert store.unblock_team("T1")
    assert not store.unblock_team("T1")
    assert store.team_blocks() == {}
    assert not store.status(NOW).team_blocks


def test_one_caller_tells_that_a_channel_is_blocked(store, database_url, opened):
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]
    assert sorted(at_once(4, lambda n: stores[n].block_channel(HERE, block(), NOW))) == [False] * 3 + [True]


def test_one_caller_checks_a_workspace_whose_time_has_come(store, database_url, opened):
    assert not store.probe_team("T1", NOW, NOW + seconds(60))
    store.block_team("T1", block("invalid_auth"), NOW)
    assert not store.probe_team("T1", NOW, NOW + seconds(60))
    now = NOW + seconds(60)
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]
    probing = at_once(4, lambda n: stores[n].probe_team("T1", now, now + seconds(60)))
    assert sorted(probing) == [False] * 3 + [True]
    assert store.team_blocks()["T1"].until == now + seconds(60)


def test_places_in_a_lane_are_at_least_an_interval_apart_and_never_in_the_past(store):
    fifth = seconds(0.2)
    assert store.reserve_team("T1", Lane.POST, NOW, fifth) == NOW
    assert store.reserve_team("T1", Lane.POST, NOW, fifth) == NOW + fifth
    assert store.reserve_team("T1", Lane.UPDATE, NOW, fifth) == NOW
    assert store.reserve_team("T2", Lane.POST, NOW, fifth) == NOW
    later = NOW + seconds(9)
    assert store.reserve_team("T1", Lane.POST, later, fifth) == later


def test_replicas_that_take_places_at_once_take_different_ones(store, database_url, opened):
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]
    taken = at_once(4, lambda n: [stores[n].reserve_team("T1", Lane.POST, NOW, seconds(0.2)) for _ in range(10)])
    places = sorted(place for some in taken for place in some)
    assert places == [NOW + seconds(0.2) * number for number in range(40)]


def test_the_law_of_places(store):
    teams = iter(range(10_000))
    steps = st.lists(st.tuples(st.integers(0, 10**7), st.integers(1, 10**7)), min_size=1, max_size=8)

    @given(steps)
    @settings(max_examples=15, deadline=None)
    def check(calls):
        team, now, free = f"L{next(teams)}", NOW, NOW
        for forward, interval in calls:
            now += timedelta(microseconds=forward)
            place = store.reserve_team(team, Lane.POST, now, timedelta(microseconds=interval))
            assert place == max(now, free)
            free = place + timedelta(microseconds=interval)

    check()


def test_a_place_in_a_channels_pace_is_taken_once_and_moves_its_digest_on(store):
    assert store.reserve_channel(HERE, NOW, seconds(1)) == NOW
    assert store.reserve_channel(HERE, NOW, seconds(1)) == NOW  # unknown: it has no pace
    store.register_channel(HERE, "#here", NOW)
    assert store.reserve_channel(HERE, NOW, seconds(1)) == NOW
    assert store.reserve_channel(HERE, NOW, seconds(1)) == NOW + seconds(1)
    assert store.turns([HERE], NOW, 9)[HERE].next_post_at == NOW + seconds(2)
    assert store.reserve_channel(HERE, NOW + seconds(9), seconds(1)) == NOW + seconds(9)


def test_what_a_clock_that_ran_ahead_has_left_is_ended_and_what_is_near_stays(store, entry_ids):
    ahead = NOW + timedelta(hours=3)
    store.record_plan(plan(entry_ids(2)), NOW)
    store.record_plan(plan(entry_ids(2), of=slot(THERE)), NOW)
    store.lease("me", ahead, ahead + seconds(30), since=NEVER, limit=9)
    root = store.turns([HERE], NEVER, 9)[HERE].queue[0]
    store.claim("me", [root.id], ahead, ahead + seconds(30))
    store.record("me", [Record(delivery_id=root.id, attempt=1, state=DeliveryState.PLANNED, next_try_at=ahead)], ahead)
    store.reserve_channel(THERE, ahead, seconds(1))
    store.block_channel(THERE, Block(reason="not_in_channel", advice="", until=ahead), ahead)
    store.reserve_team("T1", Lane.POST, ahead, seconds(1))
    near = NOW + seconds(59)
    store.reserve_team("T2", Lane.POST, near, seconds(1))
    assert store.lease("you", NOW + seconds(2), LATER, since=NEVER, limit=9) == ()
    assert store.end_waits(NOW, timedelta(hours=1)) == 6
    assert set(store.lease("you", NOW + seconds(2), LATER, since=NEVER, limit=9)) == {HERE, THERE}
    assert store.reserve_team("T1", Lane.POST, NOW, seconds(1)) == NOW
    assert store.reserve_team("T2", Lane.POST, NOW, seconds(1)) == near + seconds(1)
    assert store.end_waits(NOW, timedelta(hours=1)) == 0
