"""Every event in every state, on both databases and on the fake of the unit tests: only the lettered ways are open."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import update

from bot.delivery.desk import Standing, decide
from bot.delivery.states import TRANSITIONS, Event
from bot.delivery.values import Record, Resolution
from bot.model import Delivery, DeliveryKind, DeliveryState, Layout
from bot.storage.schema import deliveries
from tests.contract.conftest import HERE, LONG_AGO, NEVER, NOW, plan, seconds
from tests.unit.delivery.fakes import MemoryStorage

UNTIL = NOW + seconds(30)
S = DeliveryState

RECORDED = {
    Event.ACCEPTED: S.SENT,
    Event.REFUSED_FOR_NOW: S.PLANNED,
    Event.REFUSED_FOR_EVER: S.FAILED,
    Event.DOUBTED: S.UNCERTAIN,
    Event.TARGET_GONE: S.SKIPPED,
}
RESOLVED = {Event.FOUND: S.SENT, Event.ABSENT: S.PLANNED, Event.GIVEN_UP: S.HELD}


class Here:
    """One root and one entry in a ledger of either kind."""

    def __init__(self, store, database, entry_ids) -> None:
        self.store, self._database = store, database
        store.record_plan(plan(entry_ids, layout=Layout.COMPACT), NOW)
        store.lease("me", NOW, UNTIL, since=NEVER, limit=9)
        self.root, self.entry = store.turns([HERE], LONG_AGO, 9)[HERE].queue

    def put(self, delivery: Delivery, state: DeliveryState) -> None:
        """Bring a delivery into a state, as if its first claim had led there."""
        if self._database is None:
            self.store._set(delivery.id, state=state, attempts=1, sending_since=NOW)
            row = self.store.rows[delivery.id]
            row.claimed_by, row.claimed_until, row.first_at = "me", UNTIL, NOW
            return
        values = {"state": state, "attempts": 1, "claimed_by": "me", "claimed_until": UNTIL, "sending_since": NOW}
        with self._database.transaction() as connection:
            connection.execute(update(deliveries).where(deliveries.c.id == delivery.id).values(values))

    def happen(self, event: Event) -> None:
        store, entry = self.store, self.entry
        if event in RECORDED:
            state = RECORDED[event]
            ts = "2.0" if state is S.SENT else None
            store.record("me", [Record(delivery_id=entry.id, attempt=1, state=state, ts=ts)], NOW)
        elif event in RESOLVED:
            state = RESOLVED[event]
            ts = "2.0" if state is S.SENT else None
            store.resolve(Resolution(delivery_id=entry.id, expected=S.UNCERTAIN, state=state, ts=ts), NOW)
        elif event in (Event.SETTLED, Event.RETRIED):
            decide(store, entry.key, Standing(ts="2.0") if event is Event.SETTLED else None, now=NOW)
        elif event is Event.CLAIMED:
            store.claim("me", [entry.id], NOW, UNTIL)
        elif event is Event.DROPPED:
            store.skip([entry.id], "policy", NOW)
        else:
            self.put(self.root, S.SENDING)
            store.record("me", [Record(delivery_id=self.root.id, attempt=1, state=S.SENT, ts="1.0", folds=True)], NOW)


def check(here: Here, state: DeliveryState, event: Event) -> None:
    here.put(here.entry, state)
    here.happen(event)
    assert here.store.by_key(here.entry.key).state is TRANSITIONS.get((state, event), state), (state, event)


PAIRS = list(itertools.product(S, Event))


@pytest.mark.parametrize(("state", "event"), PAIRS)
def test_only_the_lettered_ways_lead_from_state_to_state(database, store, entry_ids, state, event):
    check(Here(store, database, entry_ids(1)), state, event)


@pytest.mark.parametrize(("state", "event"), PAIRS)
def test_the_fake_opens_the_same_ways(state, event):
    store = MemoryStorage()
    store.add_document(1, "2026-11-30", [1])
    store.register_channel(HERE, "#here", NOW)
    here = Here(store, None, [1])
    assert here.entry.kind is DeliveryKind.ENTRY
    check(here, state, event)
