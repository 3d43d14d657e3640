"""A storage in memory that keeps the contract of `IngestStorage`, for tests of the rooms above it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from bot.ingest.decide import EntryIntent, IntentKind, KnownEntry, NewDocument
from bot.model import Document, DocumentState


@dataclass
class FixedClock:
    """A clock that stands."""

    at: datetime = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


@dataclass
class MemoryStorage:
    documents: list[Document] = field(default_factory=list)
    superseded: set[int] = field(default_factory=set)
    entries: dict[int, KnownEntry] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    appearances: list[tuple[int, int, int]] = field(default_factory=list)
    """(document, entry, position)."""

    def known_document(self, source: str, sha256: str) -> Document | None:
        return next((d for d in self.documents if (d.source, d.sha256) == (source, sha256)), None)

    def known_entries(self, identities: Collection[str]) -> Mapping[str, KnownEntry]:
        return {name: self.entries[self.names[name]] for name in identities if name in self.names}

    def recent_entries(self, repos: Collection[str], first: date, last: date) -> tuple[KnownEntry, ...]:
        wanted = {repo.casefold() for repo in repos}
        return tuple(
            e for e in self.entries.values() if e.repo.casefold() in wanted and first <= e.current_edition <= last
        )

    def is_current(self, document: Document, name: str) -> bool:
        return document.id not in self.superseded and not self._in_the_way(document, name)

    def _in_the_way(self, document: Document, name: str) -> set[int]:
        here = replace(document, name=name)
        others = (one for one in self.documents if one.id != document.id and one.id not in self.superseded)
        return {one.id for one in others if _gives_way(one, here)}

    def restore(self, document: Document, name: str, intents: Sequence[EntryIntent], now: datetime) -> bool:
        del now
        if any(map(self._stale, intents)):
            return False
        if document.id in self.superseded:
            self.superseded.remove(document.id)
            self.documents = [replace(one, name=name) if one.id == document.id else one for one in self.documents]
        self.superseded |= self._in_the_way(document, name)
        for intent in intents:
            self._apply(intent, document)
            self.appearances.pop()  # it stood there before
        return True

    def forget_broken(self, source: str, present: Collection[str]) -> tuple[str, ...]:
        gone = [
            one
            for one in self.documents
            if one.source == source and one.state is DocumentState.QUARANTINED and one.name not in present
        ]
        gone = [one for one in gone if one.id not in self.superseded]
        self.superseded |= {one.id for one in gone}
        return tuple(one.name for one in gone)

    def record(self, document: NewDocument, intents: Sequence[EntryIntent], now: datetime) -> Document | None:
        del now
        if self.known_document(document.source, document.sha256) or any(map(self._stale, intents)):
            return None
        recorded = Document(
            id=len(self.documents) + 1,
            source=document.source,
            name=document.name,
            sha256=document.sha256,
            edition=document.edition,
            arrived_at=document.arrived_at,
            state=document.state,
            problems=document.problems,
            entry_count=len(intents),
        )
        self.superseded |= {other.id for other in self.documents if _gives_way(other, recorded)}
        self.documents.append(recorded)
        for intent in intents:
            self._apply(intent, recorded)
        return recorded

    def _stale(self, intent: EntryIntent) -> bool:
        if intent.kind is IntentKind.NEW:
            return intent.identity in self.names
        if intent.kind is IntentKind.REVISED:
            assert intent.entry_id is not None
            return self.entries[intent.entry_id].revision != intent.expected_revision
        return False

    def _apply(self, intent: EntryIntent, document: Document) -> None:
        if intent.kind is IntentKind.NEW:
            assert intent.wording is not None
            number = len(self.entries) + 1
            self.entries[number] = KnownEntry(
                id=number,
                repo=intent.wording.repo,
                title=intent.wording.title,
                body=intent.wording.body,
                url=intent.wording.url,
                revision=1,
                current_edition=document.edition,
            )
        else:
            number = intent.entry_id or self.names[intent.identity]
            old = self.entries[number]
            self.entries[number] = replace(old, current_edition=max(old.current_edition, document.edition))
        if intent.kind is IntentKind.REVISED:
            assert intent.wording is not None
            old = self.entries[number]
            self.entries[number] = replace(
                old,
                title=intent.wording.title,
                body=intent.wording.body,
                url=intent.wording.url,
                revision=old.revision + 1,
            )
        self.names.setdefault(intent.identity, number)
        self.appearances.append((document.id, number, intent.position))


def _gives_way(other: Document, new: Document) -> bool:
    if (other.source, other.name) != (new.source, new.name):
        return False
    if other.state is DocumentState.QUARANTINED:
        return True
    return new.state is DocumentState.ACCEPTED and other.edition == new.edition
