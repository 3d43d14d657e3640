"""The date in a file's name."""

from __future__ import annotations

import re
from datetime import date

_DATE = re.compile(
    r"(?<![0-9A-Za-z])(?P<year>20\d\d)(?P<between>[-_.]?)(?P<month>\d\d)(?P=between)(?P<day>\d\d)(?![0-9A-Za-z])"
)


def edition_from_name(name: str, *, latest: date = date.max) -> date | None:
    """Give the date that a file name states, such as `2026-11-30.txt`, `20261130-vllm.txt` or `vllm_2026_11_30.txt`.

    The first possible date up to `latest` counts. Digits that are part of a longer word or number, such as a hash, are
    no date.
    """
    base = re.split(r"[/\\]", name)[-1]
    for match in _DATE.finditer(base):
        try:
            found = date(int(match["year"]), int(match["month"]), int(match["day"]))
        except ValueError:  # the 31st of a short month: a number, not a date
            continue
        if found <= latest:
            return found
    return None
