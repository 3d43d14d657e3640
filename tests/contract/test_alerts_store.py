"""What `AlertStorage` promises: one caller tells, nothing owed is forgotten, and nothing is claimed for ever."""

from __future__ import annotations

from datetime import timedelta

from bot.delivery.values import Alert
from bot.storage.delivery_store import DeliveryStore
from tests.contract.conftest import HERE, NOW, at_once, seconds

QUIET = timedelta(hours=6)
LATER = NOW + QUIET
CLAIM = seconds(300)


def note(store, cause, now, text="text", about=None, owed_from=None):
    return store.note_alert(Alert(cause=cause, text=text, about=about), now, quiet=QUIET, owed_from=owed_from)


def owed(store, now):
    return store.owed_alerts(now, now + CLAIM)


def test_a_cause_is_told_once_while_it_lasts_and_again_after_the_quiet(store):
    assert note(store, "token", NOW)
    assert not note(store, "token", LATER - seconds(1))
    assert note(store, "other", NOW)
    assert note(store, "token", LATER)
    assert not note(store, "token", LATER + seconds(1))
    assert store.clear_alert("token")
    assert not store.clear_alert("token")
    assert note(store, "token", LATER + seconds(2))


def test_one_replica_tells_a_cause(store, database_url, opened):
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]
    for now in (NOW, LATER):
        told = at_once(4, lambda n, now=now: note(stores[n], "token", now))
        assert sorted(told) == [False] * 3 + [True]


def test_what_nobody_could_be_told_of_is_owed_to_one_caller_until_it_is_over(store, database_url, opened):
    for cause in ("b", "a"):
        assert note(store, cause, NOW, f"text of {cause}", about=HERE, owed_from=NOW)
    assert not note(store, "a", NOW, "a new text")
    assert set(owed(store, NOW)) == {
        Alert(cause="a", text="a new text", about=None, told_at=NOW),
        Alert(cause="b", text="text of b", about=HERE, told_at=NOW),
    }
    stores = [DeliveryStore(opened(database_url)) for _ in range(4)]
    claims = at_once(4, lambda n: stores[n].claim_alert("a", NOW, NOW + CLAIM))
    assert sorted(claims) == [False, False, False, True]
    assert store.clear_alert("b")
    assert owed(store, NOW) == ()
    assert not store.claim_alert("b", NOW, NOW + CLAIM)
    store.release_alert("b", NOW)
    assert owed(store, NOW) == ()


def test_what_somebody_is_telling_is_owed_again_when_the_claim_runs_out_or_is_given_up(store):
    assert note(store, "raised", NOW, owed_from=NOW + CLAIM)
    assert note(store, "taken", NOW, owed_from=NOW)
    assert note(store, "in the log", NOW, owed_from=None)
    assert store.claim_alert("taken", NOW, NOW + CLAIM)
    assert owed(store, NOW + CLAIM - seconds(1)) == ()
    assert {one.cause for one in owed(store, NOW + CLAIM)} == {"raised", "taken"}
    store.release_alert("taken", NOW)
    assert [one.cause for one in owed(store, NOW)] == ["taken"]
    store.finish_alerts(["taken", "raised", "unknown"])
    assert owed(store, NOW + CLAIM) == ()
    assert not store.claim_alert("taken", LATER - seconds(1), LATER)
    assert note(store, "taken", LATER, owed_from=LATER)
    assert [one.cause for one in owed(store, LATER)] == ["taken"]


def test_a_claim_is_extended_by_whoever_has_it_and_by_nobody_else(store):
    first, second, third = NOW + CLAIM, NOW + 2 * CLAIM, NOW + 3 * CLAIM
    assert note(store, "x", NOW, owed_from=first)
    assert store.renew_alert("x", first, second)
    assert not store.renew_alert("x", first, third)
    assert store.claim_alert("x", second, third)  # the first one was away for too long
    assert not store.renew_alert("x", second, third + CLAIM)
    store.clear_alert("x")
    assert not store.renew_alert("x", third, third + CLAIM)


def test_of_two_replicas_the_one_that_read_its_clock_first_takes_nothing_from_the_other(store):
    assert note(store, "x", NOW, owed_from=NOW)
    assert store.claim_alert("x", NOW + seconds(1), NOW + seconds(1) + CLAIM)
    assert not store.claim_alert("x", NOW, NOW + CLAIM)


def test_a_claim_from_a_clock_that_ran_ahead_keeps_nobody_from_telling(store):
    assert note(store, "x", NOW + seconds(3600), owed_from=NOW + seconds(3600) + CLAIM)
    assert [one.cause for one in owed(store, NOW)] == ["x"]
    assert store.claim_alert("x", NOW, NOW + CLAIM)


def test_what_was_given_up_last_comes_last(store):
    for number, cause in enumerate("abc"):
        assert note(store, cause, NOW + seconds(number), owed_from=NOW + seconds(number))
    store.release_alert("a", NOW + seconds(10))
    assert [one.cause for one in owed(store, NOW + seconds(10))] == ["b", "c", "a"]
