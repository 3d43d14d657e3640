"""APScheduler as the clock, and nothing more: it calls the ticks. What is due is decided by rows in the database.

A tick that raises or hangs never stops the others: each run has a thread of its own, and a run that is still busy when
the next is due is reported through `on_missed`, so that a person hears of it. A clock that is set back stops nothing:
APScheduler would wait until the time of the next run comes again.
"""

from __future__ import annotations

import logging
import sys
import threading
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
from apscheduler.executors.base import BaseExecutor, run_job
from apscheduler.job import Job
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

_log = structlog.get_logger("bot.scheduler")

_CLOCK_SECONDS = 1.0
_TOLERANCE = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A function to call every so often; the first call comes at once."""

    name: str
    every: timedelta
    run: Callable[[], None]


class _Threads(BaseExecutor):  # type: ignore[misc]  # APScheduler has no types
    """A daemon thread for each run: APScheduler's own pool would be waited for at exit, however long a run hangs."""

    def _do_submit_job(self, job: Job, run_times: list[datetime]) -> None:
        def work() -> None:
            try:
                events = run_job(job, job._jobstore_alias, run_times, self._logger.name)  # noqa: SLF001 - its executors do
            except BaseException:  # noqa: BLE001 - as APScheduler's own executors: it is told, not lost
                self._run_job_error(job.id, *sys.exc_info()[1:])
            else:
                self._run_job_success(job.id, events)

        threading.Thread(target=work, name=f"tick-{job.id}", daemon=True).start()


class Clockwork:
    """Runs ticks in background threads until stopped."""

    def __init__(self, ticks: Sequence[Tick], *, on_missed: Callable[[str, str], None]) -> None:
        """Take the ticks; `on_missed(name, why)` hears of each run that failed, was late or did not start."""
        self._ticks = ticks
        self._abandoned = 0
        self._last_error: dict[str, str] = {}
        self._stopped = threading.Event()
        self._on_missed = on_missed
        self._scheduler = BackgroundScheduler(
            timezone=UTC,
            executors={tick.name: _Threads() for tick in ticks} | {"default": _Threads()},
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
        # Its lines are about jobs; ours, in `_heard`, are about ticks and come only where something is wrong. What is
        # wrong with the scheduler itself (no thread to be had, say) is for it to tell.
        logging.getLogger("apscheduler").setLevel(logging.ERROR)
        logging.getLogger("apscheduler.executors").setLevel(logging.CRITICAL)
        self._scheduler.add_listener(self._heard, EVENT_JOB_MISSED | EVENT_JOB_ERROR | EVENT_JOB_MAX_INSTANCES)
        self._scheduler.start()
        threading.Thread(target=self._watch_the_clock, name="tick-watch", daemon=True).start()

    def stop(self) -> None:
        """Start no further run. Runs under way are left to end by themselves: they watch the stop event."""
        self._stopped.set()
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def follow_the_clock(self) -> None:
        """Call at once the ticks whose next run lies further ahead than their interval: the clock was set back."""
        now = datetime.now(UTC)
        for tick in self._ticks:
            job = self._scheduler.get_job(tick.name)
            too_far = job.next_run_time - now - tick.every if job is not None else timedelta()
            if too_far > _TOLERANCE:
                _log.warning("clock set back", tick=tick.name, seconds=round(too_far.total_seconds()))
                self._scheduler.modify_job(tick.name, next_run_time=now)

    def _watch_the_clock(self) -> None:
        while not self._stopped.wait(_CLOCK_SECONDS):
            self.follow_the_clock()

    def abandon(self, name: str) -> None:
        """Leave the tick's present run, which hangs, behind: its next run starts when it is due."""
        # APScheduler counts running instances by executor: under a new one, none is running.
        self._abandoned += 1
        executor = f"{name}-{self._abandoned}"
        self._scheduler.add_executor(_Threads(), executor)
        self._scheduler.modify_job(name, executor=executor)
        _log.error("tick abandoned", tick=name)

    def _heard(self, event: JobEvent) -> None:
        if event.code == EVENT_JOB_ERROR:
            error = repr(event.exception)
            known = self._last_error.get(event.job_id) == error
            self._last_error[event.job_id] = error
            _log.error("tick failed", tick=event.job_id, error=error, trace=None if known else event.traceback)
            self._on_missed(event.job_id, "failed")
        elif event.code == EVENT_JOB_MAX_INSTANCES:
            _log.debug("tick still running", tick=event.job_id)
            self._on_missed(event.job_id, "hangs")
        else:
            _log.warning("tick missed", tick=event.job_id)
            self._on_missed(event.job_id, "missed")
