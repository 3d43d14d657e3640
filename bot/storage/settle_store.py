"""`ReconcileStorage`: what settles doubt about messages whose answer was lost."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, case, literal, null, select, update

from bot.delivery.values import Doubtful, Resolution
from bot.model import Delivery, DeliveryKind, DeliveryState, Layout
from bot.storage.engine import Database
from bot.storage.outbox_statements import SENT_COLUMNS
from bot.storage.quick import Quick
from bot.storage.rows import delivery_columns, delivery_of
from bot.storage.schema import UtcDateTime, deliveries, slots
from bot.storage.sent import SentRow, after_sent

EXPIRED = "its sender stopped before it could write down Slack's answer"


class SettleStore:
    """Expired claims, uncertain deliveries and their resolution."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._quick = Quick(database)

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
                doubts=deliveries.c.doubts + case((again, 0), else_=1),
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
            select(*delivery_columns(), deliveries.c.looks, deliveries.c.first_sending_at)
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
                )
                for row in connection.execute(statement)
            )

    def resolve(self, resolution: Resolution, now: datetime) -> bool:
        """Write the resolution, if the delivery is still in the expected state and attempt; return whether it was.

        What a look found is proof, and taken in every state but SENT.
        """
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
        if resolution.expected is not DeliveryState.UNCERTAIN:  # a person's word: all that was counted begins anew
            values |= {"doubts": 0, "refusals": 0}
        same = [deliveries.c.id == resolution.delivery_id]
        if sent and resolution.attempt is not None:
            same.append(deliveries.c.state != DeliveryState.SENT)
        else:
            same.append(deliveries.c.state == resolution.expected)
        if not sent and resolution.attempt is not None:
            same.append(deliveries.c.attempts == resolution.attempt)
        statement = (
            update(deliveries).where(*same).values(values).returning(*(deliveries.c[name] for name in SENT_COLUMNS))
        )
        with self._database.transaction() as connection:
            row = connection.execute(statement).one_or_none()
            if row is None:
                return False
            if sent:
                self._after(connection, SentRow(*row), now)
        return True

    def _after(self, connection: Connection, row: SentRow, now: datetime) -> None:
        def run(statement: str, values: tuple[Any, ...]) -> Any:
            return connection.exec_driver_sql(self._quick.sql(statement), values)

        wanted = select(slots.c.update_revision, slots.c.layout).where(slots.c.id == row.slot_id)
        slot = connection.execute(wanted).one_or_none()
        folds = slot is not None and slot.layout == Layout.COMPACT
        update_revision = None if slot is None else slot.update_revision
        after_sent(run, row, self._quick.at(now), update_revision=update_revision, folds=folds)
