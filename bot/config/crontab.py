"""The crontab form of a schedule, meaning what cron means: day 0 and day 7 are Sunday, `1-5` is Monday to Friday.

A slot is a time of day on some weekdays, so day-of-month and month must be `*`: cron ORs them with the weekday, which
surprises more people than it helps.
"""

from __future__ import annotations

from bot.config.values import DAYS

MAX_TIMES_A_DAY = 48
_FIELDS = 5


def parse_crontab(text: str) -> tuple[tuple[str, ...], frozenset[int]]:
    """`30 9 * * 1-5` -> (("09:30",), {0, 1, 2, 3, 4}) with Monday = 0.

    Raises ValueError naming the field that cannot be used.
    """
    fields = text.split()
    if len(fields) != _FIELDS:
        raise ValueError(f'a crontab line has five fields, as in "30 9 * * mon-fri"; this has {len(fields)}')
    minute, hour, day_of_month, month, weekday = fields
    for name, value in (("day of month", day_of_month), ("month", month)):
        if value != "*":
            raise ValueError(
                f"the {name} field must be * (slots are chosen by weekday; use skip_dates for single days)"
            )
    minutes = _numbers("minute", minute, 0, 59)
    hours = _numbers("hour", hour, 0, 23)
    times = tuple(f"{h:02d}:{m:02d}" for h in sorted(hours) for m in sorted(minutes))
    if len(times) > MAX_TIMES_A_DAY:
        raise ValueError(f"that is {len(times)} times a day; at most {MAX_TIMES_A_DAY} are taken")
    return times, _weekdays(weekday)


def _weekdays(text: str) -> frozenset[int]:
    spelled = text.lower()
    for number, name in enumerate(DAYS):
        spelled = spelled.replace(name, str(number + 1))  # cron: Monday is 1
    cron_days = _numbers("weekday", spelled, 0, 7)
    return frozenset((day - 1) % 7 for day in cron_days)


def _numbers(name: str, text: str, low: int, high: int) -> set[int]:
    chosen: set[int] = set()
    for part in text.split(","):
        span, slash, step_text = part.partition("/")
        step = _number(name, step_text, 1, high) if slash else 1
        if span == "*":
            first, last = low, high
        else:
            first_text, dash, last_text = span.partition("-")
            first = _number(name, first_text, low, high)
            last = _number(name, last_text, low, high) if dash else (high if slash else first)
        if first > last:
            raise ValueError(f"the {name} field runs backwards in {part!r}")
        chosen.update(range(first, last + 1, step))
    return chosen


def _number(name: str, text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit()) or not low <= int(text) <= high:
        raise ValueError(f"{text!r} in the {name} field is not a number from {low} to {high}")
    return int(text)
