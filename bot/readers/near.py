"""Which words are spelt nearly like one that finds nothing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from bot.text.normalise import normalise
from bot.text.tokens import pieces

_SHORTEST = 3
_SHORT = 5
_LONGEST = 40


def allowance(word: str) -> int:
    """How many slips `word` may contain and still be recognised: none, one or two."""
    if len(word) > _LONGEST:
        return 0
    if any(piece.cjk for piece in pieces(word)):
        return 1 if len(word) >= _SHORTEST else 0
    if len(word) < _SHORTEST:
        return 0
    return 1 if len(word) <= _SHORT else 2


def nearest(word: str, candidates: Iterable[str], *, limit: int) -> list[str]:
    """Up to `limit` of `candidates`, the nearest first; equals in their given order. `word` itself is none of them."""
    wanted = normalise(word)
    most = allowance(wanted)
    if most == 0:
        return []
    letters = frozenset(wanted)
    scored: list[tuple[int, bool, int, str]] = []
    for order, candidate in enumerate(candidates):
        # Cheap questions first: most candidates differ in length or in too many letters.
        if abs(len(candidate) - len(wanted)) > most:
            continue
        spelt = _spelt(candidate)
        if spelt == wanted or len(letters.difference(spelt)) > most:
            continue
        slips = distance(wanted, spelt, most)
        if slips is not None:
            scored.append((slips, spelt[:1] != wanted[:1], order, candidate))
    return [candidate for *_, candidate in sorted(scored)[:limit]]


@lru_cache(maxsize=4_096)
def _spelt(candidate: str) -> str:
    return normalise(candidate)


def distance(one: str, two: str, most: int) -> int | None:
    """How many letters must be put in, left out, replaced or swapped with their neighbour; None if more than `most`."""
    before: list[int] = []
    row = list(range(len(two) + 1))
    for index, letter in enumerate(one, start=1):
        last, before, row = before, row, [index]
        for column, other in enumerate(two, start=1):
            cost = before[column - 1] + (letter != other)
            cost = min(cost, before[column] + 1, row[column - 1] + 1)
            if index > 1 and column > 1 and letter == two[column - 2] and one[index - 2] == other:
                cost = min(cost, last[column - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return None
    return row[-1] if row[-1] <= most else None
