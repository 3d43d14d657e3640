"""`IngestStorage`: documents, entries and their appearances, recorded whole or not at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Connection, Row, and_, case, insert, or_, select, update

from bot.ingest.decide import EntryIntent, IntentKind, KnownEntry, NewDocument, Wording
from bot.model import Document, DocumentState
from bot.storage.engine import Database
from bot.storage.entry_rows import document_of, extraction_json, read_entries
from bot.storage.rows import chunks, insert_new
from bot.storage.schema import appearances, documents, entries, entry_revisions, identities
from bot.storage.search_index import index_entries

log = structlog.get_logger(__name__)

_KNOWN = (
    entries.c.id,
    entries.c.repo,
    entries.c.title,
    entries.c.body,
    entries.c.url,
    entries.c.revision,
    entries.c.current_edition,
)


class _Overtaken(Exception):
    """Something the decision rests on has changed. Undoes the transaction."""


class IngestStore:
    """What has arrived."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known_document(self, source: str, sha256: str) -> Document | None:
        """Return the document with these bytes, accepted or quarantined, superseded or not."""
        statement = select(documents).where(documents.c.source == source, documents.c.sha256 == sha256)
        with self._database.reading() as connection:
            row = connection.execute(statement).one_or_none()
        return None if row is None else document_of(row)

    def known_entries(self, identities_: Collection[str]) -> Mapping[str, KnownEntry]:
        """Return the entries by each of the given identities that is, or ever became, one of their names."""
        known: dict[str, KnownEntry] = {}
        with self._database.reading() as connection:
            for piece in chunks(identities_):
                statement = (
                    select(*_KNOWN, identities.c.identity)
                    .join(identities, identities.c.entry_id == entries.c.id)
                    .where(identities.c.identity.in_(piece))
                )
                known |= {row.identity: _known(row) for row in connection.execute(statement)}
        return known

    def recent_entries(self, repos: Collection[str], first: date, last: date) -> tuple[KnownEntry, ...]:
        """Return the entries of these repositories (in any case) with `first <= current_edition <= last`, by id."""
        statement = (
            select(*_KNOWN)
            .where(
                entries.c.repo_folded.in_({repo.casefold() for repo in repos}),
                entries.c.current_edition.between(first, last),
            )
            .order_by(entries.c.id)
        )
        with self._database.reading() as connection:
            return tuple(map(_known, connection.execute(statement)))

    def is_current(self, document: Document, name: str) -> bool:
        """Return whether nothing is left to do for a document that is now found under `name` again."""
        superseded = and_(documents.c.id == document.id, documents.c.superseded)
        statement = select(documents.c.id).where(or_(_replaced_by(document, name), superseded)).limit(1)
        with self._database.reading() as connection:
            return connection.execute(statement).first() is None

    def restore(self, document: Document, name: str, intents: Sequence[EntryIntent], now: datetime) -> bool:
        """Let a known document, found again under `name`, count anew; False where another was quicker."""
        try:
            with self._database.transaction() as connection:
                _restore(connection, document, name, intents, now)
        except _Overtaken as reason:
            log.debug("restore_overtaken", document=name, reason=str(reason))
            return False
        return True

    def forget_broken(self, source: str, present: Collection[str]) -> tuple[str, ...]:
        """Supersede the quarantined documents whose names are not `present` any more; return those names."""
        listed = (
            documents.c.source == source,
            documents.c.state == DocumentState.QUARANTINED,
            ~documents.c.superseded,
        )
        with self._database.reading() as connection:
            rows = connection.execute(select(documents.c.id, documents.c.name).where(*listed)).all()
        gone = {row.id: row.name for row in rows if row.name not in present}
        if gone:
            with self._database.transaction() as connection:
                for piece in chunks(gone):
                    connection.execute(
                        update(documents).where(documents.c.id.in_(piece), *listed).values(superseded=True)
                    )
        return tuple(dict.fromkeys(gone.values()))

    def record(self, document: NewDocument, intents: Sequence[EntryIntent], now: datetime) -> Document | None:
        """Record a document and all that follows from it; return None, and change nothing, where another was quicker.

        On PostgreSQL every transaction takes its rows in one order (document, new entries, names sorted, entries by
        id), so that two of them wait for each other rather than for ever.
        """
        try:
            with self._database.transaction() as connection:
                return _record(connection, document, intents, now)
        except _Overtaken as reason:
            log.debug("record_overtaken", document=document.name, reason=str(reason))
            return None


def _record(connection: Connection, document: NewDocument, intents: Sequence[EntryIntent], now: datetime) -> Document:
    recorded = _insert_document(connection, document, len(intents))
    replaced = _supersede_others(connection, recorded, recorded.name)
    new = {
        intent.identity: _insert_entry(connection, recorded, intent.wording, now)
        for intent in intents
        if intent.kind is IntentKind.NEW and intent.wording is not None
    }
    of_intents = [new[intent.identity] if intent.entry_id is None else intent.entry_id for intent in intents]
    _name(connection, {intent.identity: entry_id for intent, entry_id in zip(intents, of_intents, strict=True)})
    for intent in sorted(intents, key=lambda one: one.entry_id or 0):
        if intent.kind is IntentKind.REVISED and intent.wording is not None:
            _revise(connection, intent, intent.wording, now)
    _widen(connection, recorded, sorted({one.entry_id for one in intents if one.entry_id is not None}))
    if intents:
        connection.execute(
            insert(appearances),
            [
                {"document_id": recorded.id, "entry_id": entry_id, "position": intent.position, "line": intent.line}
                for intent, entry_id in zip(intents, of_intents, strict=True)
            ],
        )
    index_entries(connection, list(read_entries(connection, sorted(replaced.union(of_intents))).values()))
    return recorded


def _restore(
    connection: Connection, document: Document, name: str, intents: Sequence[EntryIntent], now: datetime
) -> None:
    again = update(documents).where(documents.c.id == document.id, documents.c.superseded)
    connection.execute(again.values(superseded=False, name=name))
    replaced = _supersede_others(connection, document, name)
    of_it = select(appearances.c.entry_id).where(appearances.c.document_id == document.id)
    replaced.update(connection.execute(of_it).scalars())
    revised = sorted({intent.entry_id for intent in intents if intent.entry_id is not None})
    for intent in sorted(intents, key=lambda one: one.entry_id or 0):
        if intent.wording is not None:
            _revise(connection, intent, intent.wording, now)
    index_entries(connection, list(read_entries(connection, sorted(replaced.union(revised))).values()))


def _replaced_by(document: Document, name: str) -> ColumnElement[bool]:
    """The versions of the file of this name that count, and that the document takes the place of."""
    replaced = documents.c.state == DocumentState.QUARANTINED
    if document.state is DocumentState.ACCEPTED:
        replaced = or_(replaced, documents.c.edition == document.edition)
    others = and_(documents.c.source == document.source, documents.c.name == name, documents.c.id != document.id)
    return and_(others, replaced, ~documents.c.superseded)


def _insert_document(connection: Connection, document: NewDocument, entry_count: int) -> Document:
    statement = insert_new(connection, documents).values(
        source=document.source,
        sha256=document.sha256,
        name=document.name,
        edition=document.edition,
        arrived_at=document.arrived_at,
        state=document.state,
        problems=[{"line": problem.line, "reason": problem.reason} for problem in document.problems],
        entry_count=entry_count,
    )
    row = connection.execute(statement.returning(*documents.c)).one_or_none()
    if row is None:
        raise _Overtaken("the document is known")
    return document_of(row)


def _supersede_others(connection: Connection, document: Document, name: str) -> set[int]:
    """Supersede what the document replaces under this name; return the entries that have one edition less by it."""
    statement = update(documents).where(_replaced_by(document, name)).values(superseded=True)
    gone = connection.execute(statement.returning(documents.c.id)).scalars().all()
    of_gone = select(appearances.c.entry_id).where(appearances.c.document_id.in_(gone))
    return set(connection.execute(of_gone).scalars()) if gone else set()


def _insert_entry(connection: Connection, document: Document, wording: Wording, now: datetime) -> int:
    statement = insert(entries).values(
        **_wording_values(wording),
        revision=1,
        edition=document.edition,
        current_edition=document.edition,
        document_id=document.id,
        created_at=now,
        revised_at=now,
    )
    entry_id = int(connection.execute(statement.returning(entries.c.id)).scalar_one())
    _keep_revision(connection, entry_id, 1, wording, now)
    return entry_id


def _name(connection: Connection, names: Mapping[str, int]) -> None:
    """Give the entries their names. A name that another entry has meanwhile undoes everything."""
    if not names:
        return
    rows = [{"identity": name, "entry_id": names[name]} for name in sorted(names)]
    connection.execute(insert_new(connection, identities), rows)
    for piece in chunks(names):
        statement = select(identities.c.identity, identities.c.entry_id).where(identities.c.identity.in_(piece))
        for row in connection.execute(statement):
            if names[row.identity] != row.entry_id:
                raise _Overtaken("a name is taken")


def _revise(connection: Connection, intent: EntryIntent, wording: Wording, now: datetime) -> None:
    revision = (intent.expected_revision or 0) + 1
    statement = (
        update(entries)
        .where(entries.c.id == intent.entry_id, entries.c.revision == intent.expected_revision)
        .values(**_wording_values(wording), revision=revision, revised_at=now)
    )
    if intent.entry_id is None or connection.execute(statement).rowcount != 1:
        raise _Overtaken("an entry was revised")
    _keep_revision(connection, intent.entry_id, revision, wording, now)


def _widen(connection: Connection, document: Document, entry_ids: Sequence[int]) -> None:
    """Let the document's edition count for entries that were known before it."""
    edition = document.edition
    for piece in chunks(entry_ids):
        connection.execute(
            update(entries)
            .where(entries.c.id.in_(piece), or_(entries.c.edition > edition, entries.c.current_edition < edition))
            .values(
                edition=case((entries.c.edition > edition, edition), else_=entries.c.edition),
                current_edition=case((entries.c.current_edition < edition, edition), else_=entries.c.current_edition),
            )
        )


def _keep_revision(connection: Connection, entry_id: int, revision: int, wording: Wording, now: datetime) -> None:
    verdict = wording.extraction.verdict
    connection.execute(
        insert(entry_revisions).values(
            entry_id=entry_id, revision=revision, title=wording.title, body=wording.body, verdict=verdict, at=now
        )
    )


def _wording_values(wording: Wording) -> dict[str, Any]:
    return {
        "repo": wording.repo,
        "repo_folded": wording.repo.casefold(),
        "title": wording.title,
        "body": wording.body,
        "url": wording.url,
        "extraction": extraction_json(wording.extraction),
        "verdict": wording.extraction.verdict,
    }


def _known(row: Row[*tuple[Any, ...]]) -> KnownEntry:
    return KnownEntry(
        id=row.id,
        repo=row.repo,
        title=row.title,
        body=row.body,
        url=row.url,
        revision=row.revision,
        current_edition=row.current_edition,
    )
