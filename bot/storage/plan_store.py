"""`PlanStorage`: what planning reads and writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import structlog
from sqlalchemy import Connection, select, update

from bot.delivery.values import (
    Block,
    Candidate,
    ChannelState,
    DocumentNews,
    Draft,
    RecordedSlot,
    SlotPlan,
    entry_of,
    entry_subject,
)
from bot.model import Channel, Delivery, DeliveryKind, DeliveryState, DocumentState, Slot, SlotState
from bot.storage.engine import Database
from bot.storage.rows import chunks, delivery_columns, delivery_of, in_channel, insert_new, new_key
from bot.storage.schema import appearances, channels, deliveries, documents, entries, slot_documents, slots, teams

log = structlog.get_logger(__name__)


class _Overtaken(Exception):
    """Another replica has decided this already. Undoes the transaction."""


class PlanStore:
    """Slots and the deliveries that they owe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def register_channel(self, channel: Channel, name: str, now: datetime) -> ChannelState:
        """Return the channel's state, having inserted it with `known_since=now` if it was new."""
        with self._database.reading() as connection:
            known = _channel_state(connection, channel, name)
        if known is not None:
            return known
        with self._database.transaction() as connection:
            register(connection, channel, name, now)
            connection.execute(update(channels).where(in_channel(channels, channel)).values(name=name))
            state = _channel_state(connection, channel, name)
        if state is None:  # pragma: no cover - the row was written a line above
            raise LookupError(channel)
        return state

    def slots(self, channel: Channel, since: date) -> tuple[RecordedSlot, ...]:
        """Return the channel's decided slots with `local_date >= since`, oldest first."""
        statement = (
            select(slots.c.id, slots.c.local_date, slots.c.name, slots.c.due_at, slots.c.state)
            .where(in_channel(slots, channel), slots.c.local_date >= since)
            .order_by(slots.c.due_at, slots.c.id)
        )
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return tuple(
            RecordedSlot(
                id=row.id,
                slot=Slot(channel=channel, local_date=row.local_date, name=row.name, due_at=row.due_at),
                state=SlotState(row.state),
            )
            for row in rows
        )

    def fresh_documents(self, channel: Channel) -> tuple[int, ...]:
        """Return the accepted, not superseded documents that no slot of the channel told about: by edition, then id."""
        told = select(slot_documents.c.document_id).where(
            in_channel(slot_documents, channel), slot_documents.c.document_id == documents.c.id
        )
        statement = (
            select(documents.c.id)
            .where(documents.c.state == DocumentState.ACCEPTED, ~documents.c.superseded, ~told.exists())
            .order_by(documents.c.edition, documents.c.id)
        )
        with self._database.reading() as connection:
            return tuple(connection.execute(statement).scalars())

    def document_news(self, ids: Sequence[int]) -> Mapping[int, DocumentNews]:
        """Return the documents with their entries (present wording) by position, in the order asked for."""
        found: dict[int, date] = {}
        news: dict[int, list[Candidate]] = {}
        with self._database.reading() as connection:
            for piece in chunks(ids):
                heads = select(documents.c.id, documents.c.edition).where(documents.c.id.in_(piece))
                found |= {row.id: row.edition for row in connection.execute(heads)}
                for document_id, candidate in _candidates(connection, piece):
                    news.setdefault(document_id, []).append(candidate)
        return {
            document_id: DocumentNews(
                id=document_id, edition=found[document_id], entries=tuple(news.get(document_id, ()))
            )
            for document_id in ids
            if document_id in found
        }

    def taken(self, channel: Channel, entry_ids: Sequence[int]) -> frozenset[int]:
        """Return those of `entry_ids` that have an ENTRY delivery in the channel, in whatever state."""
        subjects: set[str] = set()
        with self._database.reading() as connection:
            for piece in chunks(entry_ids):
                statement = select(deliveries.c.subject).where(
                    in_channel(deliveries, channel),
                    deliveries.c.kind == DeliveryKind.ENTRY,
                    deliveries.c.subject.in_([entry_subject(entry_id) for entry_id in piece]),
                )
                subjects.update(connection.execute(statement).scalars())
        return frozenset(entry_id for subject in subjects if (entry_id := entry_of(subject)) is not None)

    def record_plan(self, plan: SlotPlan, now: datetime) -> int | None:
        """Insert the slot with its drafts and told documents, or return None where another replica has done so."""
        channel = plan.slot.channel
        try:
            return self._record_plan(plan, now)
        except _Overtaken:
            log.debug("slot_already_planned", channel=channel.channel_id, slot=plan.slot.name)
            return None

    def _record_plan(self, plan: SlotPlan, now: datetime) -> int:
        channel = plan.slot.channel
        with self._database.transaction() as connection:
            register(connection, channel, None, now)
            slot_id = _insert_slot(connection, plan, now)
            if slot_id is None:
                raise _Overtaken
            if plan.baseline:
                first = update(channels).where(in_channel(channels, channel), channels.c.baseline_at.is_(None))
                connection.execute(first.values(baseline_at=now))
            insert_drafts(connection, channel, plan.drafts, slot_id, now)
            told = {"team_id": channel.team_id, "channel_id": channel.channel_id, "slot_id": slot_id}
            for piece in chunks(plan.documents):
                rows = [{**told, "document_id": document_id} for document_id in piece]
                new = insert_new(connection, slot_documents).values(rows)
                if len(connection.execute(new.returning(slot_documents.c.document_id)).all()) < len(rows):
                    # Another slot of this channel has told about them meanwhile: a second root must not.
                    raise _Overtaken
        return slot_id

    def planned(self, channel: Channel) -> tuple[Delivery, ...]:
        """Return the channel's PLANNED ROOT and ENTRY deliveries in order."""
        statement = (
            select(*delivery_columns())
            .where(
                deliveries.c.state == DeliveryState.PLANNED,
                in_channel(deliveries, channel),
                deliveries.c.kind.in_((DeliveryKind.ROOT, DeliveryKind.ENTRY)),
            )
            .order_by(deliveries.c.ordinal, deliveries.c.part)
        )
        with self._database.reading() as connection:
            return tuple(map(delivery_of, connection.execute(statement)))

    def skip(self, delivery_ids: Sequence[int], reason: str, now: datetime) -> int:
        """Turn those that are still PLANNED into SKIPPED with `error=reason`; return how many."""
        skipped = 0
        with self._database.transaction() as connection:
            for piece in chunks(delivery_ids):
                statement = (
                    update(deliveries)
                    .where(deliveries.c.id.in_(piece), deliveries.c.state == DeliveryState.PLANNED)
                    .values(state=DeliveryState.SKIPPED, error=reason, updated_at=now)
                )
                skipped += connection.execute(statement).rowcount
        return skipped


def register(connection: Connection, channel: Channel, name: str | None, now: datetime) -> None:
    """Make sure that the channel and its workspace have their rows."""
    connection.execute(insert_new(connection, teams).values(team_id=channel.team_id))
    connection.execute(
        insert_new(connection, channels).values(
            team_id=channel.team_id, channel_id=channel.channel_id, name=name, known_since=now
        )
    )


def insert_drafts(
    connection: Connection, channel: Channel, drafts: Sequence[Draft], slot_id: int | None, now: datetime
) -> list[str]:
    """Insert deliveries with the channel's next ordinals, passing over those that exist; return the keys offered."""
    if not drafts:
        return []
    # This row's lock also makes the planners of one channel wait for each other.
    last = connection.execute(
        update(channels)
        .where(in_channel(channels, channel))
        .values(ordinal=channels.c.ordinal + len(drafts))
        .returning(channels.c.ordinal)
    ).scalar_one()
    rows: list[dict[str, Any]] = [
        {
            "key": new_key(),
            "team_id": channel.team_id,
            "channel_id": channel.channel_id,
            "kind": draft.kind,
            "subject": draft.subject,
            "revision": draft.revision,
            "part": draft.part,
            "slot_id": slot_id,
            "ordinal": last - len(drafts) + place,
            "state": draft.state,
            "error": draft.error,
            "planned_at": now,
            "updated_at": now,
        }
        for place, draft in enumerate(drafts, start=1)
    ]
    connection.execute(insert_new(connection, deliveries), rows)
    return [row["key"] for row in rows]


def _insert_slot(connection: Connection, plan: SlotPlan, now: datetime) -> int | None:
    slot = plan.slot
    statement = insert_new(connection, slots).values(
        team_id=slot.channel.team_id,
        channel_id=slot.channel.channel_id,
        local_date=slot.local_date,
        name=slot.name,
        due_at=slot.due_at,
        state=plan.state,
        planned_at=now,
        layout=plan.layout,
        detail={**plan.detail, "layout": plan.layout},
    )
    slot_id = connection.execute(statement.returning(slots.c.id)).scalar()
    return None if slot_id is None else int(slot_id)


def _channel_state(connection: Connection, channel: Channel, name: str) -> ChannelState | None:
    row = connection.execute(select(channels).where(in_channel(channels, channel))).one_or_none()
    if row is None or row.name != name:
        return None
    block = None
    if row.blocked_reason is not None:
        block = Block(reason=row.blocked_reason, advice=row.blocked_advice or "", until=row.blocked_until)
    return ChannelState(channel=channel, known_since=row.known_since, baseline_at=row.baseline_at, block=block)


def _candidates(connection: Connection, document_ids: Sequence[int]) -> list[tuple[int, Candidate]]:
    statement = (
        select(
            appearances.c.document_id,
            entries.c.id,
            entries.c.repo,
            entries.c.title,
            entries.c.body,
            entries.c.extraction,
        )
        .join_from(appearances, entries, appearances.c.entry_id == entries.c.id)
        .where(appearances.c.document_id.in_(document_ids))
        .order_by(appearances.c.document_id, appearances.c.position)
    )
    return [
        (
            row.document_id,
            Candidate(
                entry_id=row.id,
                repo=row.repo,
                title=row.title,
                body=row.body,
                topics=tuple(row.extraction.get("topics", ())),
            ),
        )
        for row in connection.execute(statement)
    ]
