"""Numbers for the health page and the metrics, counted when asked for. Every function raises StorageUnavailable."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import case, func, select, text

from bot.model import DeliveryKind, DeliveryState
from bot.storage.engine import Database
from bot.storage.schema import deliveries, documents, entries, slots

_RECENT = timedelta(days=15)
"""How far back a slot may lie to count as a channel's newest."""


def documents_by_state(database: Database) -> Mapping[str, int]:
    """Count the documents that were not replaced by another version."""
    statement = select(documents.c.state, func.count()).where(~documents.c.superseded).group_by(documents.c.state)
    with database.reading() as connection:
        return {row[0]: row[1] for row in connection.execute(statement)}


def entry_count(database: Database) -> int:
    """Count the entries."""
    with database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(entries)).scalar_one())


def deliveries_by_state(database: Database) -> Mapping[str, int]:
    """Count the deliveries; every state has a number."""
    statement = select(deliveries.c.state, func.count()).group_by(deliveries.c.state)
    with database.reading() as connection:
        found = {row[0]: row[1] for row in connection.execute(statement)}
    return {state.value: found.get(state, 0) for state in DeliveryState}


def slot_lags(database: Database, now: datetime) -> Mapping[str, float]:
    """Return for each channel the seconds from its newest slot's due time to its last message, or to `now`.

    To `now` where some of its messages still wait. Slots without messages do not count.
    """
    open_states = (DeliveryState.PLANNED, DeliveryState.SENDING, DeliveryState.UNCERTAIN)
    told = (
        select(
            deliveries.c.slot_id,
            func.max(case((deliveries.c.state.in_(open_states), 1), else_=0)).label("waits"),
            func.max(deliveries.c.sent_at).label("last"),
        )
        .join(slots, slots.c.id == deliveries.c.slot_id)
        .where(
            deliveries.c.kind.in_((DeliveryKind.ROOT, DeliveryKind.ENTRY)), slots.c.local_date >= (now - _RECENT).date()
        )
        .group_by(deliveries.c.slot_id)
        .subquery()
    )
    newest = (
        select(slots.c.team_id, slots.c.channel_id, func.max(slots.c.due_at).label("due_at"))
        .join(told, told.c.slot_id == slots.c.id)
        .where(slots.c.due_at <= now)
        .group_by(slots.c.team_id, slots.c.channel_id)
        .subquery()
    )
    statement = (
        select(slots.c.channel_id, slots.c.due_at, told.c.waits, told.c.last)
        .join(told, told.c.slot_id == slots.c.id)
        .join(
            newest,
            (newest.c.team_id == slots.c.team_id)
            & (newest.c.channel_id == slots.c.channel_id)
            & (newest.c.due_at == slots.c.due_at),
        )
    )
    with database.reading() as connection:
        rows = connection.execute(statement).all()
    return {
        row.channel_id: max(0.0, ((now if row.waits else row.last) - row.due_at).total_seconds())
        for row in rows
        if row.waits or row.last is not None
    }


def reachable(database: Database) -> None:
    """Ask the database the smallest question; raise StorageUnavailable where it does not answer."""
    with database.reading() as connection:
        connection.execute(text("SELECT 1"))
