"""Look-up beside tantivy and LIKE, over the same corpus and the same queries, in one run. Read the ratios, not the times.

    python -m tests.bench.search                                  # 1k, 100k and 1M entries, and ingest; takes long
    python -m tests.bench.search --keep /var/tmp/bench            # the same, the archives kept
    python -m tests.bench.search --sizes 100000 --ingest 0        # one size only

Ingest is recorded twice, with the index and without it, and the ratio of the two printed. With `--keep` the archives
are built once and used again. tantivy and PostgreSQL come with the `dev` and `test` extras.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.model import EntryQuery, Order
from bot.readers.query import asks, parse
from bot.storage import search_index, search_match
from bot.text.glossary import shipped
from tests.bench import archives, corpus

PAGE = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Milliseconds of many calls."""

    p50: float
    p99: float

    @classmethod
    def of(cls, calls: Sequence[Callable[[], Any]], *, rounds: int = 1) -> Times:
        """Time every call once a round, after a first round that does not count; a call counts with its quickest."""
        best = [float("inf")] * len(calls)
        for round_ in range(rounds + 1):
            for index, call in enumerate(calls):
                started = time.perf_counter()
                call()
                if round_:
                    best[index] = min(best[index], time.perf_counter() - started)
        ordered = sorted(best)
        return cls(p50=1000 * statistics.median(ordered), p99=1000 * ordered[int(len(ordered) * 0.99)])

    def __str__(self) -> str:
        return f"{self.p50:9.3f} {self.p99:9.3f}"


def compile_queries(count: int) -> list[EntryQuery]:
    """Queries of the corpus as the bot reads them, newest first."""
    glossary = shipped()
    parsed = (parse(text, today=corpus.LAST_DAY, glossary=glossary) for text in corpus.queries(count * 2))
    return [replace(query, order=Order.NEW) for query in parsed if asks(query)][:count]


def bench(size: int, folder: Path, queries: Sequence[EntryQuery], *, like: int, rounds: int) -> None:
    """Print the times of every engine on an archive of `size` entries, and the ratios that were promised."""
    best = [replace(query, order=Order.BEST) for query in queries]
    print(f"\n{size:,} entries, {len(queries)} queries, newest {PAGE - 1}; ms: p50, p99")
    with archives.sqlite(size, folder) as database, database.reading() as connection:
        statement = "SELECT rowid, '' FROM entry_search WHERE entry_search MATCH ? ORDER BY rowid DESC LIMIT ?"
        matches = [search_match.fts5(query.terms, query.excluded) for query in queries]
        run = connection.exec_driver_sql
        sqlite = Times.of([lambda m=m: run(statement, (m, PAGE)).fetchall() for m in matches], rounds=rounds)
        print(f"  SQLite, the statement  {sqlite}")
        print(f"  SQLite, sort:new       {Times.of(_calls(connection, queries), rounds=rounds)}")
        sqlite_best = Times.of(_calls(connection, best), rounds=rounds)
        print(f"  SQLite, best           {sqlite_best}")
        print(f"  SQLite LIKE            {Times.of(_like(connection, queries[:like]))}  ({like} queries)")
    tantivy = None
    with contextlib.suppress(ImportError):
        tantivy = Times.of(archives.tantivy_calls(size, folder, queries, PAGE), rounds=rounds)
        print(f"  tantivy                {tantivy}")
    postgresql = bare = None
    with (
        contextlib.suppress(ImportError),
        archives.postgresql(size, folder) as database,
        database.reading() as connection,
    ):
        bare = Times.of([lambda: connection.exec_driver_sql("SELECT 1").fetchall()] * len(queries), rounds=rounds)
        print(f"  PostgreSQL, SELECT 1   {bare}")
        postgresql = Times.of(_calls(connection, queries), rounds=rounds)
        print(f"  PostgreSQL, sort:new   {postgresql}")
        print(f"  PostgreSQL, best       {Times.of(_calls(connection, best), rounds=rounds)}")
    if tantivy:
        _ratio(
            "SQLite / tantivy p50",
            sqlite.p50 / tantivy.p50,
            1.0 if size >= 1_000_000 else 3.0,
            promised=size >= 100_000,
        )
        _ratio("SQLite / tantivy p99", sqlite.p99 / tantivy.p99, 1.0, promised=size >= 100_000)
    _ratio("best p50, ms", sqlite_best.p50, 1.5, promised=True)
    if postgresql and bare:
        _ratio(
            "PostgreSQL p99 / (8 x SELECT 1 p99 + 10 ms)",
            postgresql.p99 / (8 * bare.p99 + 10),
            1.0,
            promised=size == 100_000,
        )


def _calls(connection: Any, queries: Sequence[EntryQuery]) -> list[Callable[[], Any]]:
    return [lambda q=query: search_index.search(connection, q, limit=PAGE) for query in queries]


def _like(connection: Any, queries: Sequence[EntryQuery]) -> list[Callable[[], Any]]:
    calls = []
    for query in queries:
        words = [f"%{term.word}%" for term in query.terms]
        wanted = " AND ".join(["(title LIKE ? OR body LIKE ?)"] * len(words))
        statement = f"SELECT id FROM entries WHERE {wanted} ORDER BY id DESC LIMIT {PAGE}"
        values = tuple(word for word in words for _ in range(2))
        calls.append(lambda s=statement, v=values: connection.exec_driver_sql(s, v).fetchall())
    return calls


def _ratio(what: str, value: float, target: float, *, promised: bool) -> None:
    verdict = "" if not promised else f"   promised <= {target:g}: {'kept' if value <= target else 'MISSED'}"
    print(f"    {what:44} {value:6.2f}{verdict}")


@contextlib.contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    folder = Path(tempfile.mkdtemp(prefix="digest-bot-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Build what is missing, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,100000,1000000", help="numbers of entries, with commas between")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--like", type=int, default=50, help="LIKE is slow: only so many queries")
    parser.add_argument("--keep", type=Path, help="folder for the archives, kept for the next run")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument(
        "--ingest", type=int, default=100_000, metavar="N", help="measure the ingest of N entries, 0: do not"
    )
    arguments = parser.parse_args()
    with _folder(arguments.keep) as folder:
        queries = compile_queries(arguments.queries)
        for size in map(int, arguments.sizes.split(",")):
            archives.build(size, folder)
            if not arguments.build_only:
                bench(size, folder, queries, like=arguments.like, rounds=arguments.rounds)
        if arguments.ingest and not arguments.build_only:
            archives.bench_ingest(arguments.ingest, folder)


if __name__ == "__main__":
    main()
