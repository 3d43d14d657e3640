"""Start and stop, in order, on one screen.

Start: storage is ready before anything asks it, Slack's listeners before the ticks, the health page last. Stop is the
same list backwards: no new work, the message in flight ends, leases go back, connections close.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

import structlog

_log = structlog.get_logger("bot.runtime")

DRAIN_SECONDS = 9.0
"""What a stop may take in all: platforms send SIGKILL ten seconds after SIGTERM."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing that runs: how to start it and how to stop it. `stop` gets the seconds that are left."""

    name: str
    start: Callable[[], None]
    stop: Callable[[float], None]


@dataclass(slots=True)
class Hangup:
    """SIGHUP, remembered until the configuration is read again. Nothing is locked: a handler may interrupt anything."""

    is_pending: bool = False

    def heed(self) -> None:
        """Remember SIGHUP from now on, instead of ending by it. Call it on the main thread."""
        signal.signal(signal.SIGHUP, self._note)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.is_pending = True


class Runtime:
    """The running bot: its parts, and the event that everything long-lived watches."""

    def __init__(
        self,
        parts: tuple[Part, ...],
        *,
        stopping: threading.Event,
        reload: Callable[[], None],
        hangup: Hangup | None = None,
    ) -> None:
        """Take the parts in starting order; `reload` is called for SIGHUP, on a thread of its own, one call at a time.

        `hangup`: what has heeded SIGHUP so far, since the configuration was read.
        """
        self.stopping = stopping
        self._parts = parts
        self._started: list[Part] = []
        self._reload = reload
        self._hangup = hangup or Hangup()

    def start(self) -> None:
        """Start every part in order. When one fails, those already started are stopped and the error goes on."""
        try:
            for part in self._parts:
                part.start()
                self._started.append(part)
                _log.debug("started", part=part.name)
        except BaseException:  # the error goes on; only the parts that run already are put away first
            self.stop()
            raise

    def stop(self) -> None:
        """Stop what was started, backwards, within DRAIN_SECONDS in all."""
        self.stopping.set()
        deadline = time.monotonic() + DRAIN_SECONDS
        while self._started:
            part = self._started.pop()
            left = max(0.0, deadline - time.monotonic())
            try:
                part.stop(left)
            except Exception:  # noqa: BLE001 - a part that cannot stop cleanly must not keep the others running
                _log.exception("stop failed", part=part.name)

    def run(self) -> None:
        """Start, wait for SIGTERM or SIGINT, stop. SIGHUP reloads the configuration in between."""
        previous = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
        self._hangup.heed()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signalled)
        try:
            self.start()
            reloading: threading.Thread | None = None
            while not self.stopping.wait(0.5):
                if self._hangup.is_pending and (reloading is None or not reloading.is_alive()):
                    self._hangup.is_pending = False
                    # Aside, because a stop must not wait for it: it may hang on the database or on Slack.
                    reloading = threading.Thread(target=self._reload_or_tell, name="reload", daemon=True)
                    reloading.start()
        finally:
            self.stop()
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _reload_or_tell(self) -> None:
        try:
            self._reload()
        except Exception:  # noqa: BLE001 - a configuration that cannot be taken now must not end a bot that works
            _log.exception("reload failed")

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        self.stopping.set()
