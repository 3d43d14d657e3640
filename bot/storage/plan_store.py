"""`PlanStorage`: what planning reads and writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import structlog
from sqlalchemy import Connection, Row, exists, select, true, update

from bot.delivery.values import (
    Block,
    Candidate,
    ChannelState,
    DocumentNews,
    RecordedSlot,
    SlotPlan,
    entry_of,
    entry_subject,
)
from bot.model import Channel, Delivery, DeliveryKind, DeliveryState, DocumentState, Slot, SlotState
from bot.storage.engine import Database
from bot.storage.plan_rows import RENAME, Overtaken, key_of, ordinals_of, record, register
from bot.storage.rows import by_team, chunks, delivery_columns, delivery_of, in_channel, insert_new
from bot.storage.schema import appearances, channels, deliveries, documents, entries, slot_documents, slots, teams

log = structlog.get_logger(__name__)

_OF_CANDIDATE = (entries.c.id, entries.c.repo, entries.c.title, entries.c.body, entries.c.extraction)
_BEYOND = 2**63 - 1
"""An id that no entry has yet."""
_CHUNK = 500


class PlanStore:
    """Slots and the deliveries that they owe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def register_channel(self, channel: Channel, name: str, now: datetime) -> ChannelState:
        """Return the channel's state, having inserted it with `known_since=now` if it was new."""
        return self.register_channels({channel: name}, now)[channel]

    def register_channels(self, names: Mapping[Channel, str], now: datetime) -> Mapping[Channel, ChannelState]:
        """Return the state of each channel, having inserted those that were new with `known_since=now`."""
        with self._database.reading() as connection:
            known = _channel_states(connection, names)
        strange = [channel for channel in names if channel not in known]
        if not strange:
            return known
        with self._database.transaction() as connection:
            for team_id in {channel.team_id: None for channel in strange}:
                connection.execute(insert_new(connection, teams).values(team_id=team_id))
            mine = [{"team_id": c.team_id, "channel_id": c.channel_id, "name": names[c]} for c in strange]
            connection.execute(insert_new(connection, channels), [{**one, "known_since": now} for one in mine])
            connection.execute(RENAME, [{**key_of(channel), "of_name": names[channel]} for channel in strange])
            return {**known, **_channel_states(connection, {channel: names[channel] for channel in strange})}

    def slots_of(self, channels_: Sequence[Channel], since: date) -> Mapping[Channel, tuple[RecordedSlot, ...]]:
        """Return each channel's decided slots with `local_date >= since`, oldest first."""
        found: dict[Channel, list[RecordedSlot]] = {channel: [] for channel in channels_}
        with self._database.reading() as connection:
            for team_id, channel_ids in by_team(channels_).items():
                statement = (
                    select(
                        slots.c.id, slots.c.channel_id, slots.c.local_date, slots.c.name, slots.c.due_at, slots.c.state
                    )
                    .where(slots.c.team_id == team_id, slots.c.channel_id.in_(channel_ids), slots.c.local_date >= since)
                    .order_by(slots.c.due_at, slots.c.id)
                )
                for row in connection.execute(statement):
                    channel = Channel(team_id=team_id, channel_id=row.channel_id)
                    slot = Slot(channel=channel, local_date=row.local_date, name=row.name, due_at=row.due_at)
                    found[channel].append(RecordedSlot(id=row.id, slot=slot, state=SlotState(row.state)))
        return {channel: tuple(of_channel) for channel, of_channel in found.items()}

    def fresh_documents_of(self, channels_: Sequence[Channel]) -> Mapping[Channel, tuple[int, ...]]:
        """Return the ids of accepted documents that no slot of the channel has told about, for each channel.

        Order: edition, then id. Superseded documents are left out.
        """
        found: dict[Channel, list[int]] = {channel: [] for channel in channels_}
        everything = (
            select(documents.c.id)
            .where(documents.c.state == DocumentState.ACCEPTED, ~documents.c.superseded)
            .order_by(documents.c.edition, documents.c.id)
        )
        told = exists().where(
            slot_documents.c.team_id == channels.c.team_id,
            slot_documents.c.channel_id == channels.c.channel_id,
            slot_documents.c.document_id == documents.c.id,
        )
        with self._database.reading() as connection:
            for team_id, channel_ids in by_team(channels_).items():
                # Every pair of channel and document that was told lies in the key of that table, and is not fetched.
                fresh = (
                    select(channels.c.channel_id, documents.c.id)
                    .join_from(channels, documents, true())
                    .where(
                        channels.c.team_id == team_id,
                        channels.c.channel_id.in_(channel_ids),
                        documents.c.state == DocumentState.ACCEPTED,
                        ~documents.c.superseded,
                        ~told,
                    )
                    .order_by(documents.c.edition, documents.c.id)
                )
                for channel_id, document_id in connection.execute(fresh):
                    found[Channel(team_id=team_id, channel_id=channel_id)].append(document_id)
            untold = [channel for channel, of_channel in found.items() if not of_channel]
            for team_id, channel_ids in by_team(untold).items():
                mine = select(channels.c.channel_id).where(
                    channels.c.team_id == team_id, channels.c.channel_id.in_(channel_ids)
                )
                for channel_id in set(channel_ids) - set(connection.execute(mine).scalars()):  # not met yet
                    found[Channel(team_id=team_id, channel_id=channel_id)] += connection.execute(everything).scalars()
        return {channel: tuple(of_channel) for channel, of_channel in found.items()}

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

    def taken_by(self, channels_: Sequence[Channel], entry_ids: Sequence[int]) -> Mapping[Channel, frozenset[int]]:
        """Return those of `entry_ids` that have an ENTRY delivery in the channel, in whatever state, by channel."""
        found: dict[Channel, set[int]] = {channel: set() for channel in channels_}
        with self._database.reading() as connection:
            for team_id, channel_ids in by_team(channels_).items():
                for piece in chunks(entry_ids):
                    statement = select(deliveries.c.channel_id, deliveries.c.subject).where(
                        deliveries.c.team_id == team_id,
                        deliveries.c.channel_id.in_(channel_ids),
                        deliveries.c.kind == DeliveryKind.ENTRY,
                        deliveries.c.subject.in_([entry_subject(entry_id) for entry_id in piece]),
                    )
                    for channel_id, subject in connection.execute(statement):
                        entry_id = entry_of(subject)
                        if entry_id is not None:
                            found[Channel(team_id=team_id, channel_id=channel_id)].add(entry_id)
        return {channel: frozenset(of_channel) for channel, of_channel in found.items()}

    def record_plan(self, plan: SlotPlan, now: datetime) -> int | None:
        """Insert the slot with its drafts and told documents, or return None where another replica has done so."""
        channel = plan.slot.channel
        try:
            with self._database.transaction() as connection:
                register(connection, channel, None, now)
                return record(connection, (plan,), ordinals_of(connection, (channel,)), now)[0]
        except Overtaken:
            log.debug("slot_already_planned", channel=channel.channel_id, slot=plan.slot.name)
            return None

    def record_plans(self, plans: Sequence[SlotPlan], now: datetime) -> tuple[int | None, ...]:
        """Do as `record_plan` for each of the plans, in one transaction as far as nobody else is at their channels."""
        recorded = self._record_together(plans, now)
        return tuple(
            recorded[place] if place in recorded else self.record_plan(plan, now) for place, plan in enumerate(plans)
        )

    def _record_together(self, plans: Sequence[SlotPlan], now: datetime) -> dict[int, int | None]:
        """Record those plans whose channels are there and free; return, by place in `plans`, what came of them."""
        if len(plans) < 2:  # noqa: PLR2004 - one alone gains nothing
            return {}
        wanted = dict.fromkeys(plan.slot.channel for plan in plans)
        try:
            with self._database.transaction() as connection:
                # A channel that another is at is passed over: whoever holds many locks must not wait for one.
                ordinals = ordinals_of(connection, tuple(wanted), skip_locked=True)
                mine = [place for place, plan in enumerate(plans) if plan.slot.channel in ordinals]
                slot_ids = record(connection, [plans[place] for place in mine], ordinals, now)
                return dict(zip(mine, slot_ids, strict=True))
        except Overtaken:
            return {}

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


def _channel_states(connection: Connection, names: Mapping[Channel, str]) -> dict[Channel, ChannelState]:
    """Return the states of those channels that are known by these names."""
    found: dict[Channel, ChannelState] = {}
    for team_id, channel_ids in by_team(names).items():
        statement = select(channels).where(channels.c.team_id == team_id, channels.c.channel_id.in_(channel_ids))
        for row in connection.execute(statement):
            channel = Channel(team_id=team_id, channel_id=row.channel_id)
            if row.name != names[channel]:
                continue
            block = None
            if row.blocked_reason is not None:
                block = Block(reason=row.blocked_reason, advice=row.blocked_advice or "", until=row.blocked_until)
            found[channel] = ChannelState(
                channel=channel, known_since=row.known_since, baseline_at=row.baseline_at, block=block
            )
    return found


def newest_candidates(database: Database, limit: int) -> Iterator[Candidate]:
    """Give the newest `limit` entries as a policy sees them, the newest first, and read no more than are taken.

    Raises StorageUnavailable.
    """
    before, left = _BEYOND, limit
    while left > 0:
        statement = select(*_OF_CANDIDATE).where(entries.c.id < before).order_by(entries.c.id.desc())
        with database.reading() as connection:
            rows = connection.execute(statement.limit(min(left, _CHUNK))).all()
        if not rows:
            return
        yield from map(_candidate, rows)
        before, left = rows[-1].id, left - len(rows)


def _candidates(connection: Connection, document_ids: Sequence[int]) -> list[tuple[int, Candidate]]:
    statement = (
        select(appearances.c.document_id, *_OF_CANDIDATE)
        .join_from(appearances, entries, appearances.c.entry_id == entries.c.id)
        .where(appearances.c.document_id.in_(document_ids))
        .order_by(appearances.c.document_id, appearances.c.position)
    )
    return [(row.document_id, _candidate(row)) for row in connection.execute(statement)]


def _candidate(row: Row[*tuple[Any, ...]]) -> Candidate:
    return Candidate(
        entry_id=row.id,
        repo=row.repo,
        title=row.title,
        body=row.body,
        topics=tuple(row.extraction.get("topics", ())),
    )
