"""`MarksStorage` and `DiscussionStorage`: saved entries, and the talk about an entry."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from functools import cache
from itertools import chain
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    delete,
    func,
    literal,
    null,
    select,
    update,
)

from bot.delivery.values import entry_of, entry_subject
from bot.model import Channel, DeliveryKind, DeliveryState
from bot.readers.marks import Activity, Place, Saved, Talk
from bot.storage.engine import Database
from bot.storage.entry_rows import read_entries
from bot.storage.rows import chunks, in_channel, insert_new, same_channel
from bot.storage.schema import deliveries, entries, events_seen, marks, reactions, replies, shares

EVENTS_KEPT = timedelta(days=1)
"""Slack repeats an event for an hour at most."""


class MarksStore:
    """Readers' lists, replies, reactions, shares and the events already handled."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- saved entries ---

    def save(self, team_id: str, user_id: str, entry_id: int, now: datetime) -> bool:
        """Put the entry on the reader's list; return whether it was new there. An unknown entry is not saved."""
        with self._database.transaction() as connection:
            if connection.execute(select(entries.c.id).where(entries.c.id == entry_id)).first() is None:
                return False
            row = insert_new(connection, marks).values(
                team_id=team_id, user_id=user_id, entry_id=entry_id, saved_at=now
            )
            return connection.execute(row.returning(marks.c.entry_id)).first() is not None

    def unsave(self, team_id: str, user_id: str, entry_id: int) -> bool:
        """Take the entry off the reader's list; return whether it was there."""
        statement = delete(marks).where(_of_reader(team_id, user_id), marks.c.entry_id == entry_id)
        with self._database.statement() as connection:
            return connection.execute(statement).rowcount == 1

    def saved(self, team_id: str, user_id: str, limit: int) -> tuple[Saved, ...]:
        """Return the reader's list, the last saved first."""
        statement = (
            select(marks.c.entry_id, marks.c.saved_at)
            .where(_of_reader(team_id, user_id))
            .order_by(marks.c.saved_at.desc(), marks.c.entry_id.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
            found = read_entries(connection, [row.entry_id for row in rows])
        return tuple(Saved(entry=found[row.entry_id], saved_at=row.saved_at) for row in rows)

    def saved_count(self, team_id: str, user_id: str) -> int:
        """Return how many entries are on the reader's list."""
        statement = select(func.count()).select_from(marks).where(_of_reader(team_id, user_id))
        with self._database.reading() as connection:
            return int(connection.execute(statement).scalar_one())

    def saved_among(self, team_id: str, user_id: str, entry_ids: Collection[int]) -> frozenset[int]:
        """Return those of `entry_ids` that are on the reader's list."""
        statement = select(marks.c.entry_id).where(_of_reader(team_id, user_id), marks.c.entry_id.in_(entry_ids))
        with self._database.reading() as connection:
            return frozenset(connection.execute(statement).scalars())

    # --- the talk about an entry ---

    def add_reply(self, channel: Channel, ts: str, thread_ts: str, user_id: str) -> bool:
        """Keep a reply; return whether it is new and its thread belongs to an entry. Other threads are not kept."""
        with self._database.transaction() as connection:
            if _entry_at(connection, channel, thread_ts) is None:
                return False
            row = insert_new(connection, replies).values(
                team_id=channel.team_id, channel_id=channel.channel_id, ts=ts, thread_ts=thread_ts, user_id=user_id
            )
            return connection.execute(row.returning(replies.c.ts)).first() is not None

    def remove_reply(self, channel: Channel, ts: str) -> bool:
        """Forget a reply; return whether it was known."""
        with self._database.statement() as connection:
            statement = delete(replies).where(in_channel(replies, channel), replies.c.ts == ts)
            return connection.execute(statement).rowcount == 1

    def add_reaction(self, channel: Channel, ts: str, user_id: str, name: str) -> bool:
        """Keep a reaction; return whether it is new and its message holds an entry. Others are not kept."""
        with self._database.transaction() as connection:
            if _entry_at(connection, channel, ts) is None:
                return False
            row = insert_new(connection, reactions).values(
                team_id=channel.team_id, channel_id=channel.channel_id, ts=ts, user_id=user_id, name=name
            )
            return connection.execute(row.returning(reactions.c.ts)).first() is not None

    def remove_reaction(self, channel: Channel, ts: str, user_id: str, name: str) -> bool:
        """Forget a reaction; return whether it was known."""
        statement = delete(reactions).where(
            in_channel(reactions, channel),
            reactions.c.ts == ts,
            reactions.c.user_id == user_id,
            reactions.c.name == name,
        )
        with self._database.statement() as connection:
            return connection.execute(statement).rowcount == 1

    def activity(self, entry_ids: Collection[int], team_id: str | None) -> Mapping[int, Activity]:
        """Return what happened to each of the entries, also where nothing did; None: in all workspaces."""
        found: dict[int, Activity] = {}
        with self._database.reading() as connection:
            for piece in chunks(dict.fromkeys(entry_ids)):
                found |= _activity(connection, piece, team_id)
        return found

    def entry_at(self, channel: Channel, ts: str) -> int | None:
        """Return the entry that a message holds: its own message, a further part of it, or a shared one."""
        with self._database.reading() as connection:
            return _entry_at(connection, channel, ts)

    # --- what must happen once ---

    def first_sight(self, event_id: str, now: datetime) -> bool:
        """Return True the first time this event is seen, to one caller only."""
        with self._database.transaction() as connection:
            new = insert_new(connection, events_seen).values(event_id=event_id, seen_at=now)
            first = connection.execute(new.returning(events_seen.c.event_id)).first() is not None
            if first:
                connection.execute(delete(events_seen).where(events_seen.c.seen_at < now - EVENTS_KEPT))
        return first

    def begin_share(self, request_key: str, channel: Channel, entry_id: int, user_id: str, now: datetime) -> bool:
        """Keep that a reader shares an entry; True the first time for this request, to one caller only."""
        with self._database.transaction() as connection:
            row = insert_new(connection, shares).values(
                request_key=request_key,
                team_id=channel.team_id,
                channel_id=channel.channel_id,
                entry_id=entry_id,
                user_id=user_id,
                at=now,
            )
            return connection.execute(row.returning(shares.c.id)).first() is not None

    def end_share(self, request_key: str, ts: str) -> None:
        """Keep where the shared entry stands."""
        with self._database.statement() as connection:
            connection.execute(update(shares).where(shares.c.request_key == request_key).values(ts=ts))

    def forget_share(self, request_key: str) -> None:
        """The share did not happen: the same request may be made again."""
        with self._database.statement() as connection:
            connection.execute(delete(shares).where(shares.c.request_key == request_key, shares.c.ts.is_(None)))


def _of_reader(team_id: str, user_id: str) -> ColumnElement[bool]:
    return and_(marks.c.team_id == team_id, marks.c.user_id == user_id)


def _entry_at(connection: Connection, channel: Channel, ts: str) -> int | None:
    posted = select(deliveries.c.subject).where(
        in_channel(deliveries, channel),
        deliveries.c.ts == ts,
        deliveries.c.kind == DeliveryKind.ENTRY,
        # The message of a compact digest holds many entries, and none of them alone.
        ~deliveries.c.folded,
    )
    subject = connection.execute(posted).scalar()
    if subject is not None:
        return entry_of(subject)
    shared = select(shares.c.entry_id).where(in_channel(shares, channel), shares.c.ts == ts)
    return connection.execute(shared).scalar()


def _activity(connection: Connection, entry_ids: Collection[int], team_id: str | None) -> dict[int, Activity]:
    said: dict[int, dict[Channel, list[int]]] = {entry_id: {} for entry_id in entry_ids}
    places: dict[int, list[Place]] = {entry_id: [] for entry_id in entry_ids}
    of_subject = {entry_subject(entry_id): entry_id for entry_id in entry_ids}
    posted, shared = _told(in_one_team=team_id is not None)
    team = {} if team_id is None else {"team_id": team_id}
    asked = (
        connection.execute(posted, {"subjects": list(of_subject), **team}),
        connection.execute(shared, {"entry_ids": list(entry_ids), **team}),
    )
    for row in chain(*asked):
        entry_id = of_subject.get(row[0], row[0])
        channel = Channel(team_id=row[2], channel_id=row[3])
        if row[6] or row[7]:
            here = said[entry_id].setdefault(channel, [0, 0])
            here[0] += row[6]
            here[1] += row[7]
        if row[1] == 0:
            places[entry_id].append(Place(channel=channel, ts=row[4], thread_ts=row[5], replies=row[6]))
    return {
        entry_id: Activity(
            talk=tuple(
                Talk(channel=channel, replies=count[0], reactions=count[1])
                for channel, count in sorted(said[entry_id].items(), key=lambda one: one[0].channel_id)
            ),
            places=tuple(sorted(places[entry_id], key=lambda place: float(place.ts))),
        )
        for entry_id in entry_ids
    }


@cache  # to build them costs more than to ask them, and every answer of look-up does
def _told(*, in_one_team: bool) -> tuple[Select[*tuple[Any, ...]], Select[*tuple[Any, ...]]]:
    """Select the messages that hold the `subjects` as their own entries, and those that share the `entry_ids`."""
    posted = _talk(deliveries, deliveries.c.subject, deliveries.c.part, deliveries.c.thread_ts).where(
        deliveries.c.subject.in_(bindparam("subjects", expanding=True)),
        deliveries.c.kind == DeliveryKind.ENTRY,
        deliveries.c.state == DeliveryState.SENT,
        deliveries.c.ts.is_not(None),
        ~deliveries.c.folded,
    )
    shared = _talk(shares, shares.c.entry_id, literal(0), null()).where(
        shares.c.entry_id.in_(bindparam("entry_ids", expanding=True)), shares.c.ts.is_not(None)
    )
    if in_one_team:
        team = bindparam("team_id", type_=Text)
        return posted.where(deliveries.c.team_id == team), shared.where(shares.c.team_id == team)
    return posted, shared


def _talk(
    messages: Table, subject: ColumnElement[Any], part: ColumnElement[int], thread_ts: ColumnElement[Any]
) -> Select[*tuple[Any, ...]]:
    """Select messages with the replies and reactions that each of them has."""
    answers = select(func.count()).where(same_channel(replies, messages), replies.c.thread_ts == messages.c.ts)
    signs = select(func.count()).where(same_channel(reactions, messages), reactions.c.ts == messages.c.ts)
    return select(
        subject,
        part,
        messages.c.team_id,
        messages.c.channel_id,
        messages.c.ts,
        thread_ts,
        answers.correlate(messages).scalar_subquery(),
        signs.correlate(messages).scalar_subquery(),
    )
