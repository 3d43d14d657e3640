"""`SendStorage`, the part about what holds sending back: blocks of channels and workspaces, a workspace's pace."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger, Table, bindparam, case, or_, select, update

from bot.delivery.values import Block, Lane
from bot.model import Channel
from bot.storage.engine import Database
from bot.storage.plan_store import register
from bot.storage.rows import in_channel, insert_new
from bot.storage.schema import channels, teams

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FREE = {"blocked_reason": None, "blocked_advice": None, "blocked_until": None}

_NOW_US = bindparam("now_us", type_=BigInteger)
_INTERVAL_US = bindparam("interval_us", type_=BigInteger)
_RESERVE = {
    lane: update(teams)
    .where(teams.c.team_id == bindparam("team"))
    .values({column: case((column > _NOW_US, column), else_=_NOW_US) + _INTERVAL_US})
    .returning(column)
    for lane, column in ((Lane.POST, teams.c.next_post_us), (Lane.UPDATE, teams.c.next_update_us))
}


class PaceStore:
    """Blocks and paces."""

    def __init__(self, database: Database) -> None:
        self._database = database

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

    def reserve_team(self, team_id: str, lane: Lane, now: datetime, interval: timedelta) -> datetime:
        """Return the instant at which the next call in this lane may go, `>= now`, and take it.

        One UPDATE: over all replicas, calls are at least `interval` apart.
        """
        wanted = {"team": team_id, "now_us": (now - _EPOCH) // _MICROSECOND, "interval_us": interval // _MICROSECOND}
        with self._database.statement() as connection:
            after = connection.execute(_RESERVE[lane], wanted).scalar()
            if after is None:
                connection.execute(insert_new(connection, teams).values(team_id=team_id))
                after = connection.execute(_RESERVE[lane], wanted).scalar_one()
        return _EPOCH + timedelta(microseconds=after) - interval


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
