"""Everything by which an entry can be found, as tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.model import Entry
from bot.text.normalise import fold, normalise
from bot.text.tokens import MAX_CHARACTERS, MAX_JOINED, Piece, joined, metadata, pieces, stream, tokenise

EVERY = "is:entry"
"""The token of every entry, for queries that only exclude."""

_NUMBER = re.compile(r"#(\d+)\Z", re.ASCII)
_LINKED = re.compile(r"/([\w.-]+/[\w.-]+)/(?:pull|issues|merge_requests)/(\d+)", re.ASCII)
_WORD_LENGTHS = range(3, 33)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedText:
    """What is stored so that an entry is found."""

    tokens: tuple[str, ...]
    """All tokens in order, gaps between the parts: title, body, one-word identifiers, repository, facts."""
    title: tuple[str, ...]
    """The title's tokens and its one-word identifiers, for ranking."""
    words: frozenset[str]
    """Its Latin words as written but lower-case, for "did you mean"."""


def indexed(entry: Entry) -> IndexedText:
    """The tokens of `entry`. Nothing but the entry and `TOKENS_VERSION` decides them."""
    title, body = fold(entry.title[:MAX_CHARACTERS]), fold(entry.body[:MAX_CHARACTERS])
    title_tokens = [token.text for token in tokenise(title)]
    title_pieces, body_pieces = list(pieces(title)), list(pieces(body))
    title_joined = list(dict.fromkeys(form for piece in title_pieces for form in joined(piece)))
    body_joined = (form for piece in body_pieces for form in joined(piece))
    all_joined = list(dict.fromkeys([*title_joined, *body_joined]))[:MAX_JOINED]
    tokens = stream(
        (
            title_tokens,
            # Facts stand before the body, which may be cut at the end.
            list(dict.fromkeys(_facts(entry))),
            *([f"audience:{token.text}" for token in tokenise(fold(each))] for each in entry.extraction.audience),
            [token.text for token in tokenise(fold(entry.repo))],
            all_joined,
            [token.text for token in tokenise(body)],
        )
    )
    return IndexedText(
        tokens=tokens,
        title=stream((title_tokens, title_joined)),
        words=frozenset(word for piece in (*title_pieces, *body_pieces) for word in _words(piece)),
    )


def _facts(entry: Entry) -> Iterator[str]:
    yield EVERY
    repo = entry.repo
    named = [("repo", name) for name in (repo, *repo.split("/"))]
    if entry.extraction.verdict is not None:
        named.append(("verdict", entry.extraction.verdict))
    named.extend(("topic", topic) for topic in entry.extraction.topics)
    named.extend(("pr", reference) for reference in _pull_requests(entry))
    named.extend(("path", part) for path in entry.extraction.paths for part in _path_parts(path))
    for name, value in named:
        token = metadata(name, value)
        if token is not None:
            yield token


def _pull_requests(entry: Entry) -> Iterator[str]:
    for reference in entry.extraction.pull_requests:
        found = _NUMBER.search(reference)
        if found:
            yield found[1]
            yield reference if found.start() else f"{entry.repo}#{found[1]}"
    linked = _LINKED.search(entry.url or "")
    if linked:
        yield linked[2]
        yield f"{linked[1]}#{linked[2]}"


def _path_parts(path: str) -> Iterator[str]:
    """A path, every folder above it, every end of it, every name in it."""
    names = [name for name in normalise(path).strip("/").split("/") if name][:12]
    for index in range(len(names)):
        yield "/".join(names[: index + 1])
        yield "/".join(names[index:])
        yield names[index]
    if names:
        yield names[-1].rpartition(".")[0] or names[-1]


def _words(piece: Piece) -> Iterator[str]:
    spelt = [part[0].casefold() for part in piece.parts]
    for word in (*spelt, "".join(spelt)) if len(spelt) > 1 else spelt:
        if len(word) in _WORD_LENGTHS and not word.isdigit():
            yield word
