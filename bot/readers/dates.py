"""Days as readers write them."""

from __future__ import annotations

import re
from datetime import date, timedelta

_AGO = re.compile(r"(\d{1,4})(d|w|m|y|天|日|周|个月|月|年)前?", re.ASCII)
_DAYS = {"d": 1, "天": 1, "日": 1, "w": 7, "周": 7, "m": 30, "月": 30, "个月": 30, "y": 365, "年": 365}
_NUMERIC = re.compile(r"(\d{4})[-/.年](\d{1,2})(?:[-/.月](\d{1,2})日?)?月?", re.ASCII)
_YESTERDAY, _BEFORE_YESTERDAY = 1, 2
_NAMED_DAYS = {
    "today": 0,
    "今天": 0,
    "今日": 0,
    "yesterday": _YESTERDAY,
    "昨天": _YESTERDAY,
    "昨日": _YESTERDAY,
    "前天": _BEFORE_YESTERDAY,
}


def day(word: str, today: date) -> date | None:
    """The single day that a lower-case `word` names (`today`, `昨天`, `2026-11-30`); None if it names none."""
    if word in _NAMED_DAYS:
        return today - timedelta(days=_NAMED_DAYS[word])
    found = _NUMERIC.fullmatch(word)
    if found is None or found[3] is None:
        return None
    return _date(int(found[1]), int(found[2]), int(found[3]))


def moment(word: str, today: date) -> date | None:
    """The first day of the time that a lower-case `word` names; None if it names none.

    Beside single days: `7d`, `2w`, `3m`, `1y` ago; `this week`, `last week`, `上周` and months likewise; `2026-11`.
    """
    single = day(word, today)
    if single is not None:
        return single
    ago = _AGO.fullmatch(word)
    if ago is not None:
        return _before(today, int(ago[1]) * _DAYS[ago[2]])
    month = _NUMERIC.fullmatch(word)
    if month is not None:
        return _date(int(month[1]), int(month[2]), 1)
    return _named_period(re.sub(r"[\s_-]+", "", word), today)


def _named_period(word: str, today: date) -> date | None:  # noqa: PLR0911 - a table
    monday = today - timedelta(days=today.weekday())
    match word:
        case "thisweek" | "week" | "本周" | "这周":
            return monday
        case "lastweek" | "上周" | "上星期":
            return _before(monday, 7)
        case "thismonth" | "month" | "本月" | "这个月":
            return today.replace(day=1)
        case "lastmonth" | "上月" | "上个月":
            return _before(today.replace(day=1), 1).replace(day=1)
        case "thisyear" | "year" | "今年":
            return today.replace(month=1, day=1)
        case "lastyear" | "去年":
            return date(max(today.year - 1, 1), 1, 1)
    return None


def _before(today: date, days: int) -> date:
    return today - timedelta(days=min(days, (today - date.min).days))


def _date(year: int, month: int, day_of_month: int) -> date | None:
    try:
        return date(year, month, day_of_month)
    except ValueError:
        return None
