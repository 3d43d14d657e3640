"""The writing side of planning: channels made known, slots and deliveries inserted, the rows of many at once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from bot.delivery.values import Draft, SlotPlan
from bot.model import Channel
from bot.storage.rows import by_team, chunks, in_channel, insert_new, new_key
from bot.storage.schema import channels, deliveries, slot_documents, slots, teams

_MINE = (channels.c.team_id == bindparam("of_team"), channels.c.channel_id == bindparam("of_channel"))
RENAME = update(channels).where(*_MINE).values(name=bindparam("of_name"))
_GO_ON = update(channels).where(*_MINE).values(ordinal=bindparam("last"))
_BEGIN = update(channels).where(*_MINE, channels.c.baseline_at.is_(None)).values(baseline_at=bindparam("now"))


class Overtaken(Exception):
    """Another replica has decided this already. Undoes the transaction."""


def register(connection: Connection, channel: Channel, name: str | None, now: datetime) -> None:
    """Make sure that the channel and its workspace have their rows."""
    connection.execute(insert_new(connection, teams).values(team_id=channel.team_id))
    connection.execute(
        insert_new(connection, channels).values(
            team_id=channel.team_id, channel_id=channel.channel_id, name=name, known_since=now
        )
    )


def insert_drafts(
    connection: Connection, channel: Channel, drafts: Sequence[Draft], slot_id: int | None, now: datetime
) -> list[str]:
    """Insert deliveries with the channel's next ordinals, passing over those that exist; return the keys offered."""
    if not drafts:
        return []
    # This row's lock also makes the planners of one channel wait for each other.
    last = connection.execute(
        update(channels)
        .where(in_channel(channels, channel))
        .values(ordinal=channels.c.ordinal + len(drafts))
        .returning(channels.c.ordinal)
    ).scalar_one()
    rows = _draft_rows(channel, drafts, slot_id, last - len(drafts), now)
    connection.execute(insert_new(connection, deliveries), rows)
    return [row["key"] for row in rows]


def _draft_rows(
    channel: Channel, drafts: Sequence[Draft], slot_id: int | None, after: int, now: datetime
) -> list[dict[str, Any]]:
    return [
        {
            "key": new_key(),
            "team_id": channel.team_id,
            "channel_id": channel.channel_id,
            "kind": draft.kind,
            "subject": draft.subject,
            "revision": draft.revision,
            "part": draft.part,
            "slot_id": slot_id,
            "ordinal": after + place,
            "state": draft.state,
            "error": draft.error,
            "planned_at": now,
            "updated_at": now,
        }
        for place, draft in enumerate(drafts, start=1)
    ]


def ordinals_of(
    connection: Connection, channels_: Sequence[Channel], *, skip_locked: bool = False
) -> dict[Channel, int]:
    """Return the greatest ordinal given in each of the channels, whose rows are locked until the transaction ends.

    The locks come before any other: planners of one channel wait for each other here and nowhere else.
    """
    found: dict[Channel, int] = {}
    for team_id, channel_ids in by_team(channels_).items():
        statement = (
            select(channels.c.channel_id, channels.c.ordinal)
            .where(channels.c.team_id == team_id, channels.c.channel_id.in_(channel_ids))
            .with_for_update(skip_locked=skip_locked)
        )
        found |= {Channel(team_id=team_id, channel_id=row[0]): row[1] for row in connection.execute(statement)}
    return found


def record(
    connection: Connection, plans: Sequence[SlotPlan], ordinals: dict[Channel, int], now: datetime
) -> list[int | None]:
    """Insert the plans; return the ids of their slots, None where a slot is decided already.

    `ordinals` are of `ordinals_of` and go on. Raises `Overtaken` where another slot has told about a document.
    """
    slot_ids = _insert_slots(connection, plans, now)
    owed: list[dict[str, Any]] = []
    told: list[dict[str, Any]] = []
    begun: set[Channel] = set()
    for plan, slot_id in zip(plans, slot_ids, strict=True):
        if slot_id is None:
            continue
        channel = plan.slot.channel
        here = {"team_id": channel.team_id, "channel_id": channel.channel_id, "slot_id": slot_id}
        owed += _draft_rows(channel, plan.drafts, slot_id, ordinals[channel], now)
        ordinals[channel] += len(plan.drafts)
        told += [{**here, "document_id": document_id} for document_id in plan.documents]
        if plan.baseline:
            begun.add(channel)
    for piece in chunks(told):
        new = insert_new(connection, slot_documents).returning(slot_documents.c.document_id)
        if len(connection.execute(new, piece).all()) < len(piece):
            # Another slot of this channel has told about them meanwhile: a second root must not.
            raise Overtaken
    if owed:
        connection.execute(insert_new(connection, deliveries), owed)
    kept = {plan.slot.channel for plan, slot_id in zip(plans, slot_ids, strict=True) if slot_id is not None}
    if kept:
        connection.execute(_GO_ON, [{**key_of(one), "last": ordinals[one]} for one in kept])
    if begun:
        connection.execute(_BEGIN, [{**key_of(one), "now": now} for one in begun])
    return slot_ids


def key_of(channel: Channel) -> dict[str, Any]:
    """Give a channel to the statements that are run for many."""
    return {"of_team": channel.team_id, "of_channel": channel.channel_id}


def _insert_slots(connection: Connection, plans: Sequence[SlotPlan], now: datetime) -> list[int | None]:
    if not plans:
        return []
    rows = [
        {
            "team_id": plan.slot.channel.team_id,
            "channel_id": plan.slot.channel.channel_id,
            "local_date": plan.slot.local_date,
            "name": plan.slot.name,
            "due_at": plan.slot.due_at,
            "state": plan.state,
            "planned_at": now,
            "layout": plan.layout,
            "detail": {**plan.detail, "layout": plan.layout},
        }
        for plan in plans
    ]
    new = insert_new(connection, slots).returning(
        slots.c.id, slots.c.team_id, slots.c.channel_id, slots.c.local_date, slots.c.name
    )
    ids = {tuple(row[1:]): int(row[0]) for row in connection.execute(new, rows)}
    return [
        # Taken out, so that of two plans for one slot only the first has it.
        ids.pop((row["team_id"], row["channel_id"], row["local_date"], row["name"]), None)
        for row in rows
    ]
