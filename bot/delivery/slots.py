"""When a channel's slots are due. Pure calendar arithmetic in the channel's zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from bot.delivery.policy import Schedule

_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A slot's name and its instant."""

    local_date: date
    name: str
    due_at: datetime


@lru_cache(maxsize=4096)
def instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    """Return the UTC instant of a local time on a local date: exactly one, whatever the clocks do that night.

    A time that happens twice means the first; a time that does not happen means the moment at which the clock has
    jumped over it.
    """
    before = datetime.combine(day, at, tzinfo=zone)  # fold=0: the first of two
    moment = before.astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == before.replace(tzinfo=None):
        return moment
    low = before.replace(fold=1).astimezone(UTC)  # still before the jump
    high = moment  # already after it
    while high - low > timedelta(seconds=1):
        middle = (low + (high - low) / 2).replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == low.astimezone(zone).utcoffset():
            low = middle
        else:
            high = middle
    return high


def due_between(schedule: Schedule, after: datetime, until: datetime) -> tuple[Due, ...]:
    """Return the slots with `after < due_at <= until`, oldest first. Nothing where `until` is before `after`."""
    if until <= after or not schedule.times:
        return ()
    zone = schedule.zone
    day = after.astimezone(zone).date() - _ONE_DAY  # a zone that skips a day (Samoa) makes the neighbour matter
    last = until.astimezone(zone).date()
    found: list[Due] = []
    while day <= last:
        if day not in schedule.skip_dates and (schedule.pause_until is None or day >= schedule.pause_until):
            for slot in schedule.times:
                if day.weekday() in slot.days:
                    due_at = instant(day, slot.at, zone)
                    if after < due_at <= until:
                        found.append(Due(local_date=day, name=slot.name, due_at=due_at))
        day += _ONE_DAY
    return tuple(sorted(found, key=lambda due: (due.due_at, due.local_date, due.name)))


def next_due(schedule: Schedule, after: datetime) -> Due | None:
    """Return the first slot after an instant, None where a year has none."""
    start = after
    if schedule.pause_until is not None:
        start = max(after, instant(schedule.pause_until, time(), schedule.zone) - _ONE_DAY)
    for days in (8, 366):  # as a rule the first week has one
        if found := due_between(schedule, start, start + days * _ONE_DAY):
            return found[0]
    return None


def minutes_late(due_at: datetime, at: datetime, grace: timedelta) -> int:
    """Return by how many whole minutes `at` is late, 0 within the grace."""
    late = at - due_at
    return int(late.total_seconds() // 60) if late > grace else 0
