"""The small types of the configuration: durations, days, times of day, zones."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Annotated, Any
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BeforeValidator

from bot.config.suggest import did_you_mean

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY_NAMES = {name: number for number, name in enumerate(DAYS)}
_FULL_NAMES = {
    "monday": "mon",
    "tuesday": "tue",
    "wednesday": "wed",
    "thursday": "thu",
    "friday": "fri",
    "saturday": "sat",
    "sunday": "sun",
}
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
LONGEST_SECONDS = 366 * 86400.0
_DURATION = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h|d)\s*$")
_TIME = re.compile(r"^([01][0-9]|2[0-3]):([0-5][0-9])$")


def parse_duration(value: Any) -> timedelta:
    """`"30s"`, `"4h"`, `"1.1s"` -> a duration. Raises ValueError with an example for anything else."""
    if isinstance(value, timedelta):
        return value
    match = _DURATION.match(value) if isinstance(value, str) else None
    if match is None:
        example = f"{value}s" if isinstance(value, int | float) and not isinstance(value, bool) else "30s"
        raise ValueError(f'a duration needs a unit (ms, s, m, h, d): write "{example}", "5m" or "4h"')
    seconds = float(match.group(1)) * _UNITS[match.group(2)]
    if seconds > LONGEST_SECONDS:
        raise ValueError("longer than a year: write at most 366d")
    return timedelta(seconds=seconds)


def parse_time(value: Any) -> str:
    """`"09:00"` -> the same. Raises ValueError for anything that is not HH:MM."""
    if not isinstance(value, str):
        raise ValueError('a time of day is text: write "09:00", with the quotes')
    if _TIME.match(value) is None:
        raise ValueError(f'"{value}" is not a time of day: write hours and minutes with two digits each, "09:00"')
    return value


def parse_days(value: Any) -> frozenset[int]:
    """`mon-fri`, `mon,wed`, `[sat, sun]`, `daily` -> days with Monday = 0. Raises ValueError for other words."""
    if isinstance(value, frozenset):
        return value
    parts = [part for item in (value if isinstance(value, list) else [value]) for part in _day_parts(item)]
    days: set[int] = set()
    for part in parts:
        if part in ("daily", "every day", "*"):
            days.update(range(7))
            continue
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        start = _day(first)
        end = _day(last) if dash else start
        days.update((start + step) % 7 for step in range((end - start) % 7 + 1))
    if not days:
        raise ValueError("names no day: write mon-fri, or daily")
    return frozenset(days)


def _day_parts(item: Any) -> list[str]:
    if not isinstance(item, str):
        raise ValueError("days are names (mon, tue, ...), because numbers mean different days in different programs")
    return [part.strip().lower() for part in item.split(",") if part.strip()]


def _day(name: str) -> int:
    short = _FULL_NAMES.get(name, name)
    if short in _DAY_NAMES:
        return _DAY_NAMES[short]
    if name.isdigit():
        raise ValueError(f"{name} is a different day in different programs: write its name (mon, tue, ...)")
    raise ValueError(f"{name!r} is no day{did_you_mean(short, DAYS)}: write mon, tue, wed, thu, fri, sat or sun")


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def parse_zone(value: Any) -> ZoneInfo:
    """An IANA name -> its zone. Raises ValueError with the nearest known name."""
    if isinstance(value, ZoneInfo):
        return value
    if not isinstance(value, str) or value not in _zones():
        near = did_you_mean(str(value), sorted(_zones()))
        raise ValueError(f"unknown time zone {value!r}{near}: use an IANA name such as Asia/Shanghai")
    return ZoneInfo(value)


def parse_text(value: Any) -> str:
    """Text only: a number or a boolean where text was meant is refused with the way to quote it."""
    if isinstance(value, str):
        if not all(sign.isprintable() for sign in value):
            raise ValueError("there are control characters in this text: remove them")
        return value
    if value is None:
        raise ValueError("text was meant but nothing stands here")
    if isinstance(value, dict | list):
        raise ValueError("one text was meant, not a group")
    written = str(value).lower() if isinstance(value, bool) else value
    raise ValueError(f"text was meant but YAML reads {written}: put it between double quotes")


def parse_word(value: Any) -> str:
    """Text that is there to be found. Raises ValueError for nothing but blanks, which would be found everywhere."""
    text = parse_text(value)
    if not text.strip():
        raise ValueError("this is empty, and would be found in every entry: write a word, or take it out")
    return text


def _one_or_many(parse: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def parse_each(value: Any) -> tuple[Any, ...]:
        items = value if isinstance(value, list | tuple) else [value]
        if not items:
            raise ValueError("the list is empty: write at least one, or leave the key out")
        return tuple(parse(item) for item in items)

    return parse_each


Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
Times = Annotated[tuple[str, ...], BeforeValidator(_one_or_many(parse_time))]
Days = Annotated[frozenset[int], BeforeValidator(parse_days)]
Zone = Annotated[ZoneInfo, BeforeValidator(parse_zone)]
Str = Annotated[str, BeforeValidator(parse_text)]
Word = Annotated[str, BeforeValidator(parse_word)]
