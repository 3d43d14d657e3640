"""`SendStorage`, the part about what holds sending back: blocks of channels and workspaces, a workspace's pace."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from sqlalchemy import Table, or_, select, update

from bot.delivery.values import Block, Lane
from bot.errors import StorageError
from bot.model import Channel, DeliveryState
from bot.storage.engine import Database
from bot.storage.plan_rows import register
from bot.storage.quick import Quick
from bot.storage.rows import in_channel, insert_new
from bot.storage.schema import channels, deliveries, teams

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FREE = {"blocked_reason": None, "blocked_advice": None, "blocked_until": None}

_RESERVE = {
    lane: (
        f"UPDATE teams SET {column} = CASE WHEN {column} > ? THEN {column} ELSE ? END + ? "  # noqa: S608 - our names
        f"WHERE team_id = ? RETURNING {column}"
    )
    for lane, column in ((Lane.POST, "next_post_us"), (Lane.UPDATE, "next_update_us"))
}
"""now, now, interval (microseconds), team"""


class PaceStore:
    """Blocks and paces."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._quick = Quick(database)

    def block_channel(self, channel: Channel, block: Block, now: datetime) -> bool:
        """Block the channel; return whether this reason is new to it (so that a person is told once)."""
        mine = in_channel(channels, channel)
        values = {"blocked_reason": block.reason, "blocked_advice": block.advice, "blocked_until": block.until}
        other = or_(channels.c.blocked_reason.is_(None), channels.c.blocked_reason != block.reason)
        with self._database.transaction() as connection:
            register(connection, channel, None, now)
            if connection.execute(update(channels).where(mine, other).values(values)).rowcount:
                return True
            connection.execute(update(channels).where(mine).values(values))
        return False

    def unblock_channel(self, channel: Channel) -> bool:
        """Lift the channel's block; return whether there was one."""
        statement = update(channels).where(in_channel(channels, channel), channels.c.blocked_reason.is_not(None))
        with self._database.statement() as connection:
            return connection.execute(statement.values(_FREE)).rowcount == 1

    def block_team(self, team_id: str, block: Block, now: datetime) -> bool:
        """Block the workspace; return whether this reason is new to it."""
        del now
        values = {"blocked_reason": block.reason, "blocked_advice": block.advice, "blocked_until": block.until}
        other = or_(teams.c.blocked_reason.is_(None), teams.c.blocked_reason != block.reason)
        with self._database.transaction() as connection:
            connection.execute(insert_new(connection, teams).values(team_id=team_id))
            mine = teams.c.team_id == team_id
            if connection.execute(update(teams).where(mine, other).values(values)).rowcount:
                return True
            connection.execute(update(teams).where(mine).values(values))
        return False

    def unblock_team(self, team_id: str) -> bool:
        """Lift the workspace's block; return whether there was one."""
        statement = update(teams).where(teams.c.team_id == team_id, teams.c.blocked_reason.is_not(None))
        with self._database.statement() as connection:
            return connection.execute(statement.values(_FREE)).rowcount == 1

    def team_blocks(self) -> Mapping[str, Block]:
        """Return the blocked workspaces, also those whose `until` is over: they wait for a successful check."""
        return {key[0]: block for key, block in blocks(self._database, teams, "team_id")}

    def probe_team(self, team_id: str, now: datetime, until: datetime) -> bool:
        """Move an overdue workspace block (`until <= now`) on to `until`; True for the one caller that did."""
        statement = (
            update(teams)
            .where(teams.c.team_id == team_id, teams.c.blocked_reason.is_not(None), teams.c.blocked_until <= now)
            .values(blocked_until=until)
        )
        with self._database.statement() as connection:
            return connection.execute(statement).rowcount == 1

    def reserve_channel(self, channel: Channel, now: datetime, gap: timedelta) -> datetime:
        """Return when something else than a delivery may go to the channel, `>= now`, and take that place."""
        mine = in_channel(channels, channel)
        with self._database.transaction() as connection:
            row = connection.execute(select(channels.c.next_post_at).where(mine).with_for_update()).one_or_none()
            if row is None:
                return now
            at: datetime = max(now, row.next_post_at or now)
            connection.execute(update(channels).where(mine).values(next_post_at=at + gap))
        return at

    def reserve_team(self, team_id: str, lane: Lane, now: datetime, interval: timedelta) -> datetime:
        """Return the instant at which the next call in this lane may go, `>= now`, and take it.

        One UPDATE: over all replicas, calls are at least `interval` apart.
        """
        at = (now - _EPOCH) // _MICROSECOND
        wanted = (at, at, interval // _MICROSECOND, team_id)
        after = self._reserve(lane, wanted)
        if after is None:
            with self._database.statement() as connection:
                connection.execute(insert_new(connection, teams).values(team_id=team_id))
            after = self._reserve(lane, wanted)
        if after is None:
            raise StorageError(f"the row of workspace {team_id} has vanished")
        return _EPOCH + timedelta(microseconds=after) - interval

    def end_waits(self, now: datetime, longest: timedelta) -> int:
        """End every pace, block, lease and wait for another try that lasts longer than `longest`; return how many.

        Claims stay: whoever made one trusts that nobody looks for its message before the end.
        """
        beyond = now + longest
        beyond_us = (beyond - _EPOCH) // _MICROSECOND
        tried = deliveries.c.state.in_((DeliveryState.PLANNED, DeliveryState.UNCERTAIN))
        statements = (
            update(channels).where(channels.c.next_post_at > beyond).values(next_post_at=now),
            update(channels).where(channels.c.lease_until > beyond).values(lease_owner=None, lease_until=None),
            update(channels).where(channels.c.blocked_until > beyond).values(blocked_until=now),
            update(teams).where(teams.c.blocked_until > beyond).values(blocked_until=now),
            update(teams).where(teams.c.next_post_us > beyond_us).values(next_post_us=0),
            update(teams).where(teams.c.next_update_us > beyond_us).values(next_update_us=0),
            update(deliveries).where(tried, deliveries.c.next_try_at > beyond).values(next_try_at=now),
        )
        with self._database.transaction() as connection:
            return sum(connection.execute(statement).rowcount for statement in statements)

    def _reserve(self, lane: Lane, wanted: tuple[int, int, int, str]) -> int | None:
        with self._quick.statement() as cursor:
            cursor.execute(self._quick.sql(_RESERVE[lane]), wanted)
            row = cursor.fetchone()
        return None if row is None else int(row[0])


def blocks(database: Database, table: Table, *key: str) -> list[tuple[tuple[str, ...], Block]]:
    """Return the blocked rows of `channels` or `teams`, each with its key."""
    statement = (
        select(*(table.c[name] for name in key), table.c.blocked_reason, table.c.blocked_advice, table.c.blocked_until)
        .where(table.c.blocked_reason.is_not(None))
        .order_by(*(table.c[name] for name in key))
    )
    with database.reading() as connection:
        return [
            (tuple(row[: len(key)]), Block(reason=row[-3], advice=row[-2] or "", until=row[-1]))
            for row in connection.execute(statement)
        ]
