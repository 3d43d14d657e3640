"""What the tests of look-up share: entries in a database, and queries judged against what they find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import insert, inspect

from bot.model import Entry
from bot.readers.answer import Answers
from bot.storage import search_index
from bot.storage.engine import Database
from bot.storage.entry_rows import extraction_json
from bot.storage.schema import appearances, documents, entries

DATA = Path(__file__).parent / "data"
SEEDS = Path(__file__).parent.parent / "seeds"
TODAY = date(2026, 11, 30)
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Recall and precision over many queries, with those that fell short."""

    recall: float
    precision: float
    faults: tuple[str, ...]


def read_digest(path: Path) -> list[tuple[str, str, str]]:
    """Repository, title and body of each item of a digest in the seeds' format."""
    items: list[tuple[str, str, str]] = []
    repo, title = "", ""
    for block in path.read_text("utf-8").replace("\r\n", "\n").split("\n\n"):
        text = block.strip("\n")
        if not text:
            continue
        if not title and " " not in text and text.count("/") == 1 and text.isascii():
            repo = text
        elif not title:
            title = text
        else:
            items.append((repo, title, text))
            title = ""
    return items


def make_entries(paths: Sequence[Path], *, edition: date = TODAY) -> list[Entry]:
    """The distinct items of some digests as entries, numbered by first appearance."""
    seen: dict[tuple[str, str], Entry] = {}
    for path in paths:
        for repo, title, body in read_digest(path):
            if (repo, title) not in seen:
                seen[repo, title] = Entry(
                    id=len(seen) + 1,
                    repo=repo,
                    title=title,
                    body=body,
                    revision=1,
                    edition=edition,
                    editions=(edition,),
                )
    return list(seen.values())


def ensure_tables(database: Database) -> None:
    """Make the tables of look-up where the schema has none yet."""
    with database.transaction() as connection:
        if not inspect(connection).has_table("entry_tokens"):
            for statement in search_index.ddl(database.name):
                connection.exec_driver_sql(statement)


def store(database: Database, found: Sequence[Entry]) -> None:
    """Put entries into their own table and into the index, in one transaction."""
    with database.transaction() as connection:
        document = connection.execute(
            insert(documents).returning(documents.c.id),
            {
                "source": "test",
                "sha256": f"{found[0].id}-{found[-1].id}",
                "name": "test",
                "edition": found[0].edition,
                "arrived_at": NOW,
                "state": "accepted",
                "problems": [],
                "entry_count": len(found),
            },
        ).scalar_one()
        connection.execute(insert(entries), [entry_row(entry, document) for entry in found])
        connection.execute(
            insert(appearances),
            [
                {"document_id": document, "entry_id": entry.id, "position": position, "line": position}
                for position, entry in enumerate(found, start=1)
            ],
        )
        search_index.index_entries(connection, found)


def entry_row(entry: Entry, document: int) -> dict[str, Any]:
    row = {
        "id": entry.id,
        "repo": entry.repo,
        "repo_folded": entry.repo.casefold(),
        "title": entry.title,
        "body": entry.body,
        "url": entry.url,
        "revision": entry.revision,
        "edition": entry.edition,
        "current_edition": entry.edition,
        "document_id": document,
        "extraction": extraction_json(entry.extraction),
        "verdict": entry.extraction.verdict,
        "created_at": NOW,
        "revised_at": NOW,
    }
    return {column: value for column, value in row.items() if column in entries.c}


def read_judged(path: Path) -> list[dict[str, Any]]:
    """Judged queries: `q`, `want`, perhaps `ok`, `c`."""
    return list(yaml.safe_load(path.read_text("utf-8"))["queries"])


def judge(answers: Answers, judged: Sequence[dict[str, Any]]) -> Score:
    """Mean recall over the queries that must find something, precision over all that was found and not merely accepted."""
    recalls: list[float] = []
    right = wrong = 0
    faults: list[str] = []
    for each in judged:
        want, ok = set(each["want"]), set(each.get("ok", ()))
        answer = answers.search(each["q"], channel=None, today=TODAY, limit=100)
        got = {hit.entry.id for hit in answer.hits}
        missed, extra = want - got, got - want - ok
        right += len(want & got)
        wrong += len(extra)
        if want:
            recalls.append(len(want & got) / len(want))
        if missed or extra:
            faults.append(f"{each['q']!r}: missed {sorted(missed)}, extra {sorted(extra)}")
    return Score(recall=sum(recalls) / len(recalls), precision=right / (right + wrong), faults=tuple(faults))


def judge_misspelt(answers: Answers, judged: Sequence[dict[str, Any]]) -> tuple[float, tuple[str, ...]]:
    """The share of misspellings that are answered by what was meant, offered or found at once, and the others."""
    faults: list[str] = []
    for each in judged:
        answer = answers.search(each["q"], channel=None, today=TODAY, limit=100)
        meant = {
            hit.entry.id for query in each["want"] for hit in answers.search(query, channel=None, today=TODAY).hits
        }
        offered = {query.casefold() for query in answer.near} & set(each["want"])
        if not offered and not {hit.entry.id for hit in answer.hits[:1]} & meant:
            faults.append(f"{each['q']}: {answer.near}, {len(answer.hits)} hits")
    return 1 - len(faults) / len(judged), tuple(faults)
