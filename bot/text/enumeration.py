"""Find an in-line list: `1) ... 2) ... 3) ...`, also `(1)`, `1）`, `（1）` and `①`."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from bot.text.scan import Piece

_MARKER = re.compile(
    r"(?=[\d(（①-⑳])(?:(?<=[：:；;，,。、．.！!？?\s])|^)"
    r"(?:(?P<paren>\d{1,2})[)）]|[（(](?P<both>\d{1,2})[)）]|(?P<ring>[①-⑳]))(?!\d)[ \t\u3000]*"
)
_SENTENCE_END = re.compile(r"[。！？!?]|\n|\.(?=\s)")
_BLANKS = " \t\n\u3000"
_PAIRS = (("(", ")"), ("（", "）"), ("「", "」"), ("“", "”"), ("【", "】"))
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class ListRange:
    """The list stands in `text[start:end]`; each item is a range of its own without number and surrounding blanks."""

    start: int
    end: int
    items: tuple[tuple[int, int], ...]


def enumeration_of(text: str, pieces: list[Piece]) -> ListRange | None:
    """Give the first list of the text whose numbers run 1, 2, ... in one style; none inside code or brackets."""
    markers = _sequence(text, pieces)
    if len(markers) < _FEWEST:
        return None
    starts = [end for _, end in markers]
    stops = [start for start, _ in markers[1:]]
    stops.append(_last_end(text, pieces, starts, stops))
    items = tuple(_trimmed(text, start, stop) for start, stop in zip(starts, stops, strict=True))
    head = text[: markers[0][0]]
    if any(start >= stop for start, stop in items):
        return None
    if not all(_balanced(part) for part in (head, *(text[start:stop] for start, stop in items))):
        return None
    return ListRange(
        len(head.rstrip(_BLANKS)),
        len(text) - len(text[stops[-1] :].lstrip(_BLANKS)),
        items,
    )


def _sequence(text: str, pieces: list[Piece]) -> list[tuple[int, int]]:
    """Follow the numbers from the first 1 on; a number out of turn is text."""
    found: list[tuple[int, int]] = []
    style = ""
    index = 0
    for match in _MARKER.finditer(text):
        while index < len(pieces) and pieces[index].end <= match.start():
            index += 1
        if index < len(pieces) and pieces[index].start < match.end():
            continue
        kind = match.lastgroup or ""
        number = ord(match["ring"]) - ord("①") + 1 if kind == "ring" else int(match[kind])
        if (not found and number == 1) or (found and kind == style and number == len(found) + 1):
            style = kind
            found.append(match.span())
    return found


def _last_end(text: str, pieces: list[Piece], starts: list[int], stops: list[int]) -> int:
    """The last item is one sentence where the others are; else it takes the rest."""
    for start, stop in zip(starts, stops, strict=False):
        body = text[start:stop].rstrip(_BLANKS)
        inner = _SENTENCE_END.search(body)
        if inner is not None and inner.end() < len(body):
            return len(text)
    begins = [piece.start for piece in pieces]
    for end in _SENTENCE_END.finditer(text, starts[-1]):
        before = bisect_right(begins, end.start()) - 1
        if before < 0 or pieces[before].end <= end.start():
            return end.end()
    return len(text)


def _trimmed(text: str, start: int, stop: int) -> tuple[int, int]:
    body = text[start:stop]
    return start + len(body) - len(body.lstrip(_BLANKS)), stop - (len(body) - len(body.rstrip(_BLANKS)))


def _balanced(part: str) -> bool:
    return all(part.count(opening) == part.count(closing) for opening, closing in _PAIRS)
