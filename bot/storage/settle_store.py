"""`ReconcileStorage`: what settles doubt about messages whose answer was lost."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import case, literal, null, select, update

from bot.delivery.values import Doubtful, Resolution
from bot.model import Delivery, DeliveryKind, DeliveryState, Layout
from bot.storage.engine import Database
from bot.storage.outbox import fold_entries
from bot.storage.rows import delivery_columns, delivery_of
from bot.storage.schema import UtcDateTime, deliveries, slots

EXPIRED = "its sender stopped before it could write down Slack's answer"


class SettleStore:
    """Expired claims, uncertain deliveries and their resolution."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def expire_sending(self, now: datetime, look_at: datetime) -> tuple[Delivery, ...]:
        """Turn SENDING with `claimed_until < now` into UNCERTAIN (an UPDATE: into PLANNED); return them."""
        again = deliveries.c.kind == DeliveryKind.UPDATE
        statement = (
            update(deliveries)
            .where(deliveries.c.state == DeliveryState.SENDING, deliveries.c.claimed_until < now)
            .values(
                state=case((again, DeliveryState.PLANNED), else_=DeliveryState.UNCERTAIN),
                next_try_at=case((again, null()), else_=literal(look_at, UtcDateTime)),
                error=EXPIRED,
                looks=0,
                claimed_by=None,
                claimed_until=None,
                updated_at=now,
            )
            .returning(*delivery_columns())
        )
        with self._database.statement() as connection:
            return tuple(sorted(map(delivery_of, connection.execute(statement)), key=lambda one: one.id))

    def uncertain(self, now: datetime, limit: int) -> tuple[Doubtful, ...]:
        """Return UNCERTAIN deliveries with `next_try_at <= now`, in order of channel and ordinal."""
        statement = (
            select(*delivery_columns(), deliveries.c.looks, deliveries.c.first_sending_at, slots.c.layout)
            .outerjoin(slots, slots.c.id == deliveries.c.slot_id)
            .where(deliveries.c.state == DeliveryState.UNCERTAIN, deliveries.c.next_try_at <= now)
            .order_by(deliveries.c.team_id, deliveries.c.channel_id, deliveries.c.ordinal, deliveries.c.part)
            .limit(limit)
        )
        with self._database.reading() as connection:
            return tuple(
                Doubtful(
                    delivery=delivery_of(row),
                    looks=row.looks,
                    oldest=row.first_sending_at,
                    folds=row.kind == DeliveryKind.ROOT and row.layout == Layout.COMPACT,
                )
                for row in connection.execute(statement)
            )

    def resolve(self, resolution: Resolution, now: datetime) -> bool:
        """Write the resolution, if the delivery is still in the expected state; return whether it was."""
        sent = resolution.state is DeliveryState.SENT
        values: dict[str, Any] = {
            "state": resolution.state,
            "error": resolution.error,
            "next_try_at": resolution.next_try_at,
            "looks": 0 if resolution.state is DeliveryState.PLANNED else resolution.looks,
            "updated_at": now,
        }
        if resolution.ts is not None:
            values["ts"] = resolution.ts
        if resolution.thread_ts is not None:
            values["thread_ts"] = resolution.thread_ts
        if sent:
            values["sent_at"] = now
        statement = (
            update(deliveries)
            .where(deliveries.c.id == resolution.delivery_id, deliveries.c.state == resolution.expected)
            .values(values)
            .returning(deliveries.c.kind, deliveries.c.slot_id, deliveries.c.ts)
        )
        with self._database.transaction() as connection:
            row = connection.execute(statement).one_or_none()
            if row is None:
                return False
            if sent and row.kind == DeliveryKind.ROOT and row.slot_id is not None:
                layout = connection.execute(select(slots.c.layout).where(slots.c.id == row.slot_id)).scalar()
                if layout == Layout.COMPACT:
                    fold_entries(connection, row.slot_id, row.ts, now)
        return True
