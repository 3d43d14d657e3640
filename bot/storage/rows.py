"""What the stores share: rows turned into values, and the few statements that the two databases write differently."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, FromClause, Insert, Table, and_, false, or_
from sqlalchemy.dialects import postgresql, sqlite

from bot.model import Channel, Delivery, DeliveryKind, DeliveryState
from bot.storage.schema import deliveries

Item = TypeVar("Item")

CHUNK = 5_000
"""Values in one IN: both databases have a limit of some ten thousands."""

DELIVERY_COLUMNS = (
    "id",
    "key",
    "team_id",
    "channel_id",
    "kind",
    "subject",
    "revision",
    "part",
    "slot_id",
    "ordinal",
    "state",
    "ts",
    "thread_ts",
    "attempts",
    "error",
    "sending_since",
    "next_try_at",
    "doubts",
    "refusals",
)


def delivery_columns(source: FromClause = deliveries) -> list[ColumnElement[Any]]:
    """Give the columns, in order, that `delivery_of` reads. They come first in the SELECT or RETURNING."""
    return [source.c[name] for name in DELIVERY_COLUMNS]


def delivery_of(row: Sequence[Any]) -> Delivery:
    """Make a delivery of a row that starts with `delivery_columns`."""
    return Delivery(
        id=row[0],
        key=row[1],
        channel=Channel(team_id=row[2], channel_id=row[3]),
        kind=DeliveryKind(row[4]),
        subject=row[5],
        revision=row[6],
        part=row[7],
        slot_id=row[8],
        ordinal=row[9],
        state=DeliveryState(row[10]),
        ts=row[11],
        thread_ts=row[12],
        attempts=row[13],
        error=row[14],
        sending_since=row[15],
        next_try_at=row[16],
        doubts=row[17],
        refusals=row[18],
    )


def new_key() -> str:
    """Make the id by which a message is found again."""
    return uuid.uuid4().hex


def in_channel(source: FromClause, channel: Channel) -> ColumnElement[bool]:
    """Whether a row belongs to the channel."""
    return and_(source.c.team_id == channel.team_id, source.c.channel_id == channel.channel_id)


def in_channels(source: FromClause, channels: Iterable[Channel]) -> ColumnElement[bool]:
    """Whether a row belongs to one of the channels."""
    return or_(
        false(),
        *(and_(source.c.team_id == team, source.c.channel_id.in_(ids)) for team, ids in by_team(channels).items()),
    )


def same_channel(one: FromClause, other: FromClause) -> ColumnElement[bool]:
    """Whether two rows belong to the same channel."""
    return and_(one.c.team_id == other.c.team_id, one.c.channel_id == other.c.channel_id)


def by_team(channels: Iterable[Channel]) -> dict[str, list[str]]:
    """Group channel ids by their workspace: an index serves `team = x and channel in (...)` in both databases."""
    grouped: dict[str, list[str]] = {}
    for channel in channels:
        grouped.setdefault(channel.team_id, []).append(channel.channel_id)
    return grouped


def insert_new(connection: Connection, table: Table) -> Insert:
    """Make an INSERT that leaves alone whatever a UNIQUE row has decided already."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing()
    return postgresql.insert(table).on_conflict_do_nothing()


def chunks(items: Iterable[Item]) -> Iterator[Sequence[Item]]:
    """Cut a long list of values into pieces that fit one statement."""
    rest = iter(items)
    while piece := tuple(islice(rest, CHUNK)):
        yield piece
