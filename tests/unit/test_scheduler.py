"""The clock calls each tick at once and again, and tells when one fails or hangs; the others go on."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta, tzinfo

import pytest

from bot.scheduler import Clockwork, Tick

PATIENCE = 10.0


def test_every_tick_runs_at_once_and_again() -> None:
    twice = threading.Event()
    runs: list[int] = []

    def run() -> None:
        runs.append(1)
        if len(runs) == 2:
            twice.set()

    clockwork = Clockwork(
        [Tick(name="look", every=timedelta(seconds=0.05), run=run)], on_missed=lambda _name, _why: None
    )
    clockwork.start()
    assert twice.wait(PATIENCE)
    clockwork.stop()


def test_a_clock_that_is_set_back_by_an_hour_stops_no_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    """APScheduler's clock is moved, not ours: it asks its own `datetime` for the time."""
    ran, back = threading.Event(), [timedelta()]

    class Moved(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.now(tz) - back[0]

    for module in ("apscheduler.schedulers.base", "apscheduler.executors.base", "bot.scheduler"):
        monkeypatch.setattr(f"{module}.datetime", Moved)
    clockwork = Clockwork(
        [Tick(name="look", every=timedelta(seconds=0.05), run=ran.set)], on_missed=lambda _name, _why: None
    )
    clockwork.start()
    assert ran.wait(PATIENCE)
    back[0] = timedelta(hours=1)
    threading.Event().wait(0.2)  # a run that was due before the step may still come
    ran.clear()
    assert ran.wait(PATIENCE)
    clockwork.stop()


def test_a_tick_that_raises_is_told_and_runs_again() -> None:
    told = threading.Event()
    runs: list[int] = []

    def run() -> None:
        runs.append(1)
        raise ValueError("broken")

    def missed(name: str, why: str) -> None:
        assert (name, why) == ("look", "failed")
        if len(runs) >= 2:
            told.set()

    clockwork = Clockwork([Tick(name="look", every=timedelta(seconds=0.05), run=run)], on_missed=missed)
    clockwork.start()
    assert told.wait(PATIENCE)
    clockwork.stop()


def test_a_tick_that_hangs_is_told_and_the_others_still_run() -> None:
    release, told, other_ran = threading.Event(), threading.Event(), threading.Event()
    clockwork = Clockwork(
        [
            Tick(name="stuck", every=timedelta(seconds=0.05), run=lambda: release.wait(PATIENCE) and None),
            Tick(name="other", every=timedelta(seconds=0.05), run=lambda: told.is_set() and other_ran.set()),
        ],
        on_missed=lambda name, why: told.set() if (name, why) == ("stuck", "hangs") else None,
    )
    clockwork.start()
    assert told.wait(PATIENCE)
    assert other_ran.wait(PATIENCE)
    release.set()
    clockwork.stop()
