"""Whether two items are one entry. Pure, and never by file name, position or order of arrival.

An item that has an explicit key or a subject link is that; else it is its repository and its title without regard to
case, width, blanks and punctuation, but with regard to operators: `a != b` is not `a == b`. A changed title with nearly
the same body is the same entry only if all numbers, identifiers and operators agree: dependency bumps are alike and not
the same. When in doubt, it is a new entry.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from bot.model import ParsedEntry
from bot.text.change import change
from bot.text.normalise import normalise

NEARLY_SAME = 0.1
"""Up to this fraction of the body may differ where only the title is new."""
DISTINCTIVE_LENGTH = 40
"""A shorter body ("routine upgrade") says nothing about which change it describes."""
WINDOW_DAYS = 14

_SIGNS_SHARED = 0.4
"""The part of the shorter title's signs, Latin ones aside, that a reworded title keeps."""
_LONGEST_IDENTITY = 400
_WORDS = re.compile(r"(?<=\d)\.(?=\d)|[^\W_]|[_+#]")
_OPERATOR = re.compile(
    r"""
    (?<![=<>!-]) (?: [=!]==?(?!=) | [<>]=?(?![=<>-]) | <<(?![<>=-]) | >>(?![<>=]) )  # no arrow, no row of signs
    | (?<!&)&&(?!&) | (?<!\|)\|\|(?!\|)
    | (?<![\w)\]!])!(?=[a-z_(])  # no stop after a word
    | (?<![a-z0-9_%)\]+-])(?<!\d[\u2e80-\u9fff])-(?=\d)  # a sign, not "1-2" or "3月-5月"
    """,
    re.VERBOSE,
)
"""What an editor does not change in passing. Plus signs, `++` and `#` are parts of words already."""
_OPERATOR_SPELLINGS = str.maketrans({"≠": "!=", "≤": "<=", "≥": ">=", "≦": "<=", "≧": ">="})
_SPACE_BY_CJK = re.compile(r" (?=[\u2e80-\u9fff\uf900-\ufaff])|(?<=[\u2e80-\u9fff\uf900-\ufaff]) ")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_LATIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:(?:[./-]|::)[A-Za-z0-9_]+)*(?:\+\+|#(?!\w))?")
_CODE_LIKE = re.compile(r"[_\d./]|::|[a-z][A-Z]|[A-Z]{2,}[a-z]{2}")


def normalise_title(title: str) -> str:
    """Give the form in which titles are compared; `normalise_title` of it is itself."""
    text = normalise(title)
    kept: list[str] = []
    position = 0
    for match in _WORDS.finditer(text):
        if match.start() > position and kept:
            kept.append(" ")
        kept.append(match[0])
        position = match.end()
    folded = _SPACE_BY_CJK.sub("", "".join(kept))
    return folded or " ".join(text.split())


def operators(title: str) -> tuple[str, ...]:
    """Give the operators of a title in order: what tells it from another one with the same words."""
    return tuple(_OPERATOR.findall(normalise(title).translate(_OPERATOR_SPELLINGS)))


def identity(entry: ParsedEntry) -> str:
    """Give the key under which the entry is recorded for ever: at most 400 characters, equal for equal subjects."""
    former = former_identity(entry)
    signs = () if entry.key or entry.url else operators(entry.title)
    # No normalised title ends like this: it keeps no blank beside a sign that is no word.
    return _bounded(f"{former} | {' '.join(signs)}") if signs else former


def former_identity(entry: ParsedEntry) -> str:
    """Give the key without regard to operators, under which older entries are recorded: most often it is `identity`."""
    repo = entry.repo.casefold()
    if entry.key:
        return _bounded(f"key:{repo}:{entry.key.strip()}")
    if entry.url:
        return _bounded(f"url:{_normalise_url(entry.url)}")
    return _bounded(f"title:{repo}:{normalise_title(entry.title)}")


def same_operators(old_title: str, new_title: str) -> bool:
    """Whether two titles differ in no operator, unless they differ in words: then they are not compared so."""
    return operators(old_title) == operators(new_title) or normalise_title(old_title) != normalise_title(new_title)


@dataclass(frozen=True, slots=True)
class Looks:
    """What of an item is compared with another one's, made once."""

    body: str
    words: frozenset[str]
    """The Latin words of its title."""
    signs: frozenset[str]
    """The letters of its title, Latin ones aside."""
    operators: tuple[str, ...]
    marks: tuple[frozenset[str], frozenset[str]]
    """Numbers and code-like words of title and body: what tells two otherwise equal texts apart."""


def looks(title: str, body: str) -> Looks:
    """Give what is compared of an item."""
    text = f"{title}\n{body}"
    return Looks(
        body=body,
        words=frozenset(map(str.lower, _LATIN.findall(title))),
        signs=frozenset(sign for sign in title if sign.isalpha() and not sign.isascii()),
        operators=operators(title),
        marks=(
            frozenset(_NUMBER.findall(text)),
            frozenset(word for word in _LATIN.findall(text) if _CODE_LIKE.search(word)),
        ),
    )


def rewording(old: Looks, new: Looks) -> float | None:
    """How much of the body differs where a new title over nearly the same body is the old entry; None where it is not.

    Repository and time are the caller's to compare.
    """
    if (
        min(len(old.body), len(new.body)) < DISTINCTIVE_LENGTH
        or old.operators != new.operators
        or old.marks != new.marks
        or not _words_nest(old, new)
    ):
        return None
    difference = change(old.body, new.body)
    return difference if difference <= NEARLY_SAME else None


def _words_nest(old: Looks, new: Looks) -> bool:
    """Titles may gain or lose Latin words, not swap them: `Bump foo` and `Bump bar` are two."""
    if not (old.words <= new.words or new.words <= old.words):
        return False
    return not old.words.isdisjoint(new.words) or _signs_shared(old.signs, new.signs)


def _signs_shared(old: frozenset[str], new: frozenset[str]) -> bool:
    """Titles without a common Latin word must share a good part of their other signs: bodies may be phrases."""
    fewer = min(len(old), len(new))
    return fewer > 0 and len(old & new) >= _SIGNS_SHARED * fewer


def _normalise_url(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
    except ValueError:  # an unfinished bracket in the host: compare it as written
        return url.strip()
    query = urlencode([(k, v) for k, v in parse_qsl(parts.query, keep_blank_values=True) if not k.startswith("utm_")])
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path.rstrip("/"), query, ""))


def _bounded(text: str) -> str:
    if len(text) <= _LONGEST_IDENTITY:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text[: _LONGEST_IDENTITY - len(digest) - 1]}#{digest}"
