"""Leave to send: the workspace-wide ceiling, shared by all replicas through one row a workspace."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog

from bot.delivery.outcome import NotNow, Outcome, Scope, Sent
from bot.delivery.pace import Ceiling
from bot.delivery.ports import SendStorage
from bot.delivery.values import Lane
from bot.model import Channel

_log = structlog.get_logger("bot.delivery")

_UNBOUNDED = 10_000


class Gates:
    """One gate a workspace. A reservation that was taken and not used stays good for the next message."""

    def __init__(self, storage: SendStorage, per_minute: int | None) -> None:
        self._storage = storage
        self._per_minute = per_minute
        self._ceilings: dict[str, Ceiling] = {}
        self._reserved: dict[str, datetime] = {}

    def open(self, team_id: str, now: datetime) -> bool:
        """Return whether a message of the workspace may go now."""
        interval = self._ceiling(team_id).interval(now)
        if interval is None:
            return True
        if team_id not in self._reserved:
            self._reserved[team_id] = self._storage.reserve_team(team_id, Lane.POST, now, interval)
        return self._reserved[team_id] <= now

    def passed(self, team_id: str) -> None:
        """A message goes: the reservation is used."""
        self._reserved.pop(team_id, None)

    def next_at(self, now: datetime) -> datetime | None:
        """Return when the next closed gate opens."""
        return min((at for at in self._reserved.values() if at > now), default=None)

    def room(self, now: datetime, lease: timedelta) -> int:
        """Return how many channels can be served within a part of a lease: to hold more would starve other replicas."""
        intervals = [ceiling.interval(now) for ceiling in self._ceilings.values()] or [
            Ceiling(self._per_minute).interval(now)
        ]
        known = [interval for interval in intervals if interval is not None]
        if len(known) < len(intervals):
            return _UNBOUNDED
        return max(1, int(sum(lease / (3 * interval) for interval in known)))

    def saw(self, channel: Channel, now: datetime, outcome: Outcome | None) -> None:
        """Take note of an answer."""
        throttled = isinstance(outcome, NotNow) and outcome.scope is Scope.PACE
        if not throttled and not isinstance(outcome, Sent):
            return
        if self._ceiling(channel.team_id).saw(channel, now, throttled=throttled):
            interval = self._ceiling(channel.team_id).interval(now)
            _log.warning("workspace_slowed", team=channel.team_id, seconds_apart=interval and interval.total_seconds())

    def _ceiling(self, team_id: str) -> Ceiling:
        ceiling = self._ceilings.get(team_id)
        if ceiling is None:
            ceiling = self._ceilings[team_id] = Ceiling(self._per_minute)
        return ceiling
