"""Which words are spelt nearly like one that finds nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from bot.text.normalise import normalise
from bot.text.tokens import is_chinese, pieces

_SHORTEST = 3
_SHORT = 5
_LONGEST = 40
_LONGEST_CHINESE = 12
_SURE = 4
"""Characters of a Chinese word from which any other character may stand for a wrong one, not only one of its sound."""
_SAME_SOUND = 20
_FIRST_ROW, _LAST_ROW, _ROW = 0xB0, 0xD7, 94


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


def is_chinese_word(word: str) -> bool:
    """Whether `spellings` and `anchors` have anything to say about `word`."""
    return 1 < len(word) <= _LONGEST_CHINESE and all(map(is_chinese, word))


def anchors(word: str) -> list[tuple[str, ...]]:
    """Parts of a Chinese word: whichever one of its characters is wrong, all parts of one of these are right."""
    if len(word) > 3:  # noqa: PLR2004 - halves of two characters say enough
        middle = len(word) // 2
        return [(word[:middle],), (word[middle:],)]
    return [(word[:-1],), (word[1:],), *([(word[0], word[-1])] if len(word) > 2 else [])]  # noqa: PLR2004


def spellings(word: str, texts: Iterable[str], *, limit: int) -> list[str]:
    """What stands in `texts` and is `word` but for one character: first what sounds alike, then what stands often.

    In words of two or three characters only what sounds alike.
    """
    wanted = normalise(word)
    patterns = [
        re.compile(f"(?={re.escape(wanted[:index])}(.){re.escape(wanted[index + 1 :])})")
        for index in range(len(wanted))
    ]
    counts: Counter[tuple[bool, str]] = Counter()
    for text in texts:
        for index, pattern in enumerate(patterns):
            for found in pattern.finditer(text):
                other = found[1]
                if other == wanted[index] or not is_chinese(other):
                    continue
                alike = sound_alike(wanted[index], other)
                if alike or len(wanted) >= _SURE:
                    counts[not alike, wanted[:index] + other + wanted[index + 1 :]] += 1
    ordered = sorted(counts, key=lambda each: (each[0], -counts[each], each[1]))
    return [spelling for _, spelling in ordered[:limit]]


def sound_alike(one: str, two: str) -> bool:
    """Whether two Chinese characters are typed with much the same letters.

    GB 2312 lists its 3,755 common characters in the order of their pinyin, so neighbours there sound alike.
    """
    places = [_place(one), _place(two)]
    return None not in places and abs((places[0] or 0) - (places[1] or 0)) <= _SAME_SOUND


def _place(character: str) -> int | None:
    try:
        row, cell = character.encode("gb2312")
    except ValueError:  # not in it, or not two bytes long
        return None
    return (row - _FIRST_ROW) * _ROW + cell if _FIRST_ROW <= row <= _LAST_ROW else None
