"""Where in a text the words of a query stand, and the passage that shows them best."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from bot.model import Phrase, Snippet, Span, Term
from bot.text.normalise import fold_with_offsets
from bot.text.tokens import Token, joined, pieces, tokens_of

WIDTH = 96
"""Columns of a snippet; a Chinese character takes two."""
_LEAD = 28
"""Columns shown before the first match, at most."""
_LONGEST_WORD = 24
_SENTENCE = re.compile(r"[^。！？；!?;\n]*(?:[。！？；!?;]+|\n|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Found:
    """A place in a text, in code points, and the position of the term that stands there."""

    start: int
    end: int
    term: int


class Text:
    """A text, ready to be asked for any number of terms."""

    __slots__ = ("_at", "_joined", "_offsets", "_tokens", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        folded, self._offsets = fold_with_offsets(text)
        runs = list(pieces(folded))
        self._tokens = [token for run in runs for token in tokens_of(run)]
        self._at: dict[str, list[int]] = {}
        for index, token in enumerate(self._tokens):
            self._at.setdefault(token.text, []).append(index)
        self._joined = [
            Token(text=form, start=run.start, end=run.end) for run in runs if len(run.parts) > 1 for form in joined(run)
        ]

    def has(self, phrase: Phrase) -> bool:
        """Whether `phrase` stands anywhere."""
        return next(self._places(phrase), None) is not None

    def find(self, phrase: Phrase) -> list[Span]:
        """Every place of `phrase`, in code points of the text."""
        return [Span(start=self._offsets[start], end=self._offsets[end - 1] + 1) for start, end in self._places(phrase)]

    def _places(self, phrase: Phrase) -> Iterator[tuple[int, int]]:
        wanted = phrase.tokens
        if phrase.prefix and len(wanted) == 1:
            begins = (index for text, places in self._at.items() if text.startswith(wanted[0]) for index in places)
            firsts: Sequence[int] = sorted(begins)
        else:
            firsts = self._at.get(wanted[0], ())
        for index in firsts:
            last = self._rest(index, phrase)
            if last is not None:
                end = last.start + len(wanted[-1]) if phrase.prefix else last.end
                yield self._tokens[index].start, end
        if len(wanted) == 1:
            yield from ((token.start, token.end) for token in self._joined if token.text == wanted[0])

    def _rest(self, index: int, phrase: Phrase) -> Token | None:
        """The last token of `phrase` if it stands whole at `index`."""
        wanted = phrase.tokens
        run = self._tokens[index : index + len(wanted)]
        if len(run) < len(wanted) or any(a.text != b for a, b in zip(run[1:-1], wanted[1:-1], strict=False)):
            return None
        return run[-1] if _fits(run[-1].text, wanted[-1], prefix=phrase.prefix) else None


def matches(text: Text, terms: Sequence[Term], *, beside: Collection[Text] = ()) -> list[Found]:
    """Every place of `terms` in `text`, in order; where two overlap, the longer one.

    A form of several phrases counts if each stands in `text` or in one of `beside`.
    """
    found: list[Found] = []
    for index, term in enumerate(terms):
        for form in term.alternatives:
            if all(text.has(phrase) or any(other.has(phrase) for other in beside) for phrase in form):
                found.extend(
                    Found(start=span.start, end=span.end, term=index) for phrase in form for span in text.find(phrase)
                )
    return _apart(found)


def snippet(text: Text, terms: Sequence[Term], *, beside: Collection[Text] = ()) -> Snippet | None:
    """The passage of a body that shows most of `terms`, the first of equals; None if it shows none."""
    found = matches(text, terms, beside=beside)
    if not found:
        return None
    best: tuple[int, list[Found], Span] | None = None
    for sentence in _sentences(text.text):
        inside = [each for each in found if sentence.start <= each.start and each.end <= sentence.end]
        window = _window(text.text, sentence, inside) if inside else None
        if window is None:
            continue
        shown = [each for each in inside if window.start <= each.start and each.end <= window.end]
        count = len({each.term for each in shown})
        if best is None or count > best[0]:
            best = (count, shown, window)
            if count == len(terms):
                break
    if best is None:
        return None
    _, shown, window = best
    passage = text.text[window.start : window.end]
    whole = next(each for each in _sentences(text.text) if each.start <= window.start < each.end)
    return Snippet(
        text=passage,
        matches=tuple(Span(start=each.start - window.start, end=each.end - window.start) for each in shown),
        cut_before=bool(text.text[whole.start : window.start].strip()),
        cut_after=bool(text.text[window.end : whole.end].strip()),
    )


def _fits(token: str, wanted: str, *, prefix: bool) -> bool:
    return token.startswith(wanted) if prefix else token == wanted


def _apart(found: list[Found]) -> list[Found]:
    kept: list[Found] = []
    for each in sorted(set(found), key=lambda each: (each.start, -each.end, each.term)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def _sentences(text: str) -> Iterator[Span]:
    for found in _SENTENCE.finditer(text):
        if found.group().strip():
            yield Span(start=found.start(), end=found.end())


def _window(text: str, sentence: Span, inside: Sequence[Found]) -> Span:
    """The part of a sentence to show: from a little before the first match, as far as the width goes."""
    start = inside[0].start
    lead = 0
    while start > sentence.start and lead < _LEAD:
        start -= 1
        lead += _columns(text[start])
    end, used = start, 0
    while end < sentence.end and (used < WIDTH or end < inside[0].end):
        used += _columns(text[end])
        end += 1
    start = _to_boundary(text, start, sentence.start, inside[0].start)
    while end < sentence.end and end - 1 > inside[0].end and _inside_word(text, end):
        end -= 1
    while start < inside[0].start and text[start].isspace():
        start += 1
    while end > inside[0].end and text[end - 1].isspace():
        end -= 1
    return Span(start=start, end=end)


def _to_boundary(text: str, start: int, earliest: int, latest: int) -> int:
    """The first place from `start` on that does not cut a word, unless the word is too long for that."""
    moved = start
    while earliest < moved < latest and _inside_word(text, moved):
        moved += 1
    return moved if moved - start <= _LONGEST_WORD else start


def _inside_word(text: str, index: int) -> bool:
    return _of_word(text[index - 1]) and _of_word(text[index])


def _of_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character in "_-./")


def _columns(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
