"""Arrival: bytes of a digest file in, rows out, once.

`IngestStorage` is what this room needs from the database. Several replicas may take the same file at the same moment:
each decides by itself, and the UNIQUE rows of `record` let one of them win.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from typing import Protocol

import structlog

from bot.errors import StorageUnavailable
from bot.ingest.decide import EntryIntent, IntentKind, KnownEntry, NewDocument, decide, identities, names, window
from bot.ingest.names import edition_from_name
from bot.ingest.parse import latest_edition, parse
from bot.model import Document, DocumentState, ParsedDocument, Problem
from bot.text.vocabulary import Vocabulary

log = structlog.get_logger(__name__)

_TRIES = 8
"""How often another replica may change what a decision rests on before we leave the file for the next tick."""


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""


class IngestStorage(Protocol):
    """What ingest reads and writes.

    Every method raises `StorageUnavailable` where waiting helps and `StorageError` where it does not. Each is a
    transaction of its own, complete or without effect.
    """

    def known_document(self, source: str, sha256: str) -> Document | None:
        """Return the document with these bytes, accepted or quarantined, superseded or not."""

    def known_entries(self, identities: Collection[str]) -> Mapping[str, KnownEntry]:
        """Return the entries by each of the given identities that is, or ever became, one of their names."""

    def recent_entries(self, repos: Collection[str], first: date, last: date) -> tuple[KnownEntry, ...]:
        """Return the entries of these repositories (without regard to case) with `first <= current_edition <= last`.

        Order: id.
        """

    def is_current(self, document: Document, name: str) -> bool:
        """Return whether nothing is left to do for a document that is now found under `name` again.

        False where it was superseded, or where another version of that name counts that it replaces, as in `record`.
        """

    def restore(self, document: Document, name: str, intents: Sequence[EntryIntent], now: datetime) -> bool:
        """Let a known document, found again under `name`, count anew, in one transaction.

        Other versions of that name are superseded as in `record`. A document that was superseded is so no more, and
        `name` becomes its own: under its old one stands something else. The REVISED of `intents` are applied; its
        appearances stay. Return False, and change nothing, where an intent rests on what is no longer so.
        """

    def forget_broken(self, source: str, present: Collection[str]) -> tuple[str, ...]:
        """Supersede the quarantined documents whose names are not `present` any more; return those names."""

    def record(self, document: NewDocument, intents: Sequence[EntryIntent], now: datetime) -> Document | None:
        """Record a document and all that follows from it in one transaction; return it as recorded.

        Return None, and change nothing, where something the intents rest on is no longer so: a document with this
        source and sha256 exists, the identity of a NEW intent is taken, or the entry of a REVISED one no longer is at
        `expected_revision`. The caller then looks and decides again.

        Each intent becomes one appearance (`position`, `line`). A NEW entry has the document's edition as its first
        and current edition, revision 1. An intent without `entry_id` that is SAME belongs to the NEW entry of the same
        identity before it. An entry's first edition falls to the document's where that is smaller, its current edition
        rises to it where that is greater. Wording and search tokens change together.

        Other documents of the same source and name are superseded: the quarantined ones always; accepted ones only if
        this document is accepted and has the same edition (tomorrow's file may bear today's name).
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of one file."""

    document: Document
    name: str
    """That of the file. The document has another where its bytes were recorded under that one."""
    appearances: int = 0
    new_entries: int = 0
    revised: int = 0
    problems: tuple[Problem, ...] = ()
    known: bool = False
    """These bytes had been taken before: no entry came of them."""
    restored: bool = False
    """They had been replaced meanwhile, and count again."""


class Ingest:
    """Takes digest files, one transaction each."""

    def __init__(self, *, storage: IngestStorage, vocabulary: Vocabulary, zone: tzinfo, clock: Clock) -> None:
        self._storage = storage
        self._vocabulary = vocabulary
        self._zone = zone
        self._clock = clock

    def take(self, *, source: str, name: str, data: bytes, arrived_at: datetime) -> Taken:
        """Record one file; the same bytes from the same source again are known and change nothing.

        Unless another version of the file came in between: then the old one counts again, with its wordings. Call
        `keep` afterwards for the files whose bytes were recorded under another name.

        A file that does not fit its format is recorded as quarantined, with its problems, and none of its entries is.
        `arrived_at` is an aware instant; it dates the document where neither its text nor its name does. A date in the
        text that is far ahead of it is a problem, one in the name is no date.

        Raises `StorageUnavailable` (also where other replicas kept changing the same entries), `StorageError`.
        """
        sha256 = hashlib.sha256(data).hexdigest()
        known = self._storage.known_document(source, sha256)
        if known is not None:
            return self._known(known, name, data)
        today = arrived_at.astimezone(self._zone).date()
        parsed = parse(data, name=name, today=today)
        document = NewDocument(
            source=source,
            name=name,
            sha256=sha256,
            edition=parsed.edition or edition_from_name(name, latest=latest_edition(today)) or today,
            arrived_at=arrived_at,
            state=DocumentState.QUARANTINED if parsed.problems else DocumentState.ACCEPTED,
            problems=parsed.problems,
        )
        for _ in range(_TRIES):
            intents = self._decide(document, parsed)
            recorded = self._storage.record(document, intents, self._clock.now())
            if recorded is not None:
                return _report(recorded, intents)
            known = self._storage.known_document(source, sha256)
            if known is not None:
                log.debug("document_taken_elsewhere", document=known.id)
                return Taken(document=known, name=name, problems=known.problems, known=True)
        raise StorageUnavailable(f"{name}: other replicas keep changing the same entries; it is taken at the next look")

    def forget_broken(self, source: str, present: Collection[str]) -> tuple[str, ...]:
        """Let go of files that were set aside and that somebody has removed; return their names.

        `present` are the names that stand in the inbox. Raises `StorageUnavailable`.
        """
        return self._storage.forget_broken(source, present)

    def keep(self, copies: Mapping[str, Document]) -> None:
        """Let each document count that stands in a file under another name than its own, by the name of that file.

        To be called after files were taken: a new version under a document's own name has superseded it, and bytes
        that still stand in any file are owed. Raises `StorageUnavailable`.
        """
        for name, document in copies.items():
            if not self._storage.is_current(document, name):
                self._storage.restore(document, name, (), self._clock.now())
                log.info("document_kept", document=document.id, name=name)

    def _known(self, known: Document, name: str, data: bytes) -> Taken:
        """Take bytes that were taken before."""
        taken = Taken(document=known, name=name, problems=known.problems, known=True)
        if self._storage.is_current(known, name):
            return taken
        parsed = parse(data, name=known.name)
        again = NewDocument(
            source=known.source,
            name=known.name,
            sha256=known.sha256,
            edition=known.edition,
            arrived_at=known.arrived_at,
            state=known.state,
            problems=known.problems,
        )
        for _ in range(_TRIES):
            intents = self._decide(again, parsed) if name == known.name else ()
            revised = tuple(intent for intent in intents if intent.kind is IntentKind.REVISED)
            if self._storage.restore(known, name, revised, self._clock.now()):
                log.info("document_restored", document=name, revised=len(revised))
                return replace(taken, restored=True, appearances=known.entry_count, revised=len(revised))
        raise StorageUnavailable(f"{name}: other replicas keep changing the same entries; it is taken at the next look")

    def _decide(self, document: NewDocument, parsed: ParsedDocument) -> tuple[EntryIntent, ...]:
        if parsed.problems:
            return ()
        repos = {entry.repo for entry in parsed.entries}
        known = self._storage.known_entries(names(parsed.entries))
        # Most days every title is either known or plainly new: only unknown ones need to be compared.
        all_known = all(key in known for key in identities(parsed.entries))
        recent = () if all_known else self._storage.recent_entries(repos, *window(document.edition))
        return decide(document, parsed.entries, known, recent, vocabulary=self._vocabulary)


def _report(document: Document, intents: Sequence[EntryIntent]) -> Taken:
    kinds = [intent.kind for intent in intents]
    taken = Taken(
        document=document,
        name=document.name,
        appearances=len(kinds),
        new_entries=kinds.count(IntentKind.NEW),
        revised=kinds.count(IntentKind.REVISED),
        problems=document.problems,
    )
    if document.problems:
        first = document.problems[0]
        log.warning("document_quarantined", document=document.name, line=first.line, reason=first.reason)
    else:
        log.info(
            "document_taken",
            document=document.name,
            edition=document.edition.isoformat(),
            appearances=taken.appearances,
            new=taken.new_entries,
            revised=taken.revised,
        )
    return taken
