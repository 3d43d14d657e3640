"""Threads that make calls, and the queue on which their results arrive."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")

_LINGER = 0.06
"""Seconds: results that come this close together are taken together, and cost one transaction."""


class ThreadCrew(Generic[T]):
    """A bounded number of daemon threads, started as they are needed.

    Daemons, because a call that hangs past its time-out must not keep a stopping process alive: what it was sending
    is in the ledger as `sending` and will be looked for.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._threads = 0
        self._busy = 0
        self._lock = threading.Lock()
        self._calls: SimpleQueue[Callable[[], T]] = SimpleQueue()
        self._results: SimpleQueue[T] = SimpleQueue()

    @property
    def free(self) -> int:
        """How many more calls would start at once."""
        return self._workers - self._busy

    def submit(self, call: Callable[[], T]) -> None:
        """Run the call, which must not raise, on one of the threads. Raises RuntimeError where not one can be had."""
        with self._lock:
            if self._busy >= self._threads and self._threads < self._workers:
                self._hire()
            self._busy += 1
        self._calls.put(call)

    def _hire(self) -> None:
        try:
            threading.Thread(target=self._work, name=f"post-{self._threads + 1}", daemon=True).start()
        except RuntimeError:  # the system has no thread to give now
            if not self._threads:
                raise
        else:
            self._threads += 1

    def collect(self, seconds: float) -> Sequence[T]:
        """Return what has finished; wait up to `seconds` where nothing has, and for what follows it closely."""
        found: list[T] = []
        end = time.monotonic() + seconds
        try:
            if seconds > 0:
                found.append(self._results.get(timeout=seconds))
                if self._busy:
                    time.sleep(max(0.0, min(_LINGER, end - time.monotonic())))
            while True:
                found.append(self._results.get_nowait())
        except Empty:
            return found

    def _work(self) -> None:
        while True:
            result = self._calls.get()()
            with self._lock:
                self._busy -= 1
            self._results.put(result)
