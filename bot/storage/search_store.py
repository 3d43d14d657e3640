"""What look-up reads: the index for ids, the tables for the entries themselves."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date

from sqlalchemy import bindparam, func, select

from bot.model import DocumentState, Entry, EntryQuery, Hit
from bot.storage import search_index
from bot.storage.engine import Database
from bot.storage.entry_rows import read_entries
from bot.storage.schema import appearances, documents, entries
from bot.text.tokens import metadata

_SPELT_ALIKE = 2
"""Letters by which a word and what was meant differ in length, at most."""

_WORDS = {
    dialect: (
        f"SELECT word FROM search_words WHERE word >= {sign} AND word < {sign} "  # noqa: S608 - signs of parameters
        f"AND length(word) BETWEEN {sign} AND {sign} ORDER BY word LIMIT {sign}"
    )
    for dialect, sign in (("sqlite", "?"), ("postgresql", "%s"))
}

_OF_EDITION = (
    select(entries.c.id, entries.c.repo)
    .join_from(appearances, documents, appearances.c.document_id == documents.c.id)
    .join(entries, entries.c.id == appearances.c.entry_id)
    .where(documents.c.edition == bindparam("day"), documents.c.state == DocumentState.ACCEPTED.value)
    .where(documents.c.superseded.is_(False))
    .group_by(entries.c.id, entries.c.repo)
    .order_by(func.min(documents.c.id), func.min(appearances.c.id))
)


class SearchStore:
    """`bot.readers.answer.SearchStorage` over a database."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, query: EntryQuery, *, limit: int, offset: int, hidden_repos: Collection[str]) -> list[Hit]:
        """Return the entries that fit, in the query's order."""
        return self.page(query, limit=limit, ahead=limit, offset=offset, hidden_repos=hidden_repos)[0]

    def page(
        self, query: EntryQuery, *, limit: int, ahead: int, offset: int, hidden_repos: Collection[str]
    ) -> tuple[list[Hit], int]:
        """Return the same, and how many fit after `offset`, counting no further than `ahead`: only a page is read."""
        with self._database.reading() as connection:
            found = search_index.search(connection, query, limit=ahead, offset=offset, hidden_repos=hidden_repos)
            loaded = read_entries(connection, [entry_id for entry_id, _ in found[:limit]])
        hits = [Hit(entry=loaded[entry_id], score=score) for entry_id, score in found[:limit] if entry_id in loaded]
        return hits, len(found)

    def count(self, query: EntryQuery, *, most: int, hidden_repos: Collection[str]) -> int:
        """Return how many fit, counting no further than `most`."""
        with self._database.reading() as connection:
            return search_index.count(connection, query, most=most, hidden_repos=hidden_repos)

    def edition(self, day: date, *, limit: int, offset: int, hidden_repos: Collection[str]) -> list[Entry]:
        """Return the entries of a day's documents."""
        hidden = {metadata("repo", repo) for repo in hidden_repos}
        with self._database.reading() as connection:
            rows = connection.execute(_OF_EDITION, {"day": day}).all()
            seen = [row.id for row in rows if not hidden & search_index.repo_tokens(row.repo)]
            wanted = seen[offset : offset + limit]
            loaded = read_entries(connection, wanted)
        return [loaded[entry_id] for entry_id in wanted if entry_id in loaded]

    def repos(self) -> frozenset[str]:
        """Return the names of all repositories that have entries."""
        with self._database.reading() as connection:
            return frozenset(row[0] for row in connection.exec_driver_sql("SELECT repo FROM search_repos"))

    def similar_words(self, word: str, *, limit: int) -> list[str]:
        """Return words that begin with the first two letters of `word`, or one of them, and are about as long."""
        lengths = (len(word) - _SPELT_ALIKE, len(word) + _SPELT_ALIKE)
        starts = [start for start in (word[:2], *word[:2]) if start.isascii() and start.isalnum()]
        found: dict[str, None] = {}
        with self._database.reading() as connection:
            statement = _WORDS[connection.dialect.name]
            for start in dict.fromkeys(starts):
                values = (start, start[:-1] + chr(ord(start[-1]) + 1), *lengths, limit)
                found.update((row[0], None) for row in connection.exec_driver_sql(statement, values))
        return list(found)[:limit]
