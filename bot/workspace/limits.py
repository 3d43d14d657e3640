"""Rate limits, when asked for. Source: docs.slack.dev rate limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

PER_MINUTE = {1: 1, 2: 20, 3: 50, 4: 100, 5: 600}
# A call that comes this much too early is still let through: two clocks and a network lie between the two sides.
EARLY = 0.1


@dataclass(slots=True, kw_only=True)
class _Bucket:
    tokens: float
    filled: float


class Limits:
    """Token buckets: one message a second in a channel; a method's tier a minute for all its calls together."""

    def __init__(self, clock: Callable[[], float], *, is_on: bool, posts_a_minute: int | None = None) -> None:
        self._clock = clock
        self.is_on = is_on
        self.posts_a_minute = posts_a_minute
        self._buckets: dict[tuple[str, ...], _Bucket] = {}

    def admit(self, method: str, tier: int, channel: str | None) -> int | None:
        """None if the call may pass; else the whole seconds of `Retry-After`."""
        if not self.is_on:
            return None
        if method != "chat.postMessage":
            return self._take(((method,), PER_MINUTE[tier], PER_MINUTE[tier] / 60))
        wants: list[tuple[tuple[str, ...], int, float]] = [((method, channel or ""), 1, 1.0)]
        if self.posts_a_minute is not None:
            wants.append(((method,), max(1, self.posts_a_minute // 6), self.posts_a_minute / 60))
        return self._take(*wants)

    def _take(self, *wants: tuple[tuple[str, ...], int, float]) -> int | None:
        """Takes one token from each bucket (key, size, tokens a second), or none from any."""
        now = self._clock()
        waits = []
        for key, size, rate in wants:
            bucket = self._buckets.setdefault(key, _Bucket(tokens=size, filled=now))
            bucket.tokens = min(size, bucket.tokens + max(0.0, now - bucket.filled) * rate)
            bucket.filled = now
            if bucket.tokens < 1 - EARLY * rate:
                waits.append((1 - bucket.tokens) / rate)
        if waits:
            return max(1, math.ceil(max(waits)))
        for key, _, _ in wants:
            self._buckets[key].tokens -= 1
        return None
