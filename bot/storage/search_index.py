"""The index of look-up: kept true entry by entry, asked for ids, and built anew when the tokeniser changes.

Every function takes a connection and leaves the transaction to its caller: ingest calls `index_entries` in the one
that writes the entries. Both databases give the same ids in the same order. `search_tables.py` has the tables.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection

from bot.model import Entry, EntryQuery, Order
from bot.storage import search_match
from bot.storage.search_tables import ddl, define
from bot.text.indexed import IndexedText, indexed
from bot.text.tokens import GAP, TOKENS_VERSION, metadata

__all__ = ["RANKED", "count", "ddl", "define", "index_entries", "newest", "remove", "repo_tokens", "search"]

RANKED = 200
"""How many of the newest matches are put in order of merit. Older ones follow newest first."""

PROBED = 500
"""PostgreSQL first looks at this many of the newest rows: frequent words are found there at once."""

WALKED = 3_000
"""So many rows are always worth walking past where the first ones had a match: few matches may be bad luck."""

_UPSERT = (
    "INSERT INTO entry_tokens (entry_id, tokens_version, first_edition, last_edition, title, tokens) "
    "VALUES ({values}) ON CONFLICT (entry_id) DO UPDATE SET tokens_version = excluded.tokens_version, "
    "first_edition = excluded.first_edition, last_edition = excluded.last_edition, title = excluded.title, "
    "tokens = excluded.tokens"
)
INDEX = {
    "sqlite": _UPSERT.format(values="?, ?, ?, ?, ?, ?"),
    "postgresql": _UPSERT.format(values="%s, %s, %s, %s, %s, %s::tsvector"),
}
_WORDS = {
    "sqlite": "INSERT OR IGNORE INTO search_words (word) VALUES (?)",
    "postgresql": "INSERT INTO search_words (word) VALUES (%s) ON CONFLICT DO NOTHING",
}
_REPOS = {
    "sqlite": "INSERT OR IGNORE INTO search_repos (repo) VALUES (?)",
    "postgresql": "INSERT INTO search_repos (repo) VALUES (%s) ON CONFLICT DO NOTHING",
}


def index_entries(connection: Connection, entries: Sequence[Entry]) -> None:
    """Make `entries` findable as they now are; each is already in its own table.

    Must be called again for an entry whose text, extraction or editions have changed. Calling it twice changes nothing.
    """
    if not entries:
        return
    dialect = connection.dialect.name
    texts = [indexed(entry) for entry in entries]
    rows = [row_of(dialect, entry, text) for entry, text in zip(entries, texts, strict=True)]
    connection.exec_driver_sql(INDEX[dialect], rows)
    # In order, so that two transactions that add the same words wait for each other rather than for ever.
    words = sorted(frozenset().union(*(text.words for text in texts)))
    if words:
        connection.exec_driver_sql(_WORDS[dialect], [(word,) for word in words])
    connection.exec_driver_sql(_REPOS[dialect], [(repo,) for repo in sorted({entry.repo for entry in entries})])


def remove(connection: Connection, entry_ids: Collection[int]) -> None:
    """Make entries unfindable, before they leave their own table."""
    sign = _sign(connection)
    rows = [(entry_id,) for entry_id in entry_ids]
    if rows:
        connection.exec_driver_sql(f"DELETE FROM entry_tokens WHERE entry_id = {sign}", rows)  # noqa: S608


def search(
    connection: Connection,
    query: EntryQuery,
    *,
    limit: int,
    offset: int = 0,
    allowed_repos: Collection[str] | None = None,
    hidden_repos: Collection[str] = (),
) -> list[tuple[int, float]]:
    """The ids that fit `query`, in its order, and each one's score (0 beyond the ranked ones and in order `new`).

    Never more than `limit`, after the first `offset`. Entries of `hidden_repos`, or of others than `allowed_repos`, are
    as if they did not exist. With nothing to look for, all entries fit.
    """
    required, excluded = search_match.confinement(query, allowed_repos=allowed_repos, hidden_repos=hidden_repos)
    wanted = _Wanted(query, required, excluded)
    if query.order is Order.NEW:
        found = newest(connection, wanted, limit=offset + limit)
        return [(entry_id, 0.0) for entry_id, _ in found[offset:]]
    found = newest(connection, wanted, limit=max(RANKED, offset + limit), titles=True)
    terms = query.terms
    scored = [(search_match.title_score(title, terms), entry_id) for entry_id, title in found[:RANKED]]
    ranked = [(entry_id, score) for score, entry_id in sorted(scored, reverse=True)]
    rest = [(entry_id, 0.0) for entry_id, _ in found[RANKED:]]
    return [*ranked, *rest][offset : offset + limit]


def count(connection: Connection, query: EntryQuery, *, most: int, hidden_repos: Collection[str] = ()) -> int:
    """How many entries fit, counting no further than `most`."""
    required, excluded = search_match.confinement(query, allowed_repos=None, hidden_repos=hidden_repos)
    return len(newest(connection, _Wanted(query, required, excluded), limit=most))


def repo_tokens(repo: str) -> set[str]:
    """Every token by which a repository's entries are asked for."""
    return {token for name in (repo, *repo.split("/")) if (token := metadata("repo", name))}


class _Wanted:
    """A query with everything that the database must know of it."""

    __slots__ = ("excluded", "query", "required")

    def __init__(self, query: EntryQuery, required: Collection[Any], excluded: Collection[Any]) -> None:
        self.query = query
        self.required = required
        self.excluded = excluded


def newest(connection: Connection, wanted: _Wanted, *, limit: int, titles: bool = False) -> list[tuple[int, str]]:
    """The newest matches, newest first, with their title's tokens where `titles` asks for them."""
    if connection.dialect.name == "sqlite":
        return _newest_sqlite(connection, wanted, limit, titles=titles)
    return _newest_postgresql(connection, wanted, limit, titles=titles)


def _newest_sqlite(connection: Connection, wanted: _Wanted, limit: int, *, titles: bool) -> list[tuple[int, str]]:
    match = search_match.fts5(wanted.required, wanted.excluded)
    days, values = _days(wanted.query, "?", iso=True)
    if not titles and not days:
        statement = "SELECT rowid, '' FROM entry_search WHERE entry_search MATCH ? ORDER BY rowid DESC LIMIT ?"
    else:
        # CROSS JOIN: SQLite keeps the order written here, and walks the matches rather than the table of dates.
        statement = (
            "SELECT s.rowid, t.title FROM entry_search s "  # noqa: S608
            "CROSS JOIN entry_tokens t INDEXED BY entry_tokens_title_ix ON t.entry_id = s.rowid "
            f"WHERE entry_search MATCH ?{days} ORDER BY s.rowid DESC LIMIT ?"
        )
    if titles:
        # In one row: for each row Python's driver gives the interpreter away, and among many readers waits to get it
        # back two hundred times over. Tokens hold no signs of control.
        statement = f"SELECT group_concat(rowid || char(31) || title, char(30)) FROM ({statement})"  # noqa: S608
        (whole,) = connection.exec_driver_sql(statement, (match, *values, limit)).one()
        parts = (line.partition("\x1f") for line in whole.split("\x1e")) if whole else ()
        return [(int(entry_id), text) for entry_id, _, text in parts]
    return _rows(connection, statement, (match, *values, limit))


def _newest_postgresql(connection: Connection, wanted: _Wanted, limit: int, *, titles: bool) -> list[tuple[int, str]]:
    match = search_match.tsquery(wanted.required, wanted.excluded)
    days, values = _days(wanted.query, "%s", iso=False)
    title = "title" if titles else "''"
    # Walking the primary key is quick for frequent words and hopeless for rare ones; the index is the reverse. The
    # newest rows tell which it is. `entry_id + 0` keeps the planner from walking where the index is meant.
    walk = (
        f"SELECT entry_id, {title} FROM (SELECT * FROM entry_tokens ORDER BY entry_id DESC LIMIT %s) t "  # noqa: S608
        f"WHERE tokens @@ %s::tsquery{days} ORDER BY entry_id DESC LIMIT %s"
    )
    found = _rows(connection, walk, (PROBED, match, *values, limit))
    if len(found) >= limit:
        return found
    if found:
        window = PROBED * limit * 3 // (len(found) * 2)
        matches_in_all = found[0][0] * len(found) // PROBED
        # A row that is walked past costs about a quarter of one that the index gives: phrases are checked in the row.
        if window < max(4 * matches_in_all, WALKED):
            found = _rows(connection, walk, (window, match, *values, limit))
            if len(found) >= limit:
                return found
    lookup = (
        f"SELECT entry_id, {title} FROM entry_tokens t WHERE tokens @@ %s::tsquery{days} "  # noqa: S608
        "ORDER BY entry_id + 0 DESC LIMIT %s"
    )
    return _rows(connection, lookup, (match, *values, limit))


def _days(query: EntryQuery, sign: str, *, iso: bool) -> tuple[str, list[Any]]:
    """The conditions on editions: some edition not before `since`, some edition before `before`."""
    conditions, values = "", []
    for column, operator, moment in (("last_edition", ">=", query.since), ("first_edition", "<", query.before)):
        if moment is not None:
            conditions += f" AND t.{column} {operator} {sign}"
            values.append(moment.isoformat() if iso else moment)
    return conditions, values


def _rows(connection: Connection, statement: str, values: tuple[Any, ...]) -> list[tuple[int, str]]:
    return [(row[0], row[1]) for row in connection.exec_driver_sql(statement, values)]


def row_of(dialect: str, entry: Entry, text: IndexedText) -> tuple[Any, ...]:
    """The values of an entry's row of `entry_tokens`, in the order of its columns."""
    first, last = min((*entry.editions, entry.edition)), max((*entry.editions, entry.edition))
    title = f" {' '.join(text.title)} "
    if dialect == "sqlite":
        return entry.id, TOKENS_VERSION, first.isoformat(), last.isoformat(), title, " ".join(text.tokens)
    return entry.id, TOKENS_VERSION, first, last, title, search_match.vector(text.tokens, GAP)


def _sign(connection: Connection) -> str:
    return "?" if connection.dialect.name == "sqlite" else "%s"
