"""Which ticks are late, and which only take their time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.bootstrap.watch import HUNG_AFTER, Watch
from bot.metrics import Metrics

LIMITS = {"deliver": timedelta(seconds=10)}


class Clock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def seconds(self) -> float:
        return self.moment.timestamp()


def test_a_turn_of_sending_is_not_late_while_it_runs_and_hangs_only_after_minutes() -> None:
    clock = Clock()
    watch = Watch(clock=clock, metrics=Metrics(), seconds=clock.seconds)
    assert watch.stale(LIMITS) == ("deliver",), "it never ran"
    seen = []

    def turn() -> None:
        clock.moment += timedelta(seconds=40)
        seen.append((watch.stale(LIMITS), watch.hung()))
        clock.moment += HUNG_AFTER
        seen.append((watch.stale(LIMITS), watch.hung()))

    watch.timed("deliver", turn)()
    assert seen == [((), ()), ((), ("deliver",))]
    assert watch.stale(LIMITS) == ()
    clock.moment += timedelta(seconds=11)
    assert watch.stale(LIMITS) == ("deliver",)


def test_a_clock_that_is_set_back_hides_no_tick_that_is_late_or_hangs() -> None:
    clock, seconds = Clock(), [0.0]
    watch = Watch(clock=clock, metrics=Metrics(), seconds=lambda: seconds[0])
    watch.timed("deliver", lambda: None)()
    clock.moment -= timedelta(hours=1)
    seconds[0] += 11
    assert watch.stale(LIMITS) == ("deliver",)
    seen = []

    def turn() -> None:
        clock.moment -= timedelta(hours=1)
        seconds[0] += HUNG_AFTER.total_seconds() + 1
        seen.append(watch.hung())

    watch.timed("deliver", turn)()
    assert seen == [("deliver",)]
