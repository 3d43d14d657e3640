"""The tables of look-up, apart from all others: `schema.py` calls `define(metadata)` once.

`entry_tokens` holds for each entry the tokens of `bot.text.indexed`. On SQLite an FTS5 table reads them from there
(external content, kept true by triggers); on PostgreSQL they are a `tsvector` under a GIN index.
"""

from __future__ import annotations

from sqlalchemy import DDL, BigInteger, Column, Date, ForeignKey, Integer, MetaData, Table, Text, event
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.schema import ExecutableDDLElement

_ID = BigInteger().with_variant(Integer, "sqlite")

# Tokens are made in Python; SQLite only parts them at spaces. The signs are those of `repo:owner/name`.
_SQLITE_SEARCH = """
CREATE VIRTUAL TABLE entry_search USING fts5(
    tokens, content='entry_tokens', content_rowid='entry_id', tokenize="ascii tokenchars ':/-_.#'", prefix='1'
)"""
_SQLITE_ADDED = """
CREATE TRIGGER entry_tokens_added AFTER INSERT ON entry_tokens BEGIN
    INSERT INTO entry_search(rowid, tokens) VALUES (new.entry_id, new.tokens);
END"""
_SQLITE_REMOVED = """
CREATE TRIGGER entry_tokens_removed AFTER DELETE ON entry_tokens BEGIN
    INSERT INTO entry_search(entry_search, rowid, tokens) VALUES ('delete', old.entry_id, old.tokens);
END"""
_SQLITE_CHANGED = """
CREATE TRIGGER entry_tokens_changed AFTER UPDATE OF tokens ON entry_tokens WHEN old.tokens <> new.tokens BEGIN
    INSERT INTO entry_search(entry_search, rowid, tokens) VALUES ('delete', old.entry_id, old.tokens);
    INSERT INTO entry_search(rowid, tokens) VALUES (new.entry_id, new.tokens);
END"""
# Ranking reads two hundred short columns, which would else lie a page of tokens apart.
_SQLITE_TITLES = "CREATE INDEX entry_tokens_title_ix ON entry_tokens (entry_id, first_edition, last_edition, title)"
# Rows stay whole: a tsvector moved out of its row costs a second look-up for every candidate.
_POSTGRESQL_WHOLE = "ALTER TABLE entry_tokens SET (toast_tuple_target = 8160)"
_POSTGRESQL_INDEX = "CREATE INDEX entry_tokens_tokens_ix ON entry_tokens USING gin (tokens) WITH (fastupdate = off)"

_EXTRA = {
    "sqlite": (_SQLITE_SEARCH, _SQLITE_ADDED, _SQLITE_REMOVED, _SQLITE_CHANGED, _SQLITE_TITLES),
    "postgresql": (_POSTGRESQL_WHOLE, _POSTGRESQL_INDEX),
}
_TOKENS = """
CREATE TABLE entry_tokens (
    entry_id INTEGER NOT NULL,
    tokens_version INTEGER NOT NULL,
    first_edition DATE NOT NULL,
    last_edition DATE NOT NULL,
    title TEXT NOT NULL,
    tokens TEXT NOT NULL,
    CONSTRAINT entry_tokens_pkey PRIMARY KEY (entry_id),
    CONSTRAINT entry_tokens_entry_id_fkey FOREIGN KEY(entry_id) REFERENCES entries (id)
)"""
_WORDS = "CREATE TABLE search_words (word TEXT NOT NULL, CONSTRAINT search_words_pkey PRIMARY KEY (word))"
_REPOS = "CREATE TABLE search_repos (repo TEXT NOT NULL, CONSTRAINT search_repos_pkey PRIMARY KEY (repo))"
_TABLES = {
    "sqlite": (_TOKENS, _WORDS, _REPOS),
    "postgresql": (
        _TOKENS.replace("entry_id INTEGER", "entry_id BIGINT").replace("tokens TEXT", "tokens TSVECTOR"),
        _WORDS.replace("word TEXT", 'word TEXT COLLATE "C"'),
        _REPOS,
    ),
}


def define(metadata: MetaData) -> None:
    """Add the tables to `metadata`, so that `create_all` makes them with everything that belongs to them."""
    tokens = Table(
        "entry_tokens",
        metadata,
        Column("entry_id", _ID, ForeignKey("entries.id"), primary_key=True, autoincrement=False),
        Column("tokens_version", Integer, nullable=False),
        Column("first_edition", Date, nullable=False),
        Column("last_edition", Date, nullable=False),
        Column("title", Text, nullable=False),
        # Last, because it is long and most statements do not read it.
        Column("tokens", Text().with_variant(TSVECTOR(), "postgresql"), nullable=False),
    )
    word = Text().with_variant(Text(collation="C"), "postgresql")
    Table("search_words", metadata, Column("word", word, primary_key=True))
    Table("search_repos", metadata, Column("repo", Text, primary_key=True))
    for dialect, statements in _EXTRA.items():
        for statement in statements:
            made: ExecutableDDLElement = DDL(statement)  # type: ignore[no-untyped-call]
            event.listen(tokens, "after_create", made.execute_if(dialect=dialect))


def ddl(dialect: str) -> list[str]:
    """The statements, in order, that make all of it in a database (`sqlite` or `postgresql`) that has `entries`."""
    return [statement.strip() for statement in (*_TABLES[dialect], *_EXTRA[dialect])]
