"""`ViewStorage`: what messages are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from bot.delivery.values import SentMessage, SlotView, entry_of, entry_subject
from bot.model import Channel, DeliveryKind, DeliveryState, Entry, Layout, Slot, SlotState
from bot.storage.engine import Database
from bot.storage.entry_rows import read_entries
from bot.storage.rows import chunks, in_channel
from bot.storage.schema import deliveries, slots

_ROOT = deliveries.alias("root")


class ViewStore:
    """Slots, entries and where they stand."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def slot_views(self, slot_ids: Sequence[int]) -> Mapping[int, SlotView]:
        """Return the slots, those that exist, read at once."""
        found: dict[int, SlotView] = {}
        with self._database.reading() as connection:
            for piece in chunks(slot_ids):
                statement = (
                    select(slots, _ROOT.c.ts, _ROOT.c.sent_at, _ROOT.c.told_revision)
                    .outerjoin(_ROOT, (_ROOT.c.slot_id == slots.c.id) & (_ROOT.c.kind == DeliveryKind.ROOT))
                    .where(slots.c.id.in_(piece))
                )
                dropped = _dropped(connection, piece)
                found |= {
                    row.id: _slot_view(row, dropped.get(row.id, frozenset())) for row in connection.execute(statement)
                }
        return found

    def entries(self, ids: Sequence[int]) -> Mapping[int, Entry]:
        """Return the entries in their present wording, those that exist."""
        with self._database.reading() as connection:
            return read_entries(connection, ids)

    def sent_messages(self, channel: Channel, entry_ids: Sequence[int]) -> Mapping[int, SentMessage]:
        """Return where those entries stand in the channel, for the SENT ones."""
        found: dict[int, SentMessage] = {}
        with self._database.reading() as connection:
            for piece in chunks(entry_ids):
                statement = (
                    select(
                        deliveries.c.subject,
                        deliveries.c.ts,
                        deliveries.c.thread_ts,
                        deliveries.c.told_revision,
                        slots.c.local_date,
                        _ROOT.c.ts.label("root_ts"),
                    )
                    .outerjoin(slots, slots.c.id == deliveries.c.slot_id)
                    .outerjoin(_ROOT, (_ROOT.c.slot_id == deliveries.c.slot_id) & (_ROOT.c.kind == DeliveryKind.ROOT))
                    .where(
                        in_channel(deliveries, channel),
                        deliveries.c.kind == DeliveryKind.ENTRY,
                        deliveries.c.subject.in_([entry_subject(entry_id) for entry_id in piece]),
                        deliveries.c.part == 0,
                        deliveries.c.state == DeliveryState.SENT,
                        deliveries.c.ts.is_not(None),
                    )
                )
                for row in connection.execute(statement):
                    entry_id = entry_of(row.subject)
                    if entry_id is not None:
                        found[entry_id] = SentMessage(
                            entry_id=entry_id,
                            ts=row.ts,
                            slot_date=row.local_date,
                            root_ts=row.root_ts,
                            told_revision=row.told_revision or 1,
                            thread_ts=row.thread_ts,
                        )
        return found


def _dropped(connection: Connection, slot_ids: Sequence[int]) -> Mapping[int, frozenset[int]]:
    """Return the entries whose delivery is skipped, by slot."""
    statement = select(deliveries.c.slot_id, deliveries.c.subject).where(
        deliveries.c.slot_id.in_(slot_ids),
        deliveries.c.kind == DeliveryKind.ENTRY,
        deliveries.c.part == 0,
        deliveries.c.state == DeliveryState.SKIPPED,
    )
    found: dict[int, set[int]] = {}
    for row in connection.execute(statement):
        entry_id = entry_of(row.subject)
        if entry_id is not None:
            found.setdefault(row.slot_id, set()).add(entry_id)
    return {slot_id: frozenset(entry_ids) for slot_id, entry_ids in found.items()}


def _slot_view(row: Row[*tuple[Any, ...]], dropped: frozenset[int]) -> SlotView:
    channel = Channel(team_id=row.team_id, channel_id=row.channel_id)
    return SlotView(
        id=row.id,
        slot=Slot(channel=channel, local_date=row.local_date, name=row.name, due_at=row.due_at),
        state=SlotState(row.state),
        layout=Layout(row.layout),
        detail=row.detail,
        root_ts=row.ts,
        root_sent_at=row.sent_at,
        root_revision=row.told_revision or 0,
        dropped=dropped,
    )
