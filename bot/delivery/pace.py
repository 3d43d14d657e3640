"""How fast a workspace takes new messages: a ceiling that gives way when Slack says so. Pure; time comes in."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.model import Channel

_WINDOW = timedelta(seconds=10)
_CHANNELS_ALIKE = 3
_SHARE = 0.25
_SLOWER = 0.5
_FASTER_PER_SECOND = 0.02
_LEAST_PER_SECOND = 0.2


@dataclass(frozen=True, slots=True)
class _Seen:
    at: datetime
    channel: Channel
    throttled: bool


class Ceiling:
    """The rate for one workspace.

    Slack's 429 does not say whether the channel or the workspace was too fast. A channel's own Retry-After is kept
    by that channel alone; only where several channels are refused at once, and a good share of all calls, is the
    workspace taken to be at its limit: the rate is halved, then grows back slowly.
    """

    def __init__(self, per_minute: int | None) -> None:
        self._top = per_minute / 60 if per_minute is not None else None
        self._rate = self._top
        self._rate_at: datetime | None = None
        self._slowed_at: datetime | None = None
        self._seen: deque[_Seen] = deque()

    def interval(self, now: datetime) -> timedelta | None:
        """Return the time between two messages of the workspace, None for no ceiling."""
        self._recover(now)
        return None if self._rate is None else timedelta(seconds=1 / self._rate)

    def saw(self, channel: Channel, now: datetime, *, throttled: bool) -> bool:
        """Take note of an answer; return whether the rate was lowered by it."""
        self._seen.append(_Seen(now, channel, throttled))
        while self._seen and self._seen[0].at < now - _WINDOW:
            self._seen.popleft()
        if not throttled or (self._slowed_at is not None and now - self._slowed_at < _WINDOW):
            return False
        refused = [one for one in self._seen if one.throttled]
        if len({one.channel for one in refused}) < _CHANNELS_ALIKE or len(refused) < _SHARE * len(self._seen):
            return False
        self._recover(now)
        measured = max(1, len(self._seen) - len(refused)) / _WINDOW.total_seconds()
        self._rate = max(_LEAST_PER_SECOND, (self._rate or measured * 2) * _SLOWER)
        self._slowed_at = self._rate_at = now
        return True

    def _recover(self, now: datetime) -> None:
        if self._rate is None or self._rate_at is None:
            return
        seconds = max(0.0, (now - self._rate_at).total_seconds())
        self._rate_at = now
        self._rate += self._rate * _FASTER_PER_SECOND * seconds
        if self._top is not None and self._rate >= self._top:
            self._rate, self._rate_at = self._top, None
        elif self._top is None and self._slowed_at is not None and now - self._slowed_at > _WINDOW * 30:
            self._rate, self._rate_at = None, None
