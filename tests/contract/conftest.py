"""Material for the contract suite: a store with a few documents, said in few words."""

from __future__ import annotations

import itertools
import threading
from datetime import UTC, date, datetime, timedelta

import pytest

from bot.delivery.values import Draft, SlotPlan, entry_subject, slot_subject
from bot.ingest.decide import EntryIntent, IntentKind, NewDocument, Wording
from bot.model import Channel, Delivery, DeliveryKind, DocumentState, Extraction, Layout, Slot, SlotState, Verdict
from bot.storage.delivery_store import DeliveryStore
from bot.storage.ingest_store import IngestStore

NOW = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)
DAY = date(2026, 11, 30)
LONG_AGO = NOW - timedelta(days=1)
NEVER = NOW + timedelta(days=999)
"""As `since`: nothing unresolved began so late, so nothing holds a channel back."""
HERE = Channel(team_id="T1", channel_id="C1")
THERE = Channel(team_id="T1", channel_id="C2")
BOTH = (HERE, THERE)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def wording(title: str = "A title", body: str = "A body", **more) -> Wording:
    values = {"repo": "vllm-project/vllm", "url": None, "extraction": Extraction(verdict=Verdict.SKIM)}
    return Wording(title=title, body=body, **{**values, **more})


def new(identity: str, position: int = 1, **more) -> EntryIntent:
    return EntryIntent(
        kind=IntentKind.NEW, position=position, line=position * 10, identity=identity, wording=wording(identity, **more)
    )


def same(identity: str, entry_id: int | None, position: int = 1) -> EntryIntent:
    return EntryIntent(
        kind=IntentKind.SAME,
        position=position,
        line=position,
        identity=identity,
        entry_id=entry_id,
        expected_revision=1,
    )


def revised(identity: str, entry_id: int, expected: int = 1, position: int = 1, **more) -> EntryIntent:
    return EntryIntent(
        kind=IntentKind.REVISED,
        position=position,
        line=position,
        identity=identity,
        entry_id=entry_id,
        expected_revision=expected,
        wording=wording(identity, **more),
    )


def document(name: str = "a.md", sha256: str | None = None, edition: date = DAY, **more) -> NewDocument:
    values = {"source": "seeds", "arrived_at": NOW, "state": DocumentState.ACCEPTED}
    return NewDocument(name=name, sha256=sha256 or f"sha of {name}", edition=edition, **{**values, **more})


def slot(channel: Channel = HERE, day: date = DAY, name: str = "09:00") -> Slot:
    return Slot(channel=channel, local_date=day, name=name, due_at=NOW)


def plan(entry_ids=(), *, of: Slot | None = None, layout: Layout = Layout.CHANNEL, **more) -> SlotPlan:
    of = of or slot()
    drafts = (
        Draft(kind=DeliveryKind.ROOT, subject=slot_subject(of)),
        *(Draft(kind=DeliveryKind.ENTRY, subject=entry_subject(entry_id)) for entry_id in entry_ids),
    )
    values = {"state": SlotState.PLANNED, "drafts": drafts, "detail": {"entries": list(entry_ids)}}
    return SlotPlan(slot=of, layout=layout, **{**values, **more})


def planned_entries(store: DeliveryStore, channel: Channel) -> tuple[Delivery, ...]:
    return tuple(one for one in store.planned(channel) if one.kind is DeliveryKind.ENTRY)


def at_once(count: int, run) -> list:
    """Call `run(number)` in so many threads at the same moment; give what they return, in order."""
    together, results = threading.Barrier(count), [None] * count

    def one(number: int) -> None:
        together.wait()
        results[number] = run(number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return results


@pytest.fixture
def ingest(database) -> IngestStore:
    return IngestStore(database)


@pytest.fixture
def store(database) -> DeliveryStore:
    return DeliveryStore(database)


@pytest.fixture
def entry_ids(ingest, database):
    """Record a document of so many new entries and give their ids."""
    names = itertools.count()

    def make(count: int = 3, **more) -> list[int]:
        intents = [new(f"entry {next(names)}", position) for position in range(1, count + 1)]
        assert ingest.record(document(f"{next(names)}.md", **more), intents, NOW)
        known = ingest.known_entries([intent.identity for intent in intents])
        return [known[intent.identity].id for intent in intents]

    return make
