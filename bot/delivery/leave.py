"""Leave for a message that is no delivery (a share, an answer, an alert): it takes its place in the channel's pace."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import structlog

from bot.delivery.policy import DeliverySettings
from bot.delivery.ports import Clock, SendStorage
from bot.delivery.values import Lane
from bot.errors import StorageError
from bot.model import Channel

_log = structlog.get_logger("bot.delivery")


class Leave:
    """Places in the pace of channels and workspaces, for whoever posts beside the digest."""

    def __init__(
        self,
        *,
        storage: SendStorage,
        clock: Clock,
        settings: DeliverySettings,
        make_way: Callable[[Channel, datetime], None],
    ) -> None:
        """`make_way` tells this process's sender, which may hold the channel, when it may go on there."""
        self._storage = storage
        self._clock = clock
        self._pace = timedelta(seconds=settings.pace)
        per_minute = settings.ceiling_per_minute
        self._interval = None if per_minute is None else timedelta(minutes=1) / per_minute
        self._make_way = make_way

    def take(self, channel: Channel) -> float:
        """Take the next place; return how many seconds it is ahead. Without a database, nobody is in the way."""
        now = self._clock.now()
        try:
            at = self._storage.reserve_channel(channel, now, self._pace)
            self._make_way(channel, at + self._pace)
            if self._interval is not None:
                at = max(at, self._storage.reserve_team(channel.team_id, Lane.POST, now, self._interval))
        except StorageError as error:
            _log.warning("no_place_in_the_pace", channel=channel.channel_id, error=str(error))
            return 0.0
        return max(0.0, (at - now).total_seconds())
