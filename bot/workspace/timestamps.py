"""Message timestamps: `1796083200.000100`, seconds and microseconds, also the message's ID in its channel."""

from __future__ import annotations

import re

_TS = re.compile(r"(\d{1,12})(?:\.(\d{1,6}))?", re.ASCII)


def micros(text: str) -> int:
    """Microseconds since the epoch. Raises `ValueError` where the text is no timestamp."""
    match = _TS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a timestamp: {text!r}")
    seconds, fraction = match.groups()
    return int(seconds) * 1_000_000 + int((fraction or "").ljust(6, "0"))


def show(value: int) -> str:
    """The text form of microseconds since the epoch."""
    return f"{value // 1_000_000}.{value % 1_000_000:06d}"


def compact(ts: str) -> str:
    """The form in permalinks: `p1796083200000100`."""
    return "p" + ts.replace(".", "")
