"""Our own words in a channel's language: sentences, plural forms, dates and times."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final
from zoneinfo import ZoneInfo

import yaml
from babel import Locale
from babel.dates import format_date, get_timezone_location

from bot.model import Language, Verdict
from bot.render.pieces import Element, Pieces, flatten, text_piece

_SLOT: Final = re.compile(r"\{(\w+)\}")
_UNPLACED: Final = ("Etc/", "UTC", "GMT")


class Words:
    """The strings of one language. Keys are dotted: `all.must_read`."""

    def __init__(self, language: Language) -> None:
        source = files("bot.render").joinpath("strings", f"{language.value}.yaml").read_text(encoding="utf-8")
        self._strings = dict(_leaves(yaml.safe_load(source)))
        self._locale = Locale.parse(self._strings["locale"])
        self._days: dict[tuple[str, dt.date], str] = {}
        self._patterns: dict[str, list[str]] = {}

    @property
    def keys(self) -> frozenset[str]:
        """Every key of the language, forms of a counted key as `key#form`."""
        return frozenset(self._strings)

    def say(self, key: str, **values: object) -> str:
        """The sentence `key` with its slots filled. Raises KeyError for a key or a slot without value."""
        return self._fill(self._strings[key], values)

    def count(self, key: str, n: int, *, shown: str | None = None, **values: object) -> str:
        """The form of `key` for `n`. `shown` stands for the number in the sentence, as in `10+`."""
        return self._fill(self._form(key, n), {"n": shown or n, **values})

    def pieces(self, key: str, **values: Pieces) -> list[Element]:
        """The same as `say`, with slots that may hold links and code; as inline elements."""
        return self._pieces(self._strings[key], values)

    def count_pieces(self, key: str, n: int, *, shown: str | None = None, **values: Pieces) -> list[Element]:
        """The same as `count`, with slots that may hold links and code; as inline elements."""
        return self._pieces(self._form(key, n), {"n": shown or str(n), **values})

    def _pieces(self, pattern: str, values: Mapping[str, Pieces]) -> list[Element]:
        found: list[Element] = []
        for index, part in enumerate(_SLOT.split(pattern)):
            if index % 2 == 0:
                if part:
                    found.append(text_piece(part))
            else:
                found += flatten(values[part])
        return found

    def tag(self, verdict: Verdict) -> str:
        """The verdict as a leading word of a line."""
        return self._strings[f"tag.{verdict.value}"]

    def day(self, day: dt.date) -> str:
        """A day with its weekday: `12月1日 周二`, `Tue 1 Dec`."""
        return self._date("day", day)

    def date(self, day: dt.date, *, today: dt.date | None = None) -> str:
        """A day: `12月1日`, `1 Dec`; with its year where that differs from today's."""
        return self._date("date" if today is None or today.year == day.year else "date_with_year", day)

    def time(self, moment: dt.datetime) -> str:
        """The time of day, `09:00`."""
        return moment.strftime("%H:%M")

    def moment(self, moment: dt.datetime) -> str:
        """Day and time: `12月2日 09:00`."""
        return f"{self.date(moment.date())} {self.time(moment)}"

    def zone(self, zone: ZoneInfo) -> str:
        """The zone in words: `上海时间`, `Shanghai time`; `UTC` and the like stay themselves."""
        city = get_timezone_location(zone, locale=self._locale, return_city=True)
        return city if zone.key.startswith(_UNPLACED) else self.say("zone", city=city)

    def listed(self, words: Sequence[str]) -> str:
        """Words in a row."""
        return self._strings["list_separator"].join(words)

    def _date(self, kind: str, day: dt.date) -> str:
        known = self._days.get((kind, day))
        if known is None:
            if len(self._days) > 1_000:  # noqa: PLR2004 - a bound on memory, not a rule
                self._days.clear()
            known = format_date(day, self._strings[kind], locale=self._locale)
            self._days[kind, day] = known
        return known

    def _form(self, key: str, n: int) -> str:
        for form in (str(n), self._locale.plural_form(n)):
            found = self._strings.get(f"{key}#{form}")
            if found is not None:
                return found
        return self._strings[f"{key}#other"]

    def _fill(self, pattern: str, values: Mapping[str, object]) -> str:
        # One pass over the pattern: a value that itself holds {braces} stays as it is.
        return _SLOT.sub(lambda found: str(values[found[1]]), pattern)


_FORMS: Final = frozenset({"zero", "one", "two", "few", "many", "other"})


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    leaves: list[tuple[str, str]] = []
    for key, value in tree.items():
        if isinstance(value, str):
            leaves.append((f"{prefix}{key}", value))
        elif "other" in value and all(form in _FORMS or form.isdigit() for form in value):
            leaves += [(f"{prefix}{key}#{form}", sentence) for form, sentence in value.items()]
        else:
            leaves += _leaves(value, f"{prefix}{key}.")
    return leaves
