"""Errands that nobody should wait for: a thread of their own, and a queue that is never long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Full, Queue

import structlog

_log = structlog.get_logger("bot.delivery")

_WAITING = 100
_LOOK_EVERY = 0.05


class Aside:
    """Runs errands one after the other on a daemon thread that is started by the first."""

    def __init__(self, waiting: int = _WAITING) -> None:
        """`waiting`: so many errands may wait; what comes on top is dropped, and said so."""
        self._errands: Queue[Callable[[], object]] = Queue(waiting)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def run(self, errand: Callable[[], object]) -> bool:
        """Run the errand soon, on the other thread; return False where it was dropped."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="aside", daemon=True)
                self._thread.start()
        try:
            self._errands.put_nowait(errand)
        except Full:
            _log.error("errand_dropped", waiting=self._errands.maxsize)
            return False
        return True

    def flush(self, seconds: float) -> bool:
        """Wait until all is done, up to `seconds`; return whether it is."""
        end = time.monotonic() + seconds
        while self._errands.unfinished_tasks and time.monotonic() < end:
            time.sleep(_LOOK_EVERY)
        return not self._errands.unfinished_tasks

    def _work(self) -> None:
        while True:
            errand = self._errands.get()
            try:
                errand()
            except Exception:  # noqa: BLE001 - the next errand has nothing to do with it
                _log.exception("errand_failed")
            finally:
                self._errands.task_done()
