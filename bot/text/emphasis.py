"""Where emphasis begins and ends: balanced `**` and `~~`, and the range that the caller lays over the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.model import Span
from bot.text.scan import Piece

_LONGEST = 1000
_RUN = re.compile(r"\*+|~+")


@dataclass(frozen=True, slots=True)
class Edge:
    """A change of style at `start`; characters up to `end` are the marker (none where start == end)."""

    start: int
    end: int
    bold: int = 0
    strike: int = 0


def snapped(span: Span, pieces: list[Piece], length: int) -> Span | None:
    """Widen a range so that it cuts no piece in two; nothing for an empty one."""
    start, end = max(0, span.start), min(length, span.end)
    if start >= end:
        return None
    for piece in pieces:
        if piece.start < end and piece.end > start:
            start, end = min(start, piece.start), max(end, piece.end)
    return Span(start=start, end=end)


def edges_of(text: str, pieces: list[Piece], laid: Span | None) -> list[Edge]:
    """Give all changes of style in order of place. A marker that has no partner, or stands in code, is no edge."""
    edges = [edge for pair in _pairs(text, pieces) for edge in pair]
    if laid is not None:
        edges.append(Edge(laid.start, laid.start, bold=1))
        edges.append(Edge(laid.end, laid.end, bold=-1))
    edges.sort(key=lambda edge: (edge.start, edge.end))
    return edges


def _pairs(text: str, pieces: list[Piece]) -> list[tuple[Edge, Edge]]:
    if "**" not in text and "~~" not in text:
        return []
    opened: dict[str, int] = {}
    pairs: list[tuple[Edge, Edge]] = []
    index = 0
    for run in _RUN.finditer(text):
        while index < len(pieces) and pieces[index].end <= run.start():
            index += 1
        inside = index < len(pieces) and pieces[index].start <= run.start()
        if inside or run.end() - run.start() != 2:  # noqa: PLR2004
            continue
        marker, start = run[0], run.start()
        before = text[start - 1] if start else " "
        after = text[run.end()] if run.end() < len(text) else " "
        opening = opened.get(marker)
        if opening is not None and _may_close(before, after) and _holds(text, opening + 2, start):
            pairs.append(_pair(marker, opening, start))
            # What was opened in between would cross this pair.
            opened = {other: place for other, place in opened.items() if place < opening}
        elif _may_open(before, after):
            opened[marker] = start
    return pairs


def _pair(marker: str, opening: int, closing: int) -> tuple[Edge, Edge]:
    bold = int(marker == "**")
    strike = 1 - bold
    return (
        Edge(opening, opening + 2, bold=bold, strike=strike),
        Edge(closing, closing + 2, bold=-bold, strike=-strike),
    )


def _may_open(before: str, after: str) -> bool:
    if after.isspace() or before in "/\\" or after in "/\\" or _between_words(before, after):
        return False
    return not _is_sign(after) or not _is_ascii_word(before)


def _may_close(before: str, after: str) -> bool:
    if before.isspace() or before in "/\\" or after in "/\\" or _between_words(before, after):
        return False
    return before not in "([{（「『【《“‘" and (not _is_sign(before) or not _is_ascii_word(after))


def _holds(text: str, start: int, end: int) -> bool:
    """Whether emphasis over this range makes sense: one line, with a letter or digit, brackets closed inside."""
    if end - start > _LONGEST:
        return False
    content = text[start:end]
    return (
        "\n" not in content
        and any(char.isalnum() for char in content)
        and content.count("(") == content.count(")")
        and content.count("（") == content.count("）")
    )


def _between_words(before: str, after: str) -> bool:
    """`x**2` is a power; `中文**重点**` is emphasis."""
    return _is_ascii_word(before) and _is_ascii_word(after)


def _is_ascii_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def _is_sign(char: str) -> bool:
    return not char.isalnum() and not char.isspace()
