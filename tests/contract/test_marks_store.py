"""What `MarksStorage` and `DiscussionStorage` promise, through the service that uses them, on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.delivery.values import Record, Shown
from bot.model import DeliveryState, Layout
from bot.readers.marks import Activity, Discussion, Marks, Place, Talk
from bot.storage.marks_store import MarksStore
from tests.contract.conftest import HERE, NEVER, NOW, THERE, at_once, plan, seconds, slot


class FakeClock:
    def __init__(self):
        self.at = NOW

    def now(self):
        self.at += seconds(1)
        return self.at


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def marks(database, clock):
    return Marks(MarksStore(database), clock)


@pytest.fixture
def talk(database, clock):
    return Discussion(MarksStore(database), clock)


def post(store, entry_ids, channel=HERE, first=1, layout=Layout.CHANNEL, parts=1):
    """Post a digest: the root at `<first>.000000`, its entries at the seconds after it, the first's parts at the end."""
    store.record_plan(plan(entry_ids, of=slot(channel), layout=layout), NOW)
    store.lease("me", NOW, NOW + seconds(30), since=NEVER, limit=9)
    queue = list(store.turns([channel], NOW, 99)[channel].queue)
    shown = {queue[1].id: Shown(parts=parts)}
    for number in range(first, first + len(queue) + parts - 1):
        delivery = queue.pop(0) if queue else store.turns([channel], NOW, 99)[channel].queue[0]
        if store.claim("me", [delivery.id], NOW, NOW + seconds(30), shown):
            record = Record(
                delivery_id=delivery.id,
                attempt=1,
                state=DeliveryState.SENT,
                ts=f"{number}.000000",
                folds=layout is Layout.COMPACT,
            )
            store.record("me", [record], NOW)


def test_an_entry_is_saved_once_and_taken_off_once(marks, entry_ids):
    one, two, _ = entry_ids(3)
    assert marks.save("T1", "U1", one)
    assert not marks.save("T1", "U1", one)
    assert marks.save("T1", "U1", two)
    assert marks.save("T1", "U2", one)
    assert [saved.entry.id for saved in marks.saved("T1", "U1")] == [two, one]
    assert [saved.entry.id for saved in marks.saved("T1", "U1", limit=1)] == [two]
    assert marks.saved("T1", "U1")[0].saved_at > marks.saved("T1", "U1")[1].saved_at
    assert marks.saved_among("T1", "U1", [one, 999]) == {one}
    assert marks.unsave("T1", "U1", one)
    assert not marks.unsave("T1", "U1", one)
    assert marks.saved("T2", "U1") == []


def test_an_entry_that_does_not_exist_is_not_saved(marks):
    assert not marks.save("T1", "U1", 999)


def test_a_double_click_saves_once(database_url, opened, entry_ids, clock):
    (one,) = entry_ids(1)
    lists = [Marks(MarksStore(opened(database_url)), clock) for _ in range(4)]
    assert sorted(at_once(4, lambda n: lists[n].save("T1", "U1", one))) == [False] * 3 + [True]


def test_replies_and_reactions_count_where_an_entry_stands(talk, store, entry_ids):
    one, two, three = entry_ids(3)
    post(store, [one, two])
    post(store, [one], THERE, first=10)
    assert talk.count_reply("T1", "C1", "2.5", "2.000000", "U1")
    assert talk.count_reply("T1", "C2", "11.5", "11.000000", "U1")
    assert talk.count_reaction("T1", "C1", "2.000000", "U1", "eyes")
    assert talk.count_reaction("T1", "C1", "2.000000", "U1", "heart")
    found = talk.activity([one, two, three])
    places = (Place(channel=HERE, ts="2.000000"), Place(channel=THERE, ts="11.000000"))
    assert found[one] == Activity(
        talk=(Talk(channel=HERE, replies=1, reactions=2), Talk(channel=THERE, replies=1)), places=places
    )
    assert [place.replies for place in found[one].places] == [1, 1]
    assert found[two] == Activity(places=(Place(channel=HERE, ts="3.000000"),))
    assert [place.replies for place in found[two].places] == [0]
    assert found[three] == Activity()
    assert talk.activity([]) == {}


def test_nothing_is_counted_twice_and_what_is_taken_back_not_at_all(talk, store, entry_ids):
    (one,) = entry_ids(1)
    post(store, [one])
    for expected in (True, False):
        assert talk.count_reply("T1", "C1", "2.5", "2.000000", "U1") is expected
        assert talk.count_reaction("T1", "C1", "2.000000", "U1", "eyes") is expected
    for expected in (True, False):
        assert talk.forget_reply("T1", "C1", "2.5") is expected
        assert talk.forget_reaction("T1", "C1", "2.000000", "U1", "eyes") is expected
    assert talk.activity([one])[one].talk == ()


def test_talk_elsewhere_is_not_kept(talk, store, entry_ids):
    post(store, entry_ids(1))
    assert not talk.count_reply("T1", "C1", "1.5", "1.000000", "U1")
    assert not talk.count_reply("T1", "C2", "2.5", "2.000000", "U1")
    assert not talk.count_reply("T1", "C1", "2.000000", "2.000000", "U1")
    assert not talk.count_reaction("T1", "C1", "9.000000", "U1", "eyes")


def test_the_entry_of_a_message_is_found_in_its_parts_and_in_shared_ones(talk, store, entry_ids):
    one, two = entry_ids(2)
    post(store, [one, two], parts=2)
    assert talk.entry_at("T1", "C1", "1.000000") is None
    assert talk.entry_at("T1", "C1", "2.000000") == one
    assert talk.entry_at("T1", "C1", "3.000000") == two
    assert talk.entry_at("T1", "C1", "4.000000") == one
    assert talk.entry_at("T1", "C2", "2.000000") is None
    assert talk.record_share("click", "T1", "C2", two, "U1")
    talk.shared("click", "9.000000")
    assert talk.entry_at("T1", "C2", "9.000000") == two
    assert talk.activity([one])[one].places == (Place(channel=HERE, ts="2.000000"),)


def test_a_compact_message_is_no_single_entry(talk, store, entry_ids):
    (one,) = entry_ids(1)
    post(store, [one], layout=Layout.COMPACT)
    assert talk.entry_at("T1", "C1", "1.000000") is None
    assert talk.activity([one])[one] == Activity()


def test_a_share_is_begun_once_for_each_click_and_counts_once_it_stands(talk, entry_ids):
    (one,) = entry_ids(1)
    assert talk.record_share("click", "T1", "C1", one, "U1")
    assert not talk.record_share("click", "T1", "C1", one, "U1")
    talk.not_shared("click")
    assert talk.record_share("click", "T1", "C1", one, "U1")
    assert talk.activity([one])[one].places == ()
    talk.shared("click", "5.000000")
    talk.not_shared("click")
    assert not talk.record_share("click", "T1", "C1", one, "U1")
    assert talk.count_reply("T1", "C1", "5.5", "5.000000", "U2")
    assert talk.activity([one])[one] == Activity(
        talk=(Talk(channel=HERE, replies=1),), places=(Place(channel=HERE, ts="5.000000"),)
    )


def test_an_event_is_seen_first_by_one_caller(database_url, opened, clock):
    several = [Discussion(MarksStore(opened(database_url)), clock) for _ in range(4)]
    assert sorted(at_once(4, lambda n: several[n].first_sight("Ev1"))) == [False] * 3 + [True]
    assert several[0].first_sight("Ev2")


def test_events_are_forgotten_long_after_slack_would_repeat_them(talk, clock):
    assert talk.first_sight("Ev1")
    clock.at += timedelta(hours=2)
    assert talk.first_sight("Ev2")
    assert not talk.first_sight("Ev1")
    clock.at += timedelta(days=2)
    assert talk.first_sight("Ev3")
    assert talk.first_sight("Ev1")


def test_counts_are_those_of_a_set_whatever_slack_repeats(talk, store, entry_ids):
    (one,) = entry_ids(1)
    post(store, [one])
    people, signs = st.sampled_from(["U1", "U2"]), st.sampled_from(["eyes", "heart"])
    known: set[tuple[str, str]] = set()

    @given(st.lists(st.tuples(st.booleans(), people, signs), max_size=8))
    @settings(max_examples=15, deadline=None)
    def check(events):
        for added, user, name in events:
            if added:
                assert talk.count_reaction("T1", "C1", "2.000000", user, name) is ((user, name) not in known)
                known.add((user, name))
            else:
                assert talk.forget_reaction("T1", "C1", "2.000000", user, name) is ((user, name) in known)
                known.discard((user, name))
        assert sum(each.reactions for each in talk.activity([one])[one].talk) == len(known)

    check()
