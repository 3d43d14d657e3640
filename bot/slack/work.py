"""What happens after the ack, in threads of its own, with one place for everything that goes wrong.

A listener only acks and hands its work over, so the pool in which acks run is never full of slow searches. The queue is
bounded: past it a person gets the sentence "busy" at once instead of an answer after a minute.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeAlias

from bot.errors import SlackUnavailable, StorageUnavailable
from bot.log import get_logger
from bot.slack.pool import DaemonPool

log = get_logger(__name__)

Task: TypeAlias = Callable[[], None]


class Teller(Protocol):
    """Says one sentence to the person who asked, wherever that person is looking."""

    def say(self, key: str, **values: str) -> None:
        """Show the sentence `sentence.<key>` with its slots filled. Raises `SlackUnavailable`."""


class Failures:
    """The one error handler: a sentence for the person, the trace for the log, a count for the metrics."""

    def __init__(self, *, count: Callable[[], None]) -> None:
        self._count = count

    def report(self, error: BaseException, *, feature: str, teller: Teller | None) -> None:
        """Record the error and tell the person. Never raises, whatever Slack says to that."""
        self._count()
        busy = isinstance(error, StorageUnavailable)
        trace = (type(error), error, error.__traceback__)
        if busy:
            log.warning("listener_busy", feature=feature, error=str(error), exc_info=trace)
        else:
            log.error("listener_failed", feature=feature, error=type(error).__name__, exc_info=trace)
        if teller is None:
            return
        try:
            teller.say("busy" if busy else "failed")
        except SlackUnavailable as silence:
            log.warning("sentence_lost", feature=feature, error=str(silence))


class Work:
    """A pool of threads with a bounded queue."""

    def __init__(
        self,
        *,
        failures: Failures,
        threads: int = 16,
        waiting: int = 256,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures = failures
        self._places = threading.BoundedSemaphore(threads + waiting)
        self._pool = DaemonPool(threads, name="slack-work")
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._running: dict[int, tuple[float, str]] = {}

    def start(self, task: Task, *, feature: str, teller: Teller | None) -> None:
        """Run `task` soon. Returns at once and raises nothing: what fails is told to the person and logged."""
        if not self._places.acquire(blocking=False):
            self._failures.report(StorageUnavailable("too much work is waiting"), feature=feature, teller=teller)
            return
        try:
            self._pool.submit(self._take, task, feature, teller)
        except RuntimeError:  # the pool is closed: the program stops
            self._places.release()
            log.info("work_refused_while_stopping", feature=feature)

    def run(self, task: Task, *, feature: str, teller: Teller | None) -> None:
        """Run `task` here and now, for what cannot wait in a queue. Raises nothing, like `start`."""
        with self._noted(feature):
            try:
                task()
            except Exception as error:  # noqa: BLE001  the edge of a listener: nobody above could tell the person
                self._failures.report(error, feature=feature, teller=teller)

    def problem(self, *, longest: float = 60.0) -> str | None:
        """What blocks the work, for a person: a task that has run for more than `longest` seconds; None if nothing."""
        with self._lock:
            begun, feature = min(self._running.values(), default=(self._monotonic(), ""))
        seconds = self._monotonic() - begun
        return f"{feature} has been running for {seconds:.0f} seconds" if seconds > longest else None

    def close(self, *, wait: bool = True, timeout: float = 3.0) -> None:
        """Refuse new work, drop what waits, and (with `wait`) give what runs `timeout` seconds to end. Idempotent."""
        self._pool.shutdown(wait=wait, cancel_futures=True, timeout=timeout)

    def _take(self, task: Task, feature: str, teller: Teller | None) -> None:
        try:
            self.run(task, feature=feature, teller=teller)
        finally:
            self._places.release()

    @contextmanager
    def _noted(self, feature: str) -> Iterator[None]:
        key = threading.get_ident()
        with self._lock:
            self._running[key] = (self._monotonic(), feature)
        try:
            yield
        finally:
            with self._lock:
                del self._running[key]
