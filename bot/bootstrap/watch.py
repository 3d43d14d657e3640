"""When each tick last ended well, and which one has been running for too long."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from bot.delivery.ports import Clock
from bot.metrics import Metrics

HUNG_AFTER = timedelta(minutes=3)
"""Longer than the longest turn of sending and every time-out in it."""


class Watch:
    """Times the ticks. Safe to use from several threads."""

    def __init__(self, *, clock: Clock, metrics: Metrics) -> None:
        self._clock = clock
        self._metrics = metrics
        self._lock = threading.Lock()
        self._began: dict[str, datetime] = {}
        self._ended: dict[str, datetime] = {}

    def timed(self, name: str, run: Callable[[], object]) -> Callable[[], None]:
        """`run`, with its beginning and its good end written down."""

        def tick() -> None:
            with self._running(name):
                run()

        return tick

    def is_running(self, name: str) -> bool:
        """Whether the tick is running at this moment."""
        with self._lock:
            return name in self._began

    def hung(self) -> tuple[str, ...]:
        """The names of the ticks that have been running for longer than HUNG_AFTER."""
        now = self._clock.now()
        with self._lock:
            return tuple(sorted(name for name, began in self._began.items() if now - began > HUNG_AFTER))

    def stale(self, limits: dict[str, timedelta]) -> tuple[str, ...]:
        """The names of the ticks that have not ended well within their limit; those that never ran count."""
        now = self._clock.now()
        with self._lock:
            return tuple(
                sorted(
                    name
                    for name, limit in limits.items()
                    if name not in self._ended or now - self._ended[name] > limit
                )
            )

    @contextmanager
    def _running(self, name: str) -> Iterator[None]:
        with self._lock:
            self._began[name] = self._clock.now()
        try:
            yield
            now = self._clock.now()
            with self._lock:
                self._ended[name] = now
            self._metrics.last_tick.labels(name).set(now.timestamp())
        finally:
            with self._lock:
                self._began.pop(name, None)
