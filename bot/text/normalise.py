"""Make spellings of the same text equal, for storing and for asking: width, script, quotes, dashes, hidden characters.

`fold` keeps letters' case, because identifiers are split where it changes; `normalise` does not.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache, lru_cache
from importlib import resources

_SIGNS = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u2035\u02bc\u00b4\u0060", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u2036\u00ab\u00bb\u300c\u300d\u300e\u300f\u301d\u301e\u301f", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2043\u2212\ufe63", "-"),
    # Keyboards turn a typed "--" into one long dash; options such as --allowed-domains must survive that.
    **dict.fromkeys("\u2014\u2015", "--"),
    # Zero-width and direction marks, soft hyphen, byte order mark, variation selectors.
    **dict.fromkeys("\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff", ""),
    **dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufe0e\ufe0f", ""),
}
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,7}|#x[0-9a-fA-F]{1,6});")


def fold(text: str) -> str:
    """`text` in compatibility form (NFKC), simplified characters, ASCII quotes and dashes; letters keep their case."""
    if text.isascii():
        return text
    # Signs go first: NFKC would turn an acute accent used as a quote into a space and a combining mark.
    text = _replacing(text, *_signs())
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    return _replacing(text, *_characters())


def normalise(text: str) -> str:
    """`fold` without case."""
    return fold(text).casefold()


def unescape(text: str) -> str:
    """A typed query as the reader meant it: Slack sends `&`, `<` and `>` as entities, sometimes twice over."""
    for _ in range(2):
        if not _ENTITY.search(text):
            break
        text = _ENTITY.sub(lambda found: html.unescape(found.group()), text)
    return text


def fold_with_offsets(text: str) -> tuple[str, list[int]]:
    """`fold` character by character, and for each character of the result the index in `text` that it came from.

    The list has one more item than the result: the length of `text`. Characters that only compose with their
    neighbour stay apart, which matters to nobody who looks for words.
    """
    pieces = list(map(_fold_one, text))
    folded = "".join(pieces)
    if len(folded) == len(text) and all(pieces):
        return folded, list(range(len(text) + 1))
    offsets: list[int] = []
    for index, piece in enumerate(pieces):
        offsets.extend([index] * len(piece))
    offsets.append(len(text))
    return folded, offsets


@lru_cache(maxsize=20_000)
def _fold_one(character: str) -> str:
    return fold(character)


def _replacing(text: str, wanted: re.Pattern[str], table: dict[str, str]) -> str:
    """`text` with every character of `table` replaced; far quicker than `translate` where there are few or none."""
    return wanted.sub(lambda found: table.get(found.group(), found.group()), text) if wanted.search(text) else text


@cache
def _signs() -> tuple[re.Pattern[str], dict[str, str]]:
    return _any_of(_SIGNS), _SIGNS


@cache
def _characters() -> tuple[re.Pattern[str], dict[str, str]]:
    """Traditional to simplified, and once more the signs that NFKC itself produces."""
    file = resources.files("bot.text").joinpath("data/traditional.tsv").read_text("utf-8")
    pairs = "".join(line for line in file.split("\n") if not line.startswith("#"))
    table = {**dict(zip(pairs[::2], pairs[1::2], strict=True)), **_SIGNS}
    return _any_of(table), table


def _any_of(table: dict[str, str]) -> re.Pattern[str]:
    # A set of characters is a bitmap to the regex engine only below U+10000; those beyond are looked up one by one.
    near = re.escape("".join(character for character in table if character < "\U00010000"))
    return re.compile(f"[{near}]|[\U00010000-\U0010ffff]")
