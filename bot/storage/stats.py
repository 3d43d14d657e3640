"""Numbers for the health page and the metrics, counted when asked for. Every function raises StorageUnavailable."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import func, select, text

from bot.model import DeliveryKind, DeliveryState
from bot.storage.engine import Database
from bot.storage.schema import deliveries, documents, entries, meta


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


def lag(database: Database, now: datetime) -> timedelta:
    """Return for how long the oldest planned message (updates left out) has waited."""
    statement = select(func.min(deliveries.c.planned_at)).where(
        deliveries.c.state == DeliveryState.PLANNED, deliveries.c.kind != DeliveryKind.UPDATE
    )
    with database.reading() as connection:
        oldest = connection.execute(statement).scalar()
    return timedelta(0) if oldest is None else max(now - oldest, timedelta(0))


def reachable(database: Database) -> None:
    """Ask the database the smallest question; raise StorageUnavailable where it does not answer."""
    with database.reading() as connection:
        connection.execute(text("SELECT 1"))


def remembered(database: Database, key: str) -> str | None:
    """Return a value of `meta`."""
    with database.reading() as connection:
        return connection.execute(select(meta.c.value).where(meta.c.key == key)).scalar()


def remember(database: Database, key: str, value: str) -> None:
    """Set a value of `meta`."""
    statement = text(
        "INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    )
    with database.statement() as connection:
        connection.execute(statement, {"key": key, "value": value})
