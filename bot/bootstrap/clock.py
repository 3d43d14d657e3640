"""The machine's clock, as the services ask for it."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Event


class SystemClock:
    """`bot.delivery.ports.Clock` over the real time."""

    def now(self) -> datetime:
        """The present instant, aware, in UTC."""
        return datetime.now(UTC)

    def wait(self, seconds: float, stop: Event) -> bool:
        """Wait up to `seconds`; True at once when `stop` is set."""
        return stop.wait(max(0.0, seconds))
