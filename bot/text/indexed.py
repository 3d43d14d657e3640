"""Everything by which an entry can be found, as tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.model import Entry
from bot.text.normalise import fold, normalise
from bot.text.pulls import address, linked_pulls
from bot.text.tokens import MAX_CHARACTERS, MAX_JOINED, metadata, scan, stream

EVERY = "is:entry"
"""The token of every entry, for queries that only exclude."""

_NUMBER = re.compile(r"#(\d+)\Z", re.ASCII)
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
    title = scan(fold(entry.title[:MAX_CHARACTERS]))
    body = scan(fold(entry.body[:MAX_CHARACTERS]))
    title_joined = list(dict.fromkeys(title.joined))
    tokens = stream(
        (
            title.tokens,
            # Facts stand before the body, which may be cut at the end.
            list(dict.fromkeys(_facts(entry))),
            *([f"audience:{token}" for token in scan(fold(each)).tokens] for each in entry.extraction.audience),
            scan(fold(entry.repo)).tokens,
            list(dict.fromkeys([*title_joined, *body.joined]))[:MAX_JOINED],
            body.tokens,
        )
    )
    return IndexedText(
        tokens=tokens,
        title=stream((title.tokens, title_joined)),
        words=frozenset(
            word for word in (*title.words, *body.words) if len(word) in _WORD_LENGTHS and not word.isdigit()
        ),
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
    # Named by their address: entries of a former extraction do not list these.
    for link in linked_pulls(f"{entry.title[:MAX_CHARACTERS]}\n{entry.body[:MAX_CHARACTERS]}"):
        yield link.number
        yield f"{link.repo}#{link.number}"
    subject = address(entry.url or "")
    if subject and subject.number:
        yield subject.number
        yield f"{subject.repo}#{subject.number}"


def _path_parts(path: str) -> Iterator[str]:
    """A path, every folder above it, every end of it, every name in it."""
    names = [name for name in normalise(path).strip("/").split("/") if name][:12]
    for index in range(len(names)):
        yield "/".join(names[: index + 1])
        yield "/".join(names[index:])
        yield names[index]
    if names:
        yield names[-1].rpartition(".")[0] or names[-1]
