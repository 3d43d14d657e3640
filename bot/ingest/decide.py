"""What a digest file changes: old state and new data give intents. Pure; `service` acts on them.

An entry's wording is that of its newest edition; of two documents of one edition, the later to arrive. An older
edition that arrives late adds appearances and changes no wording, so the order of arrival does not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from bot.ingest.extract import extract
from bot.ingest.identify import WINDOW_DAYS, former_identity, identity, same_operators
from bot.ingest.reworded import Rewordings
from bot.model import DocumentState, Extraction, ParsedEntry, Problem
from bot.text.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A digest file as it is to be recorded."""

    source: str
    name: str
    sha256: str
    edition: date
    arrived_at: datetime
    state: DocumentState
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEntry:
    """An entry that is recorded already, with its present wording."""

    id: int
    repo: str
    title: str
    body: str
    url: str | None
    revision: int
    current_edition: date
    """The edition that the present wording comes from."""


class IntentKind(StrEnum):
    """What an appearance does to its entry."""

    NEW = "new"
    REVISED = "revised"
    SAME = "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """All that an entry takes from the item that words it."""

    repo: str
    title: str
    body: str
    url: str | None
    extraction: Extraction


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryIntent:
    """One appearance, and what becomes of its entry.

    NEW: insert an entry with `identity` and `wording`, revision 1. An entry of the same document with the same
    identity has come before iff `kind` is SAME and `entry_id` is None.
    REVISED: `wording` becomes revision `expected_revision` + 1 of `entry_id`.
    SAME: the wording stays. In both of the latter the entry's current edition rises to the document's, where that is
    greater, and `identity` becomes one more name of the entry, where it is not one already.
    """

    kind: IntentKind
    position: int
    line: int
    identity: str
    entry_id: int | None = None
    expected_revision: int | None = None
    wording: Wording | None = None


def identities(entries: Collection[ParsedEntry]) -> tuple[str, ...]:
    """Give the identity of each item, in order."""
    return tuple(identity(entry) for entry in entries)


def names(entries: Collection[ParsedEntry]) -> frozenset[str]:
    """Give every identity by which the items may be known."""
    return frozenset(identities(entries)) | {former_identity(entry) for entry in entries}


def window(edition: date) -> tuple[date, date]:
    """Give the first and last edition whose entries a reworded title may belong to."""
    reach = timedelta(days=WINDOW_DAYS)
    earliest = edition - reach if edition - date.min > reach else date.min
    latest = edition + reach if date.max - edition > reach else date.max
    return earliest, latest


def decide(
    document: NewDocument,
    entries: Collection[ParsedEntry],
    known: Mapping[str, KnownEntry],
    recent: Collection[KnownEntry],
    *,
    vocabulary: Vocabulary,
) -> tuple[EntryIntent, ...]:
    """Give one intent for each item, in order.

    `known` holds the recorded entries that have one of the items' `names`, `recent` those of the same repositories
    within `window`.
    """
    if document.state is not DocumentState.ACCEPTED:
        return ()
    return tuple(_intents(document, entries, known, recent, vocabulary))


def _intents(
    document: NewDocument,
    entries: Collection[ParsedEntry],
    known: Mapping[str, KnownEntry],
    recent: Collection[KnownEntry],
    vocabulary: Vocabulary,
) -> Iterator[EntryIntent]:
    keys = identities(entries)
    # An entry that stands in the document under its own name is not another item reworded.
    olds = [_known(entry, key, known) for key, entry in zip(keys, entries, strict=True)]
    spoken_for = {old.id for old in olds if old is not None}
    rewordings = Rewordings(recent)
    seen: dict[str, int | None] = {}
    worded: set[int] = set()
    for key, entry, named in zip(keys, entries, olds, strict=True):
        if key in seen:
            yield EntryIntent(
                kind=IntentKind.SAME, position=entry.position, line=entry.line, identity=key, entry_id=seen[key]
            )
            continue
        old = named or rewordings.nearest(entry, spoken_for)
        if old is None:
            seen[key] = None
            yield EntryIntent(
                kind=IntentKind.NEW,
                position=entry.position,
                line=entry.line,
                identity=key,
                wording=_wording(entry, vocabulary),
            )
            continue
        seen[key] = old.id
        spoken_for.add(old.id)
        # An old and a new title of one entry, side by side: one of them words it.
        first = old.id not in worded
        worded.add(old.id)
        yield _onto(old, entry, key, document.edition, vocabulary, may_word=first)


def _known(entry: ParsedEntry, key: str, known: Mapping[str, KnownEntry]) -> KnownEntry | None:
    """Find the entry that has this identity, or had it when identities knew no operators."""
    old = known.get(key)
    if old is None:
        old = known.get(former_identity(entry))
        return old if old is not None and same_operators(old.title, entry.title) else None
    return old


def _onto(
    old: KnownEntry, entry: ParsedEntry, key: str, edition: date, vocabulary: Vocabulary, *, may_word: bool
) -> EntryIntent:
    worded = (entry.title, entry.body, entry.url or old.url) != (old.title, old.body, old.url)
    revised = may_word and worded and edition >= old.current_edition
    return EntryIntent(
        kind=IntentKind.REVISED if revised else IntentKind.SAME,
        position=entry.position,
        line=entry.line,
        identity=key,
        entry_id=old.id,
        expected_revision=old.revision,
        wording=_wording(entry, vocabulary, url=old.url) if revised else None,
    )


def _wording(entry: ParsedEntry, vocabulary: Vocabulary, *, url: str | None = None) -> Wording:
    return Wording(
        repo=entry.repo,
        title=entry.title,
        body=entry.body,
        url=entry.url or url,
        extraction=extract(entry.title, entry.body, vocabulary=vocabulary, repo=entry.repo),
    )
