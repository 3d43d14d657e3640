"""`DeskStorage`: what a person asks and decides."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select

from bot.delivery.values import Status
from bot.model import Channel, Delivery, DeliveryState
from bot.storage.engine import Database
from bot.storage.pace_store import blocks
from bot.storage.rows import delivery_columns, delivery_of
from bot.storage.schema import channels, deliveries, teams

HELD_SHOWN = 100


class DeskStore:
    """Deliveries by key and state, and the state of everything in numbers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def by_key(self, key: str) -> Delivery | None:
        """Return the delivery with this key (or a prefix of it that only one has)."""
        statement = (
            select(*delivery_columns())
            .where(deliveries.c.key.startswith(key, autoescape=True))
            .order_by(deliveries.c.key)
            .limit(2)
        )
        with self._database.reading() as connection:
            found = [delivery_of(row) for row in connection.execute(statement)] if key else []
        if len(found) == 1 or (found and found[0].key == key):
            return found[0]
        return None

    def in_state(self, state: DeliveryState, limit: int) -> tuple[Delivery, ...]:
        """Return deliveries in this state, oldest first."""
        statement = (
            select(*delivery_columns()).where(deliveries.c.state == state).order_by(deliveries.c.id).limit(limit)
        )
        with self._database.reading() as connection:
            return tuple(map(delivery_of, connection.execute(statement)))

    def status(self, now: datetime) -> Status:
        """Return the numbers, what is held (the oldest hundred) and what is blocked."""
        del now
        counts = select(deliveries.c.state, func.count()).group_by(deliveries.c.state)
        oldest = select(func.min(deliveries.c.planned_at)).where(deliveries.c.state == DeliveryState.PLANNED)
        with self._database.reading() as connection:
            by_state = {row[0]: row[1] for row in connection.execute(counts)}
            oldest_planned_at = connection.execute(oldest).scalar()
        return Status(
            by_state=by_state,
            held=self.in_state(DeliveryState.HELD, HELD_SHOWN),
            channel_blocks={
                Channel(team_id=key[0], channel_id=key[1]): block
                for key, block in blocks(self._database, channels, "team_id", "channel_id")
            },
            team_blocks={key[0]: block for key, block in blocks(self._database, teams, "team_id")},
            oldest_planned_at=oldest_planned_at,
        )
