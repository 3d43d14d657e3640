"""What readers turn over: editions by date, what a channel was sent on a day, entries one by one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from sqlalchemy import Text, and_, cast, exists, func, literal, select

from bot.delivery.values import entry_of
from bot.model import Channel, DeliveryKind, DeliveryState, DocumentState, Entry
from bot.storage.engine import Database
from bot.storage.entry_rows import read_entries
from bot.storage.rows import in_channel
from bot.storage.schema import appearances, deliveries, documents, slot_documents, slots


class Editions:
    """Editions as readers know them. Every method raises StorageUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def entry(self, entry_id: int) -> Entry | None:
        """Return the entry in its present wording, if it exists."""
        with self._database.reading() as connection:
            return read_entries(connection, [entry_id]).get(entry_id)

    def latest(self, channel: Channel | None) -> date | None:
        """Return the newest edition that the channel was told about and sent an entry of (no channel: of all)."""
        newest = select(func.max(documents.c.edition)).where(
            documents.c.state == DocumentState.ACCEPTED, ~documents.c.superseded
        )
        if channel is not None:
            told = exists().where(in_channel(slot_documents, channel), slot_documents.c.document_id == documents.c.id)
            sent = exists(
                select(appearances.c.id)
                .join(
                    deliveries,
                    and_(
                        in_channel(deliveries, channel),
                        deliveries.c.kind == DeliveryKind.ENTRY,
                        deliveries.c.subject == literal("entry:", Text).concat(cast(appearances.c.entry_id, Text)),
                        deliveries.c.state == DeliveryState.SENT,
                    ),
                )
                .where(appearances.c.document_id == documents.c.id)
            )
            newest = newest.where(told, sent)
        with self._database.reading() as connection:
            return connection.execute(newest).scalar()

    def sent_on(self, team_id: str, day: date) -> Mapping[str, tuple[Entry, ...]]:
        """Return what each channel was sent in its slots of this local date, in order, by channel id."""
        statement = (
            select(deliveries.c.channel_id, deliveries.c.subject)
            .join(slots, slots.c.id == deliveries.c.slot_id)
            .where(
                slots.c.local_date == day,
                slots.c.team_id == team_id,
                deliveries.c.kind == DeliveryKind.ENTRY,
                deliveries.c.part == 0,
                deliveries.c.state == DeliveryState.SENT,
            )
            .order_by(deliveries.c.channel_id, deliveries.c.ordinal)
        )
        by_channel: dict[str, list[int]] = {}
        with self._database.reading() as connection:
            for row in connection.execute(statement):
                entry_id = entry_of(row.subject)
                if entry_id is not None:
                    by_channel.setdefault(row.channel_id, []).append(entry_id)
            found = read_entries(connection, {entry_id for ids in by_channel.values() for entry_id in ids})
        return {
            channel_id: tuple(found[entry_id] for entry_id in ids if entry_id in found)
            for channel_id, ids in by_channel.items()
        }
