"""When each tick last ended well, which one has been running for too long, and which wait for the database."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog

from bot.delivery.ports import Clock
from bot.errors import StorageUnavailable
from bot.metrics import Metrics

_log = structlog.get_logger("bot.bootstrap")

HUNG_AFTER = timedelta(minutes=3)
"""Longer than the longest turn of sending and every time-out in it."""
_HUNG_SECONDS = HUNG_AFTER.total_seconds()


class Watch:
    """Times the ticks. Safe to use from several threads."""

    def __init__(self, *, clock: Clock, metrics: Metrics, seconds: Callable[[], float] = time.monotonic) -> None:
        """`seconds` is what durations are measured with: a clock that nobody sets."""
        self._clock = clock
        self._metrics = metrics
        self._seconds = seconds
        self._lock = threading.Lock()
        self._began: dict[str, float] = {}
        self._waiting: set[str] = set()
        self._told: set[str] = set()
        self._ended: dict[str, float] = {}

    def timed(self, name: str, run: Callable[[], object]) -> Callable[[], None]:
        """`run`, with its beginning and its good end written down.

        A database that is away is no fault of the tick: it is said once, and the tick looks again when it is due.
        """

        def tick() -> None:
            try:
                with self._running(name):
                    run()
            except StorageUnavailable as error:
                with self._lock:
                    new = name not in self._waiting
                    self._waiting.add(name)
                if new:
                    _log.warning("waiting_for_database", tick=name, reason=str(error))
            else:
                with self._lock:
                    over = name in self._waiting
                    self._waiting.discard(name)
                if over:
                    _log.info("database_is_back", tick=name)

        return tick

    def newly_hung(self, name: str) -> bool:
        """Whether the tick's present run has outlasted HUNG_AFTER: True once for each such run."""
        with self._lock:
            began = self._began.get(name)
            if began is None or name in self._told or self._seconds() - began <= _HUNG_SECONDS:
                return False
            self._told.add(name)
            return True

    def forget(self, name: str) -> None:
        """Stop counting the run that hangs: it was left behind."""
        with self._lock:
            self._began.pop(name, None)
            self._told.discard(name)

    def is_running(self, name: str) -> bool:
        """Whether the tick is running at this moment."""
        with self._lock:
            return name in self._began

    def hung(self) -> tuple[str, ...]:
        """The names of the ticks that have been running for longer than HUNG_AFTER."""
        now = self._seconds()
        with self._lock:
            return tuple(sorted(name for name, began in self._began.items() if now - began > _HUNG_SECONDS))

    def stale(self, limits: dict[str, timedelta]) -> tuple[str, ...]:
        """The names of the ticks that have not ended well within their limit; those that never ran count.

        One that is running does not: a turn of sending takes its time, and `hung` has those that take too long.
        """
        now = self._seconds()
        with self._lock:
            idle = {name: limit.total_seconds() for name, limit in limits.items() if name not in self._began}
            late = (name for name, limit in idle.items() if name not in self._ended or now - self._ended[name] > limit)
            return tuple(sorted(late))

    @contextmanager
    def _running(self, name: str) -> Iterator[None]:
        began = self._seconds()
        with self._lock:
            self._began[name] = began
        try:
            yield
            with self._lock:
                self._ended[name] = self._seconds()
            self._metrics.last_tick.labels(name).set(self._clock.now().timestamp())
        finally:
            with self._lock:
                # A run that was left behind may end while its successor is running.
                if self._began.get(name) == began:
                    del self._began[name]
                    self._told.discard(name)
