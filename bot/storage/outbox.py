"""`SendStorage`, the part that every message passes: lease a channel, see its turn, claim, record.

Few statements and few transactions, because each delivered message pays for them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import structlog
from sqlalchemy import Row, not_, update

from bot.delivery.values import Record, RootState, Shown, Turn
from bot.model import Channel, Delivery, DeliveryState, Layout
from bot.storage import outbox_statements as statements
from bot.storage.engine import Database
from bot.storage.quick import Quick
from bot.storage.rows import by_team, delivery_of, in_channels
from bot.storage.schema import channels
from bot.storage.sent import SentRow, after_sent

log = structlog.get_logger(__name__)

NOTHING_SHOWN: Mapping[int, Shown] = MappingProxyType({})


class Outbox:
    """Leases, turns, claims and records."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._quick = Quick(database)

    def lease(
        self,
        owner: str,
        now: datetime,
        until: datetime,
        *,
        since: datetime,
        limit: int,
        ahead: timedelta = timedelta(seconds=1),
        apart_from: Collection[Channel] = (),
    ) -> tuple[Channel, ...]:
        """Lease up to `limit` channels that have something to send now; return them, the longest waiting first.

        None of `apart_from`, which are few.
        A channel whose pace ends within `ahead` is leased, too: its message is rendered meanwhile.
        A channel with an unresolved delivery begun at or after `since` waits for it.
        On PostgreSQL a channel that another caller is just leasing is passed over, not waited for.
        """
        wanted = {"now": now, "soon": now + ahead, "since": since, "limit": limit}
        leasable = statements.LEASABLE
        if apart_from:
            leasable = leasable.where(not_(in_channels(channels, apart_from)))
        with self._database.transaction() as connection:
            found = [Channel(team_id=row[0], channel_id=row[1]) for row in connection.execute(leasable, wanted)]
            for team_id, channel_ids in by_team(found).items():
                mine = (channels.c.team_id == team_id, channels.c.channel_id.in_(channel_ids))
                connection.execute(update(channels).where(*mine).values(lease_owner=owner, lease_until=until))
        return tuple(found)

    def release(self, owner: str, channels_: Sequence[Channel]) -> None:
        """Give the leases back, where `owner` still holds them."""
        with self._quick.transaction(flush=False) as cursor:
            release = self._quick.sql(statements.RELEASE)
            cursor.executemany(release, [(one.team_id, one.channel_id, owner) for one in channels_])

    def turns(self, channels_: Sequence[Channel], since: datetime, limit: int) -> Mapping[Channel, Turn]:
        """Return what each channel has to send: at most `limit` of its queue, unresolved ones begun since `since`."""
        rows: dict[Channel, list[Row[*tuple[Any, ...]]]] = {}
        with self._database.reading() as connection:
            for team_id, channel_ids in by_team(channels_).items():
                wanted = {"team_id": team_id, "channel_ids": channel_ids, "since": since, "limit": limit}
                for row in connection.execute(statements.TURNS, wanted):
                    rows.setdefault(Channel(team_id=team_id, channel_id=row.of_channel), []).append(row)
        return {channel: _turn(channel, of_channel) for channel, of_channel in rows.items()}

    def claim(
        self,
        owner: str,
        delivery_ids: Sequence[int],
        now: datetime,
        until: datetime,
        shown: Mapping[int, Shown] = NOTHING_SHOWN,
    ) -> frozenset[int]:
        """Turn PLANNED into SENDING where `owner` holds the channel's lease; return the ids that were won."""
        if not delivery_ids:
            return frozenset()
        quick = self._quick
        ids, at, end = quick.ids(delivery_ids), quick.at(now), quick.at(until)
        # Flushed: a claim that a power cut forgot would be posted again.
        with quick.transaction(flush=True) as cursor:
            # The channel first: whoever would take its lease over now waits, and then finds it extended.
            cursor.execute(quick.sql(statements.EXTEND_LEASES), (end, end, owner, at, ids))
            won: set[int] = set()
            for show, alike in _alike(delivery_ids, shown).items():  # a morning's entries are all alike
                values = (at, at, owner, end, show.revision, show.parts, at, quick.ids(alike), owner, at)
                cursor.execute(quick.sql(statements.CLAIM), values)
                mine = [row[0] for row in cursor.fetchall()]
                won.update(mine)
                for root in mine if show.folds else ():
                    cursor.execute(quick.sql(statements.SHOW_IN_ROOT), (root,))
        if len(won) < len(delivery_ids):
            log.debug("claim_lost", deliveries=sorted(set(delivery_ids) - won), owner=owner)
        return frozenset(won)

    def record(self, owner: str, records: Sequence[Record], now: datetime) -> frozenset[int]:
        """Write down what became of claimed deliveries; return the ids that were accepted.

        SENT is proof and wins over every state but SENT. Anything else is accepted only for the claim it belongs to.
        """
        if not records:
            return frozenset()
        quick = self._quick
        accepted: set[int] = set()
        # Not flushed: after a power cut the message is uncertain again, and found where it stands.
        with quick.transaction(flush=False) as cursor:
            for record in records:
                if record.next_post_at is not None:
                    # Before the delivery, as a claim takes its locks. The pace holds whoever's record is accepted.
                    at = quick.at(record.next_post_at)
                    cursor.execute(quick.sql(statements.PACE), (at, record.delivery_id, at))
                if self._record(cursor, owner, record, now):
                    accepted.add(record.delivery_id)
        if len(accepted) < len(records):
            log.debug("record_refused", deliveries=[r.delivery_id for r in records if r.delivery_id not in accepted])
        return frozenset(accepted)

    def _record(self, cursor: Any, owner: str, record: Record, now: datetime) -> bool:
        quick = self._quick
        at, one = quick.at(now), record.delivery_id
        if record.state is not DeliveryState.SENT:
            later = quick.at(record.next_try_at)
            counted = (int(record.state is DeliveryState.UNCERTAIN), int(record.refused))
            became = (record.state.value, record.ts, record.thread_ts, record.error, later, *counted, at)
            cursor.execute(quick.sql(statements.RECORD), (*became, one, owner, record.attempt))
            return cursor.fetchone() is not None
        told = record.told_revision
        cursor.execute(quick.sql(statements.RECORD_SENT), (record.ts, record.thread_ts, told, at, at, one))
        row = cursor.fetchone()
        if row is None:
            return False

        def run(statement: str, values: tuple[Any, ...]) -> Any:
            return cursor.execute(quick.sql(statement), values)

        *columns, update_revision = row
        sent = SentRow(*columns)
        after_sent(run, sent, at, update_revision=update_revision, folds=record.folds, parts=record.parts)
        return True


def _alike(delivery_ids: Sequence[int], shown: Mapping[int, Shown]) -> dict[Shown, list[int]]:
    groups: dict[Shown, list[int]] = {}
    for one in delivery_ids:
        groups.setdefault(shown.get(one, Shown()), []).append(one)
    return groups


def _turn(channel: Channel, rows: Sequence[Row[*tuple[Any, ...]]]) -> Turn:
    queue: list[Delivery] = []
    unresolved: list[Delivery] = []
    roots: dict[int, RootState] = {}
    parents: dict[str, str] = {}
    for row in rows:
        if row.id is None:  # nothing open: the row is there for the channel alone
            continue
        delivery = delivery_of(row)
        (queue if delivery.state is DeliveryState.PLANNED else unresolved).append(delivery)
        if delivery.slot_id is not None and row.root_state is not None:
            roots[delivery.slot_id] = RootState(
                state=DeliveryState(row.root_state), layout=Layout(row.layout), ts=row.root_ts
            )
        if row.parent_ts is not None:
            parents[delivery.subject] = row.parent_ts
    highest = rows[0].highest_sent
    return Turn(
        channel=channel,
        queue=tuple(queue),
        unresolved=tuple(unresolved),
        roots=roots,
        parents=parents,
        highest_sent=-1 if highest is None else highest,
        next_post_at=rows[0].pace_until,
        blocked=bool(rows[0].blocked),
    )
