"""APScheduler as the clock, and nothing more: it calls the ticks. What is due is decided by rows in the database.

A tick that raises or hangs never stops the others: each job has its own worker, and a run that is still busy when the
next is due is reported through `on_missed`, so that a person hears of it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    JobEvent,
)
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

_log = structlog.get_logger("bot.scheduler")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A function to call every so often; the first call comes at once."""

    name: str
    every: timedelta
    run: Callable[[], None]


class Clockwork:
    """Runs ticks in background threads until stopped."""

    def __init__(self, ticks: Sequence[Tick], *, on_missed: Callable[[str, str], None]) -> None:
        """Take the ticks; `on_missed(name, why)` hears of each run that failed, was late or did not start."""
        self._ticks = ticks
        self._on_missed = on_missed
        self._scheduler = BackgroundScheduler(
            timezone=UTC,
            executors={tick.name: ThreadPoolExecutor(1) for tick in ticks} | {"default": ThreadPoolExecutor(1)},
            # Grace None: a tick is a look at the tables, so a late look is as good as one on time.
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
        )

    def start(self) -> None:
        """Start ticking. The first look at everything comes at once, not after the first interval."""
        for tick in self._ticks:
            self._scheduler.add_job(
                tick.run,
                IntervalTrigger(seconds=tick.every.total_seconds(), timezone=UTC),
                id=tick.name,
                executor=tick.name,
                next_run_time=datetime.now(UTC),
            )
        # Its lines are about jobs; ours, in `_heard`, are about ticks and come only where something is wrong.
        logging.getLogger("apscheduler").setLevel(logging.CRITICAL)
        self._scheduler.add_listener(self._heard, EVENT_JOB_MISSED | EVENT_JOB_ERROR | EVENT_JOB_MAX_INSTANCES)
        self._scheduler.start()

    def stop(self) -> None:
        """Start no further run. Runs under way are left to end by themselves: they watch the stop event."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def _heard(self, event: JobEvent) -> None:
        if event.code == EVENT_JOB_ERROR:
            _log.error("tick failed", tick=event.job_id, error=repr(event.exception), trace=event.traceback)
            self._on_missed(event.job_id, "failed")
        elif event.code == EVENT_JOB_MAX_INSTANCES:
            _log.debug("tick still running", tick=event.job_id)
            self._on_missed(event.job_id, "hangs")
        else:
            _log.warning("tick missed", tick=event.job_id)
            self._on_missed(event.job_id, "missed")
