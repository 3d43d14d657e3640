"""Documents and deliveries as the command line lists them: plain dictionaries, ready for JSON."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from bot.delivery.values import entry_of
from bot.storage.engine import Database
from bot.storage.schema import alerts, channels, deliveries, documents


def list_documents(database: Database, *, state: str | None = None, limit: int = 200) -> list[dict[str, Any]]:
    """List the newest `limit` documents, the oldest of them first. Raises StorageUnavailable.

    A replaced version of a file is not listed: of each file, what counts now.
    """
    statement = select(documents).where(~documents.c.superseded).order_by(documents.c.id.desc()).limit(limit)
    if state is not None:
        statement = statement.where(documents.c.state == state)
    with database.reading() as connection:
        rows = connection.execute(statement).all()
    return [
        {
            "document": row.name,
            "source": row.source,
            "edition": row.edition.isoformat(),
            "state": row.state,
            "entries": row.entry_count,
            "arrived_at": row.arrived_at.isoformat(),
            "problems": row.problems,
        }
        for row in reversed(rows)
    ]


def list_deliveries(
    database: Database, *, state: str | None = None, channel_id: str | None = None, limit: int = 200
) -> list[dict[str, Any]]:
    """List the newest `limit` deliveries in the order of sending within each channel. Raises StorageUnavailable."""
    newest = select(deliveries.c.id).order_by(deliveries.c.id.desc()).limit(limit)
    if state is not None:
        newest = newest.where(deliveries.c.state == state)
    if channel_id is not None:
        newest = newest.where(deliveries.c.channel_id == channel_id)
    statement = (
        select(deliveries)
        .where(deliveries.c.id.in_(newest))
        .order_by(deliveries.c.team_id, deliveries.c.channel_id, deliveries.c.ordinal, deliveries.c.part)
    )
    with database.reading() as connection:
        return [
            {
                "channel": row.channel_id,
                "entry_id": entry_of(row.subject),
                "kind": row.kind,
                "state": row.state,
                "ts": row.ts,
                "attempts": row.attempts,
                "error": row.error,
                "key": row.key,
                "part": row.part,
            }
            for row in connection.execute(statement)
        ]


def list_channels(database: Database) -> list[dict[str, Any]]:
    """List the known channels with what holds each of them back. Raises StorageUnavailable."""
    waiting = (
        select(func.count())
        .where(
            deliveries.c.state == "planned",
            deliveries.c.team_id == channels.c.team_id,
            deliveries.c.channel_id == channels.c.channel_id,
        )
        .correlate(channels)
        .scalar_subquery()
    )
    statement = select(channels, waiting.label("waiting")).order_by(channels.c.team_id, channels.c.channel_id)
    with database.reading() as connection:
        return [
            {
                "team": row.team_id,
                "channel": row.channel_id,
                "name": row.name,
                "waiting": row.waiting,
                "blocked": row.blocked_reason,
                "advice": row.blocked_advice,
            }
            for row in connection.execute(statement)
        ]


def list_alerts(database: Database) -> list[dict[str, Any]]:
    """List what people must see and is not over yet, the newest last. Raises StorageUnavailable."""
    statement = select(alerts).order_by(alerts.c.first_at)
    with database.reading() as connection:
        return [
            {
                "cause": row.cause,
                "text": row.text,
                "count": row.count,
                "since": row.first_at.isoformat(),
                "last": row.last_at.isoformat(),
            }
            for row in connection.execute(statement)
        ]
