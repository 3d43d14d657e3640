"""Where a long text may be cut: after a paragraph, else a sentence, else a word, else a grapheme. Pure.

A grapheme is what a reader calls one character: `👨‍👩‍👧`, a flag, a letter with its marks. It is never cut.
*Barriers* are ranges of a text, such as code and links, inside which no cut is made.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from bot.render.limits import measure

Barriers: TypeAlias = Sequence[tuple[int, int]]

_PARAGRAPH: Final = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE: Final = re.compile(r"[。！？；…]+[”’」』）)\"']*\s*|[.!?;]+[\"')\]]*\s+|\n")
_PAUSE: Final = re.compile(r"[，、：；。！？]+\s*|[,;:.!?]\s+|\n")
_WORD: Final = re.compile(r"\s+|(?<=[^\x00-\x7f])(?=[\x00-\x7f])|(?<=[\u2e80-\u9fff])(?=[\u2e80-\u9fff])")

_JOINER: Final = "\u200d"
_WINDOW: Final = 3
"""A larger unit is preferred only if it fills a third of the room: no first part of a line or two."""


def graphemes(text: str) -> Iterator[str]:
    """The characters of `text` as a reader counts them, in order; joined they are `text` again."""
    start = 0
    for position in range(1, len(text)):
        if not _joined(text, position):
            yield text[start:position]
            start = position
    if text:
        yield text[start:]


def _joined(text: str, position: int) -> bool:
    """Whether no cut may be made before `text[position]`."""
    character, before = text[position], text[position - 1]
    if before == _JOINER:
        return True
    if character < "\u0300":
        return character == "\n" and before == "\r"
    if character == _JOINER:
        return True
    if _is_flag_letter(character) and _is_flag_letter(before):
        first = position
        while first and _is_flag_letter(text[first - 1]):
            first -= 1
        return (position - first) % 2 == 1
    return _extends(character) or _hangul(before, character)


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _extends(character: str) -> bool:
    return (
        "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= character <= "\U000e007f"  # tags of regional flags
        or unicodedata.category(character) in ("Mn", "Me", "Mc")
    )


def _hangul(before: str, character: str) -> bool:
    """Conjoining Hangul: leading consonants, then vowels, then trailing consonants are one syllable."""
    if "\u1100" <= character <= "\u115f":
        return "\u1100" <= before <= "\u115f"
    if "\u1160" <= character <= "\u11a7":
        return "\u1100" <= before <= "\u11a7" or "\uac00" <= before <= "\ud7a3"
    if "\u11a8" <= character <= "\u11ff":
        return "\u1160" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    return False


def ceiling(text: str, most: int, *, size: Callable[[str], int] = measure) -> int:
    """The longest prefix of `text`, in code points, that is at most `most` in `size`."""
    if size(text) <= most:
        return len(text)
    low, high = 0, min(len(text), max(0, most))
    while low < high:
        middle = (low + high + 1) // 2
        if size(text[:middle]) <= most:
            low = middle
        else:
            high = middle - 1
    return low


def best_cut(text: str, end: int, *, barriers: Barriers = ()) -> int:
    """The best place at or before `end` to cut; 0 if there is none."""
    return _best(text, end, (_PARAGRAPH, _SENTENCE, _WORD), barriers)


def best_pause(text: str, end: int, *, barriers: Barriers = ()) -> int:
    """The best place at or before `end` to end a preview: after a comma or a stop, else a word; 0 if there is none."""
    return _best(text, end, (_PAUSE, _WORD), barriers)


def _best(text: str, end: int, kinds: Sequence[re.Pattern[str]], barriers: Barriers) -> int:
    if end >= len(text):
        return len(text)
    if end <= 0:
        return 0
    floor = end // _WINDOW
    for kind in kinds:
        # Two more characters, so that a stop right at the end is seen with the space after it.
        places = [found.end() for found in kind.finditer(text, floor, min(len(text), end + 2))]
        for place in reversed(places):
            if floor < place <= end and _free(text, place, barriers):
                return place
    place = end
    while place and not _free(text, place, barriers):
        place -= 1
    return place


def _free(text: str, place: int, barriers: Barriers) -> bool:
    if any(start < place < stop for start, stop in barriers):
        return False
    return place >= len(text) or not _joined(text, place)


def cut_position(text: str, most: int, *, size: Callable[[str], int] = measure) -> int:
    """The best place, at most `most` in `size`, to end the first part of `text`; at least one character."""
    end = ceiling(text, most, size=size)
    # A single grapheme longer than the room (marks without end) is cut where it must be: nothing is dropped.
    return best_cut(text, end) or max(1, end)


def split_text(text: str, most: int, *, size: Callable[[str], int] = measure) -> tuple[str, ...]:
    """`text` in parts of at most `most`; joined they are `text` again. An empty text has no part."""
    parts = []
    while text:
        position = cut_position(text, most, size=size)
        parts.append(text[:position])
        text = text[position:]
    return tuple(parts)


def shorten(text: str, most: int, *, size: Callable[[str], int] = measure) -> str:
    """`text` on one line in at most `most`, with `…` where something was left out."""
    line = " ".join(text.split())
    if size(line) <= most:
        return line
    place = ceiling(line, most - 1, size=size)
    while place and _joined(line, place):
        place -= 1
    return line[:place].rstrip() + "…"
