"""Turn text into search tokens, once, in Python: every database then stores and finds the same.

No dictionary is needed. A Chinese run becomes its overlapping pairs of characters and then its last character alone, so
that the phrase of a literal's pairs means exactly this substring, and a single character is a prefix. Identifiers are
split where a reader would split them. `ARCHITECTURE.md` and the tests give examples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import add
from typing import NamedTuple

from bot.model import Phrase
from bot.text.english import singular
from bot.text.normalise import fold, normalise

TOKENS_VERSION = 2
"""Goes up whenever the same text would give other tokens: what is stored is then built anew."""

GAP = "#"
"""Stands between parts of an entry so that no phrase runs from one into the next. Never part of a query."""

MAX_CHARACTERS = 60_000
MAX_TOKENS = 16_000
"""PostgreSQL counts positions up to 16,383, so no entry may have more tokens."""
MAX_REPEATS = 255
"""PostgreSQL keeps 256 positions of a token within an entry; further ones become gaps in every database."""
MAX_TOKEN_LENGTH = 64
_MAX_PARTS = 12
_MAX_FACT = 200
MAX_JOINED = 600

_CJK = (
    r"\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\U00020000-\U0003ffff"
)
_WORD = rf"[^\W_{_CJK}]+"
_PIECES = re.compile(
    rf"(?P<cjk>[{_CJK}]+)|(?P<cpp>(?<![^\W_])[cC]\+\+)|(?P<sharp>(?<![^\W_])[cCfF]#(?![\w]))"
    rf"|(?P<compound>{_WORD}(?:[_-]{_WORD})*)"
)
_WORDS = re.compile(_WORD)
_CJK_CHARACTER = re.compile(f"[{_CJK}]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z]{2})")
_UNSAFE = re.compile(r"[^\w./#-]+")


class Token(NamedTuple):
    """A token and the half-open range of the folded text it was made from. Made by the hundred for every hit shown."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A maximal run of one script in folded text: a Chinese run, or a word or identifier."""

    text: str
    start: int
    end: int
    cjk: bool
    parts: tuple[tuple[str, int, int], ...]
    """The words of an identifier with their ranges, in the case they were written in; empty for a Chinese run."""


def pieces(folded: str) -> Iterator[Piece]:
    """The runs of `folded` (the result of `fold`), in order. Signs and emoji are in none of them."""
    for found in _PIECES.finditer(folded):
        start, end = found.span()
        kind = found.lastgroup
        if kind == "cjk":
            yield Piece(text=found.group(), start=start, end=end, cjk=True, parts=())
        elif kind == "compound":
            parts = tuple(_parts(found.group(), start))
            yield Piece(text=found.group(), start=start, end=end, cjk=False, parts=parts)
        else:
            name = "cpp" if kind == "cpp" else found.group()[0] + "sharp"
            yield Piece(text=found.group(), start=start, end=end, cjk=False, parts=((name, start, end),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What `scan` sees in a text."""

    tokens: list[str]
    """The same as `tokenise` gives, without ranges."""
    joined: list[str]
    """Every identifier's one-word forms, in order."""
    words: list[str]
    """Latin words and identifiers as written, but lower-case and without signs."""


def scan(folded: str) -> Scan:
    """Everything that is indexed of `folded`, in one pass: ingest spends most of its time here."""
    tokens: list[str] = []
    forms: list[str] = []
    words: list[str] = []
    for found in _PIECES.finditer(folded):
        run = found.group()
        if found.lastgroup == "cjk":
            tokens.extend(map(add, run, run[1:]))
            tokens.append(run[-1])
            continue
        parts, compounds, spelt = _compound(run, found.lastgroup)
        tokens.extend(parts)
        forms.extend(compounds)
        words.extend(spelt)
    return Scan(tokens=tokens, joined=forms, words=words)


@lru_cache(maxsize=20_000)
def _compound(run: str, kind: str | None) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Tokens, one-word forms and spellings of a word or identifier. Texts repeat theirs over and over."""
    del kind  # tells `c++` from a compound that looks like it, for the cache
    piece = next(pieces(run))
    parts = tuple(token.text for token in tokens_of(piece))
    spelt = [part[0].casefold() for part in piece.parts]
    whole = ["".join(spelt)] if len(spelt) > 1 else []
    return parts, tuple(joined(piece)), (*spelt, *whole)


def tokenise(folded: str) -> list[Token]:
    """All tokens of `folded`, in order, with their ranges."""
    tokens: list[Token] = []
    for piece in pieces(folded):
        tokens.extend(tokens_of(piece))
    return tokens


def phrase(text: str, *, limit: int = MAX_TOKEN_LENGTH) -> Phrase | None:
    """The tokens that stand side by side wherever `text` stands; None if nothing in it can be searched.

    Longer texts are cut after `limit` tokens.
    """
    tokens: list[str] = []
    last: Piece | None = None
    for piece in pieces(fold(text)):
        last = piece
        tokens.extend(token.text for token in tokens_of(piece))
        if len(tokens) > limit:
            return Phrase(tokens=tuple(tokens[:limit]))
    if last is None:
        return None
    if last.cjk and len(last.text) > 1:
        # The run may go on in the entry; only its pairs are certain.
        tokens.pop()
    return Phrase(tokens=tuple(tokens), prefix=last.cjk and len(last.text) == 1)


def spelt(wanted: Phrase) -> str:
    """The words that a phrase stands for, to be shown: pairs of a Chinese run become the run again."""
    shown = before = ""
    for token in wanted.tokens:
        # A lone character ends its run: what follows begins another, also where it begins with the same.
        if len(before) > 1 and is_chinese(token[0]) and before[-1] == token[0]:
            shown += token[1:]
        else:
            shown += f" {token}" if shown else token
        before = token
    return shown


def joined(piece: Piece) -> list[str]:
    """The identifier in one word, and each two neighbours in one word. Empty for plain words and for numbers.

    `multi_modal_data` gives `multimodaldata`, `multimodal` and `modaldata`.
    """
    words = [part[0].casefold() for part in piece.parts[:_MAX_PARTS]]
    if len(words) < 2 or all(word.isdigit() for word in words):  # noqa: PLR2004 - a pair
        return []
    forms = ["".join(words)]
    if len(words) > 2:  # noqa: PLR2004 - more than the pair above
        forms += [first + second for first, second in pairwise(words)]
    return [_cut(form) for form in forms]


def is_chinese(character: str) -> bool:
    """Whether a character belongs to the runs that are split in pairs (Japanese and Korean ones do, too)."""
    return _CJK_CHARACTER.match(character) is not None


def metadata(name: str, value: str) -> str | None:
    """The token for a fact about an entry, `repo:vllm`; None if nothing of `value` may be part of one."""
    safe = _UNSAFE.sub("", normalise(value))[:_MAX_FACT]
    return f"{name}:{safe}" if safe else None


def stream(parts: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """One list of tokens with a gap between the parts, within the limits that both databases share."""
    result: list[str] = []
    for part in parts:
        if result:
            result.append(GAP)
        result.extend(part)
    del result[MAX_TOKENS:]
    if len(result) > MAX_REPEATS and max(Counter(result).values()) > MAX_REPEATS:
        seen: Counter[str] = Counter()
        for index, token in enumerate(result):
            seen[token] += 1
            if seen[token] > MAX_REPEATS:
                result[index] = GAP
    return tuple(result)


def tokens_of(piece: Piece) -> Iterator[Token]:
    """The tokens of a run, in order, with their ranges."""
    if not piece.cjk:
        for word, start, end in piece.parts:
            yield Token(text=_cut(word.casefold()), start=start, end=end)
        return
    run, start = piece.text, piece.start
    for index in range(len(run) - 1):
        yield Token(text=run[index : index + 2], start=start + index, end=start + index + 2)
    yield Token(text=run[-1], start=piece.end - 1, end=piece.end)


def _parts(compound: str, offset: int) -> Iterator[tuple[str, int, int]]:
    for found in _WORDS.finditer(compound):
        start = found.start()
        for word in _camel(found.group()):
            yield word, offset + start, offset + start + len(word)
            start += len(word)


def _camel(word: str) -> list[str]:
    """`FlashAttention` in two, but vLLM, ROCm and MoE whole: no half may be a single letter."""
    if word.islower() or word.isupper() or word.isdigit():
        return [word]
    halves: list[str] = []
    for half in _CAMEL.split(word):
        if halves and (len(half) == 1 or len(halves[-1]) == 1):
            halves[-1] += half
        else:
            halves.append(half)
    return halves


def _cut(word: str) -> str:
    return singular(word[:MAX_TOKEN_LENGTH])
