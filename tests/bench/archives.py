"""The archives of the benches: one corpus in SQLite, PostgreSQL and tantivy."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from sqlalchemy import insert

from bot.ingest.decide import EntryIntent, IntentKind, NewDocument, Wording
from bot.model import DocumentState, Entry, EntryQuery, Phrase
from bot.storage import search_index, search_reindex
from bot.storage.engine import Database, open_database
from bot.storage.ingest_store import IngestStore
from bot.storage.migrate import migrate
from bot.storage.schema import entries
from bot.text.indexed import IndexedText, indexed
from tests import search_support
from tests.bench import corpus
from tests.bench.stage import postgresql_server

_CHUNK = 5_000


def build(size: int, folder: Path) -> None:
    """Build the archive of `size` entries in every engine that is there, unless it was built before."""
    done = folder / f"{size}.built"
    if done.exists():
        return
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        sinks: list[Callable[[Sequence[tuple[Entry, IndexedText]]], None]] = [
            stack.enter_context(_sqlite_sink(size, folder))
        ]
        with contextlib.suppress(ImportError):
            sinks.append(stack.enter_context(_tantivy_sink(size, folder)))
        with contextlib.suppress(ImportError):
            sinks.append(stack.enter_context(_postgresql_sink(size, folder)))
        for chunk in _chunks(corpus.entries(size)):
            texts = [(entry, indexed(entry)) for entry in chunk]
            for sink in sinks:
                sink(texts)
    done.touch()
    print(f"built {size:,} entries in {time.monotonic() - started:.0f} s", flush=True)


@contextlib.contextmanager
def sqlite(size: int, folder: Path) -> Iterator[Database]:
    """Open the SQLite archive."""
    database = open_database(f"sqlite:///{folder / f'{size}.db'}")
    try:
        yield database
    finally:
        database.close()


@contextlib.contextmanager
def postgresql(size: int, folder: Path) -> Iterator[Database]:
    """Open the PostgreSQL archive. Raises ImportError where the server is not installed."""
    server = postgresql_server(folder / "postgresql")
    database = open_database(server.get_uri(database=f"bench_{size}"))
    try:
        yield database
    finally:
        database.close()
        server.cleanup()


@contextlib.contextmanager
def _sqlite_sink(size: int, folder: Path) -> Iterator[Callable[[Sequence[tuple[Entry, IndexedText]]], None]]:
    path = folder / f"{size}.db"
    for leftover in folder.glob(f"{size}.db*"):
        leftover.unlink()
    database = open_database(f"sqlite:///{path}")
    migrate(database)
    # Only look-up is measured here, so that appearances and documents may be missing.
    with database.reading() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        connection.exec_driver_sql("PRAGMA synchronous = OFF")

        def sink(texts: Sequence[tuple[Entry, IndexedText]]) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            connection.execute(insert(entries), [search_support.entry_row(entry, 1) for entry, _ in texts])
            rows = [search_index.row_of("sqlite", entry, text) for entry, text in texts]
            connection.exec_driver_sql(search_index.INDEX["sqlite"], rows)
            connection.exec_driver_sql("COMMIT")

        yield sink
    # The state in which the daily tidying leaves it.
    search_reindex.tidy(database.transaction)
    database.close()


@contextlib.contextmanager
def _postgresql_sink(size: int, folder: Path) -> Iterator[Callable[[Sequence[tuple[Entry, IndexedText]]], None]]:
    import psycopg

    server = postgresql_server(folder / "postgresql")
    name = f"bench_{size}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for setting in ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "max_wal_size = '8GB'"):
            connection.execute(f"ALTER SYSTEM SET {setting}")  # type: ignore[call-overload]
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"DROP DATABASE IF EXISTS {name}")  # type: ignore[call-overload]
        connection.execute(f"CREATE DATABASE {name}")  # type: ignore[call-overload]
    database = open_database(server.get_uri(database=name))
    migrate(database)
    database.close()
    with psycopg.connect(server.get_uri(database=name), autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '512MB'")
        connection.execute("ALTER TABLE entry_tokens DROP CONSTRAINT entry_tokens_entry_id_fkey")
        connection.execute("DROP INDEX entry_tokens_tokens_ix")

        def sink(texts: Sequence[tuple[Entry, IndexedText]]) -> None:
            with connection.cursor().copy("COPY entry_tokens FROM STDIN") as copy:
                for entry, text in texts:
                    copy.write_row(search_index.row_of("postgresql", entry, text))

        yield sink
        connection.execute(
            "CREATE INDEX entry_tokens_tokens_ix ON entry_tokens USING gin (tokens) WITH (fastupdate = off)"
        )
        connection.execute("VACUUM (ANALYZE) entry_tokens")
    server.cleanup()


@contextlib.contextmanager
def _tantivy_sink(size: int, folder: Path) -> Iterator[Callable[[Sequence[tuple[Entry, IndexedText]]], None]]:
    import tantivy

    path = folder / f"{size}.tantivy"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    index = tantivy.Index(_tantivy_schema(tantivy), path=str(path))
    writer = index.writer(256_000_000, 1)

    def sink(texts: Sequence[tuple[Entry, IndexedText]]) -> None:
        for entry, text in texts:
            writer.add_document(tantivy.Document(id=entry.id, tokens=" ".join(text.tokens)))

    yield sink
    writer.commit()
    writer.wait_merging_threads()


def tantivy_calls(size: int, folder: Path, queries: Sequence[EntryQuery], page: int) -> list[Callable[[], Any]]:
    """The queries, compiled beforehand, newest first. Raises ImportError where tantivy is not installed."""
    import tantivy

    schema = _tantivy_schema(tantivy)
    index = tantivy.Index(schema, path=str(folder / f"{size}.tantivy"))
    index.reload()
    searcher = index.searcher()
    must, should = tantivy.Occur.Must, tantivy.Occur.Should

    def phrase(each: Phrase) -> Any:
        if each.prefix and len(each.tokens) == 1:
            return tantivy.Query.regex_query(schema, "tokens", f"{each.tokens[0]}.*")
        if len(each.tokens) == 1:
            return tantivy.Query.term_query(schema, "tokens", each.tokens[0], index_option="basic")
        return tantivy.Query.phrase_query(schema, "tokens", list(each.tokens))

    def term(alternatives: Iterable[tuple[Phrase, ...]]) -> Any:
        forms = [
            phrase(form[0]) if len(form) == 1 else tantivy.Query.boolean_query([(must, phrase(each)) for each in form])
            for form in alternatives
        ]
        return forms[0] if len(forms) == 1 else tantivy.Query.boolean_query([(should, form) for form in forms])

    def compiled(query: EntryQuery) -> Any:
        terms = [term(each.alternatives) for each in query.terms]
        return terms[0] if len(terms) == 1 else tantivy.Query.boolean_query([(must, each) for each in terms])

    return [
        lambda q=ready: searcher.search(q, page, count=False, order_by_field="id").hits
        for ready in map(compiled, queries)
    ]


def _tantivy_schema(tantivy: Any) -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", stored=False, indexed=True, fast=True)
    builder.add_text_field("tokens", stored=False, tokenizer_name="whitespace", index_option="position")
    return builder.build()


def bench_ingest(size: int, folder: Path) -> None:
    """Print how much longer recording takes with the index, on SQLite, in documents of ten entries."""
    seconds: dict[bool, float] = {}
    for with_index in (False, True):
        path = folder / f"ingest-{with_index}.db"
        for leftover in folder.glob(f"{path.name}*"):
            leftover.unlink()
        database = open_database(f"sqlite:///{path}")
        migrate(database)
        store = IngestStore(database)
        documents = [list(chunk) for chunk in _chunks(corpus.entries(size), 10)]
        patch = contextlib.nullcontext() if with_index else mock.patch("bot.storage.ingest_store.index_entries")
        started = time.process_time()
        with patch:
            for number, found in enumerate(documents):
                _record(store, number, found)
        seconds[with_index] = time.process_time() - started
        database.close()
    print(
        f"ingest of {size:,} entries: without index {seconds[False]:.1f} s, with {seconds[True]:.1f} s of processor time"
    )
    ratio = seconds[True] / seconds[False]
    print(f"    with / without {ratio:.2f}   promised <= 2.5: {'kept' if ratio <= 2.5 else 'MISSED'}")


def _record(store: IngestStore, number: int, found: Sequence[Entry]) -> None:
    document = NewDocument(
        source="bench",
        name=f"{number}.txt",
        sha256=str(number),
        edition=found[0].edition,
        arrived_at=search_support.NOW,
        state=DocumentState.ACCEPTED,
        problems=(),
    )
    intents = [
        EntryIntent(
            kind=IntentKind.NEW,
            identity=f"{entry.repo} {entry.id}",
            position=position,
            line=position,
            wording=Wording(repo=entry.repo, title=entry.title, body=entry.body, url=None, extraction=entry.extraction),
        )
        for position, entry in enumerate(found, start=1)
    ]
    store.record(document, intents, search_support.NOW)


def _chunks(items: Iterable[Entry], size: int = _CHUNK) -> Iterator[list[Entry]]:
    rest = iter(items)
    while chunk := list(itertools.islice(rest, size)):
        yield chunk
