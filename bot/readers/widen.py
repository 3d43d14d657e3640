"""From the words a reader typed to everything that means the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.model import Phrase, Term
from bot.text.english import inflections
from bot.text.glossary import Form, Glossary
from bot.text.normalise import fold
from bot.text.tokens import is_chinese, joined, phrase, pieces

_LONGEST_FORM = 6
"""Words in the longest glossary form that is looked for."""
MAX_ALTERNATIVES = 32
_FILLERS = frozenset(
    ("a", "an", "and", "are", "by", "for", "in", "is", "of", "on", "the", "to", "with", "的", "和", "与")
)
_SCRIPTS = re.compile(r"[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]+|[^\s]")
_PARTICLES = re.compile(r"[的了在与和及对为把被]")
_SEGMENT = 2
_LOOSENED = 100
"""Characters of a word that are worth taking apart."""


def literal(word: str) -> Term | None:
    """`word` as it stands, without the glossary; None if nothing in it can be searched."""
    exact = phrase(word)
    if exact is None:
        return None
    return Term(word=word, alternatives=tuple((each,) for each in (exact, *_joined(word))))


def widen(words: Sequence[str], glossary: Glossary) -> list[Term]:
    """One term for each of `words`, or for several neighbours that the glossary knows as one.

    `words` are in the form of `fold`, and each is searchable (`phrase` gives something). Fillers such as `of` are left
    out, unless there is nothing else.
    """
    terms: list[Term] = []
    fillers: list[Term] = []
    start = 0
    while start < len(words):
        end, term = _longest(words, start, glossary)
        (fillers if end == start + 1 and words[start].casefold() in _FILLERS else terms).append(term)
        start = end
    return terms or fillers


def split_scripts(word: str) -> list[str]:
    """`ROCm构建` as two words: readers leave out the space. The result joined is `word`."""
    parts: list[str] = []
    latin = False
    for found in _SCRIPTS.finditer(word):
        chinese = is_chinese(found.group()[0])
        if latin and not chinese and parts:
            parts[-1] += found.group()
        else:
            parts.append(found.group())
        latin = not chinese
    return parts


def loosen(term: Term, glossary: Glossary) -> list[Term] | None:
    """The pieces of a long word, each widened: two characters of a Chinese run, one word of an identifier.

    None if there is nothing to take apart.
    """
    parts: list[str] = []
    for piece in pieces(fold(term.word[:_LOOSENED])):
        if piece.cjk:
            parts.extend(part for run in _PARTICLES.split(piece.text) for part in _segments(run, glossary))
        else:
            parts.extend(part[0] for part in piece.parts)
    if len(parts) < 2:  # noqa: PLR2004 - one piece is the word itself
        return None
    return widen(list(dict.fromkeys(parts)), glossary)


def _longest(words: Sequence[str], start: int, glossary: Glossary) -> tuple[int, Term]:
    for end in range(min(len(words), start + _LONGEST_FORM), start + 1, -1):
        together = phrase(" ".join(words[start:end]))
        apart = tuple(each for word in words[start:end] if (each := phrase(word)))
        if together is None:
            continue
        known = [form for form in ((together,), apart) if glossary.knows(form)]
        if known:
            meanings = [meaning for form in known for meaning in glossary.meanings(form)]
            return end, _term(" ".join(words[start:end]), [(together,), apart, *meanings])
    return start + 1, _single(words[start], glossary)


def _single(word: str, glossary: Glossary) -> Term:
    exact = phrase(word)
    if exact is None:
        return Term(word=word, alternatives=())
    typed = [(exact,), *((each,) for each in _joined(word))]
    meanings = [meaning for form in typed for meaning in glossary.meanings(form)]
    if not meanings:
        # `offloaded` is not in the glossary; `offload` is.
        meanings = [meaning for form in _inflected((exact,)) for meaning in glossary.meanings(form)]
    return _term(word, [*typed, *meanings], spelt=typed[1:])


def _term(word: str, forms: Sequence[Form], *, spelt: Sequence[Form] = ()) -> Term:
    """A term with all inflections of its forms but those in `spelt`, which are identifiers."""
    inflected = [other for form in forms if form not in spelt for other in _inflected(form)]
    return Term(word=word, alternatives=tuple(dict.fromkeys((*forms, *inflected)))[:MAX_ALTERNATIVES])


def _inflected(form: Form) -> list[Form]:
    if len(form) != 1 or len(form[0].tokens) != 1:
        return []
    return [(Phrase(tokens=(other,)),) for other in inflections(form[0].tokens[0])]


def _joined(word: str) -> list[Phrase]:
    """The one-word spelling of an identifier that is all of `word`."""
    runs = list(pieces(fold(word)))
    if len(runs) != 1 or runs[0].cjk:
        return []
    return [Phrase(tokens=(form,)) for form in joined(runs[0])[:1]]


def _segments(run: str, glossary: Glossary) -> list[str]:
    """`run` in the glossary's words where it begins with one, else in pairs; a last single character is left out."""
    parts: list[str] = []
    start = 0
    while start < len(run):
        size = next(
            (size for size in range(6, _SEGMENT, -1) if _known(run[start : start + size], size, glossary)), _SEGMENT
        )
        part = run[start : start + size]
        if len(part) == _SEGMENT or len(part) == size or not parts:
            parts.append(part)
        start += size
    return parts


def _known(part: str, size: int, glossary: Glossary) -> bool:
    exact = phrase(part) if len(part) == size else None
    return exact is not None and glossary.knows((exact,))
