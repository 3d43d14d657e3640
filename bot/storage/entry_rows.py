"""Entries and documents as rows and as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from bot.model import Document, DocumentState, Entry, Extraction, Problem, Span, Verdict
from bot.storage.rows import chunks
from bot.storage.schema import appearances, documents, entries

_LISTS = (
    "audience",
    "audience_negative",
    "pull_requests",
    "paths",
    "identifiers",
    "people",
    "figures",
    "topics",
)

# Built once: every answer of look-up asks them, and to build a statement costs as much as to ask it.
_ENTRIES = select(entries).where(entries.c.id.in_(bindparam("ids", expanding=True)))
_EDITIONS = (
    # An entry twice in one document has one edition of it; a document whose place another version took has none.
    select(appearances.c.entry_id, documents.c.id, documents.c.edition)
    .join(documents, documents.c.id == appearances.c.document_id)
    .where(appearances.c.entry_id.in_(bindparam("ids", expanding=True)), ~documents.c.superseded)
    .distinct()
    .order_by(documents.c.edition, documents.c.id)
)


def extraction_json(extraction: Extraction) -> dict[str, Any]:
    """Turn an extraction into what `entries.extraction` holds: only what is there."""
    json: dict[str, Any] = {name: list(values) for name in _LISTS if (values := getattr(extraction, name))}
    if extraction.verdict is not None:
        json["verdict"] = extraction.verdict.value
    if extraction.verdict_span is not None:
        json["verdict_span"] = [extraction.verdict_span.start, extraction.verdict_span.end]
    return json


def extraction_of(json: Mapping[str, Any]) -> Extraction:
    """Read what `extraction_json` has written."""
    span = json.get("verdict_span")
    return Extraction(
        verdict=Verdict(json["verdict"]) if "verdict" in json else None,
        verdict_span=Span(start=span[0], end=span[1]) if span else None,
        **{name: tuple(json.get(name, ())) for name in _LISTS},
    )


def read_entries(connection: Connection, entry_ids: Iterable[int]) -> dict[int, Entry]:
    """Read entries in their present wording with all their editions, those that exist, in the order asked for."""
    wanted = list(dict.fromkeys(entry_ids))
    found: dict[int, Entry] = {}
    for piece in chunks(wanted):
        editions = _editions(connection, piece)
        for row in connection.execute(_ENTRIES, {"ids": piece}):
            found[row.id] = Entry(
                id=row.id,
                repo=row.repo,
                title=row.title,
                body=row.body,
                revision=row.revision,
                edition=row.edition,
                editions=tuple(editions.get(row.id, (row.edition,))),
                url=row.url,
                extraction=extraction_of(row.extraction),
            )
    return {entry_id: found[entry_id] for entry_id in wanted if entry_id in found}


def document_of(row: Row[*tuple[Any, ...]]) -> Document:
    """Make a document of a whole row of `documents`."""
    return Document(
        id=row.id,
        source=row.source,
        name=row.name,
        sha256=row.sha256,
        edition=row.edition,
        arrived_at=row.arrived_at,
        state=DocumentState(row.state),
        problems=tuple(Problem(line=one["line"], reason=one["reason"]) for one in row.problems),
        entry_count=row.entry_count,
    )


def _editions(connection: Connection, entry_ids: Sequence[int]) -> dict[int, list[date]]:
    editions: dict[int, list[date]] = {}
    for row in connection.execute(_EDITIONS, {"ids": entry_ids}):
        editions.setdefault(row.entry_id, []).append(row.edition)
    return editions
