"""When a channel's slots are due. Pure calendar arithmetic in the channel's zone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from bot.delivery.policy import EVERY_DAY, Schedule, SlotTime
from bot.errors import ConfigError

DAY_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_CRON_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_CRON_FIELDS = 5
_MOST_SLOTS_A_DAY = 48
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
    day = (
        after.astimezone(zone).date() - _ONE_DAY
    )  # a zone that skips a day (Samoa) makes the neighbour matter
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


def next_due(schedule: Schedule, after: datetime, within: timedelta = timedelta(days=15)) -> Due | None:
    """Return the first slot after an instant, or None where there is none within the span."""
    due = due_between(schedule, after, after + within)
    return due[0] if due else None


def minutes_late(due_at: datetime, at: datetime, grace: timedelta) -> int:
    """Return by how many whole minutes `at` is late, 0 within the grace."""
    late = at - due_at
    return int(late.total_seconds() // 60) if late > grace else 0


def days_by_name(text: str) -> frozenset[int]:
    """Return the weekdays (0 is Monday) of `mon-fri`, `sat, sun`, `fri-mon` or `daily`; raise `ConfigError`."""
    if text.strip().lower() in ("daily", "*", "every day"):
        return EVERY_DAY
    days: set[int] = set()
    for piece in text.lower().split(","):
        first, dash, last = (part.strip() for part in piece.partition("-"))
        if first not in DAY_NAMES or (dash and last not in DAY_NAMES):
            raise ConfigError(f"`{piece.strip()}` is not a weekday: write names, such as mon-fri or sat,sun")
        start = DAY_NAMES.index(first)
        length = (DAY_NAMES.index(last) - start) % 7 if dash else 0
        days.update((start + step) % 7 for step in range(length + 1))
    return frozenset(days)


def from_crontab(text: str) -> tuple[SlotTime, ...]:
    """Return the slots of a crontab line, meaning what cron means; raise `ConfigError` with advice.

    `1-5` is Monday to Friday, both 0 and 7 are Sunday. A line that names days of the month or months is refused:
    cron would then join it to the weekdays by OR, which nobody expects of a digest.
    """
    fields = text.split()
    if len(fields) != _CRON_FIELDS:
        raise ConfigError(f"`{text}` has {len(fields)} fields, a crontab line has 5, such as `30 9 * * 1-5`")
    minute, hour, day, month, weekday = fields
    if day != "*" or month != "*":
        raise ConfigError(
            f"`{text}`: days of the month and months are not supported, write `*` for both and use weekdays"
        )
    minutes = _cron_field(minute, range(60), (), text)
    hours = _cron_field(hour, range(24), (), text)
    numbers = _cron_field(weekday, range(8), _CRON_DAYS, text)
    days = frozenset((number - 1) % 7 for number in numbers)
    if len(minutes) * len(hours) > _MOST_SLOTS_A_DAY:
        raise ConfigError(f"`{text}` is due {len(minutes) * len(hours)} times a day, at most 48 are possible")
    return tuple(SlotTime(at=time(h, m), days=days) for h in sorted(hours) for m in sorted(minutes))


_CRON_PIECE = re.compile(r"(?:\*|(?P<first>\w+)(?:-(?P<last>\w+))?)(?:/(?P<step>\d+))?", re.ASCII)


def _cron_field(field: str, allowed: range, names: tuple[str, ...], text: str) -> set[int]:
    found: set[int] = set()
    for piece in field.split(","):
        match = _CRON_PIECE.fullmatch(piece)
        if match is None:
            raise ConfigError(f"`{text}`: `{piece}` is not a crontab value")
        step = int(match["step"]) if match["step"] else 1
        if match["first"] is None:
            # The eighth weekday number is only another name for Sunday: `*/2` must not count it.
            first, last = allowed.start, (6 if names else allowed.stop - 1)
        else:
            first = _cron_number(match["first"], names, text)
            last = _cron_number(match["last"], names, text) if match["last"] else first
            if match["step"] and not match["last"]:
                last = allowed.stop - 1
        if first not in allowed or last not in allowed or step < 1 or last < first:
            raise ConfigError(
                f"`{text}`: `{piece}` is out of range, values run upwards from {allowed.start} to {allowed.stop - 1}"
            )
        found.update(range(first, last + 1, step))
    return found


def _cron_number(word: str, names: Iterable[str], text: str) -> int:
    if word.isdigit():
        return int(word)
    known = list(names)
    if word.lower() in known:
        return known.index(word.lower())
    raise ConfigError(f"`{text}`: `{word}` is neither a number nor a weekday")
