"""`UpdateStorage`: what keeps sent messages true."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Text,
    and_,
    case,
    cast,
    exists,
    func,
    literal,
    or_,
    select,
    text,
    union,
    update,
)

from bot.delivery.values import Draft, EntryBehind, RootBehind, Wording
from bot.model import Channel, Delivery, DeliveryKind, DeliveryState, SlotState
from bot.storage.engine import Database
from bot.storage.plan_rows import insert_drafts
from bot.storage.rows import DELIVERY_COLUMNS, delivery_of, in_channels, same_channel
from bot.storage.schema import NEVER_UPDATED, Id, channels, deliveries, entries, entry_revisions, slots, teams

HORIZON = timedelta(days=30)
"""Only entries revised in the last thirty days (counted back from the newest revision) are looked at: so the search
for messages that are behind does not grow with the archive."""

_UPDATE = deliveries.alias("change")
_ROOT = deliveries.alias("root")
_PARENT = deliveries.alias("parent")
_ENTRY = deliveries.alias("entry")
_UNDONE = (DeliveryState.PLANNED, DeliveryState.SENDING, DeliveryState.UNCERTAIN)


def _of_slot(delivery: FromClause) -> ColumnElement[bool]:
    return and_(delivery.c.slot_id == slots.c.id, delivery.c.kind == DeliveryKind.ENTRY)


_ENTRY_ID = case((_ENTRY.c.kind == DeliveryKind.ENTRY, cast(func.substr(_ENTRY.c.subject, len("entry:") + 1), Id)))
"""In a CASE, because a database may try the cast on a root's subject before it looks at the kind."""

_DUE = (
    1
    + select(func.coalesce(func.sum(entries.c.revision - 1), 0))
    .join_from(_ENTRY, entries, entries.c.id == _ENTRY_ID)
    .where(_of_slot(_ENTRY), _ENTRY.c.part == 0, _ENTRY.c.state != DeliveryState.SKIPPED)
    .correlate(slots)
    .scalar_subquery()
    + select(func.count())
    .where(_of_slot(_ENTRY), _ENTRY.c.part == 0, _ENTRY.c.state == DeliveryState.SENT)
    .correlate(slots)
    .scalar_subquery()
)
"""The revision that the root of a slot should show."""


class UpdateStore:
    """Messages that are behind, and the updates that bring them up."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def entries_behind(self, limit: int, *, among: Collection[Channel]) -> tuple[EntryBehind, ...]:
        """Return sent entries whose revision is greater than told, without an UPDATE of that revision."""
        told = func.coalesce(deliveries.c.told_revision, 1)
        with self._database.reading() as connection:
            statement = (
                select(
                    deliveries, entries.c.id.label("entry_id"), entries.c.revision.label("present"), told.label("told")
                )
                .join(entries, deliveries.c.subject == _subject_of_entry())
                .where(
                    _recently_revised(connection),
                    in_channels(deliveries, among),
                    deliveries.c.kind == DeliveryKind.ENTRY,
                    deliveries.c.part == 0,
                    deliveries.c.state == DeliveryState.SENT,
                    deliveries.c.ts.is_not(None),
                    ~deliveries.c.folded,
                    told < entries.c.revision,
                    ~_has_update(
                        deliveries,
                        or_(
                            _UPDATE.c.revision == entries.c.revision,
                            _UPDATE.c.state == DeliveryState.SKIPPED,
                        ),
                    ),
                )
                .order_by(deliveries.c.id)
                .limit(limit)
            )
            return tuple(
                EntryBehind(
                    channel=Channel(team_id=row.team_id, channel_id=row.channel_id),
                    entry_id=row.entry_id,
                    told_revision=row.told,
                    revision=row.present,
                    ts=row.ts,
                    slot_id=row.slot_id,
                    thread_ts=row.thread_ts,
                )
                for row in connection.execute(statement)
            )

    def roots_behind(self, limit: int, *, among: Collection[Channel]) -> tuple[RootBehind, ...]:
        """Return sent roots of planned slots that are done, show less than they should, and have no UPDATE for it."""
        with self._database.reading() as connection:
            candidates = union(
                select(slots.c.id).where(text(NEVER_UPDATED)),
                select(_ENTRY.c.slot_id)
                .join(entries, _ENTRY.c.subject == _subject_of_entry())
                .where(_recently_revised(connection), _ENTRY.c.kind == DeliveryKind.ENTRY),
            )
            statement = (
                select(slots.c.id, _ROOT.c.team_id, _ROOT.c.channel_id, _ROOT.c.subject, _ROOT.c.ts, _DUE.label("due"))
                .join(_ROOT, and_(_ROOT.c.slot_id == slots.c.id, _ROOT.c.kind == DeliveryKind.ROOT))
                .where(
                    slots.c.id.in_(candidates),
                    slots.c.state == SlotState.PLANNED,
                    slots.c.update_revision < _DUE,
                    in_channels(_ROOT, among),
                    _ROOT.c.state == DeliveryState.SENT,
                    _ROOT.c.ts.is_not(None),
                    ~exists().where(_of_slot(_ENTRY), _ENTRY.c.state.in_(_UNDONE)).correlate(slots),
                    ~_has_update(_ROOT, _UPDATE.c.state == DeliveryState.SKIPPED),
                )
                .order_by(slots.c.id)
                .limit(limit)
            )
            return tuple(
                RootBehind(
                    channel=Channel(team_id=row.team_id, channel_id=row.channel_id),
                    slot_id=row.id,
                    subject=row.subject,
                    revision=row.due,
                    ts=row.ts,
                )
                for row in connection.execute(statement)
            )

    def wordings(self, entry_id: int, revisions: Sequence[int]) -> Mapping[int, Wording]:
        """Return the named revisions of an entry, those that exist."""
        statement = select(entry_revisions).where(
            entry_revisions.c.entry_id == entry_id, entry_revisions.c.revision.in_(revisions)
        )
        with self._database.reading() as connection:
            return {
                row.revision: Wording(revision=row.revision, title=row.title, body=row.body, verdict=row.verdict)
                for row in connection.execute(statement)
            }

    def add_deliveries(self, channel: Channel, drafts: Sequence[Draft], slot_id: int | None, now: datetime) -> int:
        """Insert drafts (updates, replies) with the next ordinals; pass over those that exist; return how many."""
        with self._database.transaction() as connection:
            keys = insert_drafts(connection, channel, drafts, slot_id, now)
            of_root = [
                draft.revision
                for draft in drafts
                if draft.kind is DeliveryKind.UPDATE and draft.subject.startswith("slot:")
            ]
            if of_root and slot_id is not None:
                connection.execute(
                    update(slots)
                    .where(slots.c.id == slot_id, slots.c.update_revision < max(of_root))
                    .values(update_revision=max(of_root))
                )
            new = select(func.count()).select_from(deliveries).where(deliveries.c.key.in_(keys))
            return int(connection.execute(new).scalar_one())

    def due_updates(self, now: datetime, limit: int, *, among: Collection[Channel]) -> tuple[Delivery, ...]:
        """Return PLANNED UPDATE deliveries that may go, oldest first; `ts` is that of the message to change."""
        columns = [_PARENT.c.ts if name == "ts" else _UPDATE.c[name] for name in DELIVERY_COLUMNS]
        statement = (
            select(*columns)
            .select_from(_UPDATE)
            .join(
                _PARENT,
                and_(
                    same_channel(_PARENT, _UPDATE),
                    _PARENT.c.kind.in_([DeliveryKind.ENTRY, DeliveryKind.ROOT]),
                    _PARENT.c.subject == _UPDATE.c.subject,
                    _PARENT.c.part == _UPDATE.c.part,
                    _PARENT.c.state == DeliveryState.SENT,
                    _PARENT.c.ts.is_not(None),
                ),
            )
            .join(channels, same_channel(channels, _UPDATE))
            .where(
                in_channels(_UPDATE, among),
                _UPDATE.c.state == DeliveryState.PLANNED,
                _UPDATE.c.kind == DeliveryKind.UPDATE,
                or_(_UPDATE.c.next_try_at.is_(None), _UPDATE.c.next_try_at <= now),
                or_(channels.c.blocked_reason.is_(None), channels.c.blocked_until <= now),
                ~exists().where(teams.c.team_id == _UPDATE.c.team_id, teams.c.blocked_reason.is_not(None)),
            )
            .order_by(_UPDATE.c.planned_at, _UPDATE.c.id)
            .limit(limit)
        )
        with self._database.reading() as connection:
            return tuple(map(delivery_of, connection.execute(statement)))


def _subject_of_entry() -> ColumnElement[str]:
    return literal("entry:", Text).concat(cast(entries.c.id, Text))


def _recently_revised(connection: Connection) -> ColumnElement[bool]:
    newest = connection.execute(select(func.max(entries.c.revised_at)).where(text("revision > 1"))).scalar()
    if newest is None:
        return literal(value=False)
    return and_(text("entries.revision > 1"), entries.c.revised_at >= newest - HORIZON)


def _has_update(message: FromClause, such: ColumnElement[bool]) -> ColumnElement[bool]:
    return exists().where(
        same_channel(_UPDATE, message),
        _UPDATE.c.kind == DeliveryKind.UPDATE,
        _UPDATE.c.subject == message.c.subject,
        _UPDATE.c.part == message.c.part,
        such,
    )
