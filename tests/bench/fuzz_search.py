"""Any text gets an answer, and both databases the same one.

    python -m tests.bench.fuzz_search --count 100000                     # every text answered on SQLite
    python -m tests.bench.fuzz_search --equal 20000 --random 5000 --size 100000   # SQLite and PostgreSQL side by side

Exits with 1 at the first error, at an answer later than a second, or where the databases differ.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bot.model import EntryQuery, Order
from bot.readers.answer import Answers
from bot.readers.query import as_plain, asks, parse, relaxed
from bot.storage import search_index
from bot.storage.engine import Database, open_database
from bot.storage.migrate import migrate
from bot.storage.search_store import SearchStore
from bot.text.glossary import shipped
from tests import search_support
from tests.bench import archives, corpus

_PIECES = (
    *(
        "显存",
        "泄漏",
        "漏",
        "投机解码",
        "缓存",
        "的",
        "顯存",
        "ＲＯＣｍ",
        "rocm",
        "free_blocks",
        "KV cache",
        "C++",
        "vllm",
    ),
    *("spec-decode", "#48017", "utils.py", "a/b/c.py", "12.5", "--flag", "-ci", "std::x", "you're", "naïve", "день"),
    *(
        "repo:",
        "repo:vllm",
        "repo:'; DROP",
        "topic:rocm",
        "verdict:精读",
        "verdict:",
        "audience:维护者",
        "path:rust/src",
    ),
    *(
        "pr:48017",
        "pr:x",
        "since:7d",
        "since:昨天",
        "since:zzz",
        "before:2026-11-01",
        "sort:new",
        "foo:bar",
        "since:99999y",
    ),
    *(
        '"',
        "'",
        "`",
        "“",
        "”",
        "「",
        "」",
        "(",
        ")",
        "*",
        "^",
        "{",
        "}",
        "[",
        "]",
        "\\",
        "/",
        ";",
        "--",
        "/*",
        "&",
        "|",
        "!",
        ":",
    ),
    *(
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        "NEAR/2",
        "tokens:",
        "rowid",
        "%",
        "_",
        "<->",
        ":*",
        "&amp;",
        "&lt;",
        "&#0;",
        "&amp;quot;",
    ),
    *(
        "\x00",
        "\u200b",
        "\u3000",
        "\u202e",
        "\ufeff",
        "\ud800",
        "\U0010ffff",
        "🎉",
        "👩‍👩‍👧",
        "e\u0301",
        "ﬃ",
        "İ",
        "ß",
        "\n",
        "\t",
    ),
    *("𠮷", "ー", "한국어", "ไทย", "العربية", "٣", "²", "①", "㍿", "々", "〇"),
)


def fuzzed(count: int, *, seed: int = 3) -> Iterator[str]:
    """Texts of every unpleasant kind, some of them ten thousand characters long."""
    source = random.Random(seed)
    for number in range(count):
        if number % 500 == 499:
            yield (source.choice(_PIECES) + source.choice(("", " "))) * (10_000 // 3)
            continue
        pieces = [
            source.choice(_PIECES) if source.random() < 0.8 else chr(source.randrange(0x11_0000)) * source.randint(1, 3)
            for _ in range(source.randint(0, 9))
        ]
        yield source.choice(("", " ", " ", "-")).join(pieces)


def answer_all(answers: Answers, texts: Iterator[str]) -> tuple[int, float]:
    """How many texts were answered, and the slowest answer in seconds."""
    done, slowest = 0, 0.0
    for text in texts:
        started = time.perf_counter()
        answers.search(text, channel=None, today=search_support.TODAY)
        slowest = max(slowest, time.perf_counter() - started)
        done += 1
        if done % 5_000 == 0:
            print(f"{done:,} texts answered, slowest {1000 * slowest:.0f} ms", flush=True)
    return done, slowest


def readings(text: str) -> Iterator[EntryQuery]:
    """Every query that answering `text` may put to a database, in both orders."""
    query = parse(text, known_repos=corpus.REPOSITORIES, today=corpus.LAST_DAY, glossary=shipped())
    if not asks(query):
        return
    for reading in dict.fromkeys((query, as_plain(query), relaxed(query, shipped()) or query)):
        yield replace(reading, order=Order.NEW)
        yield replace(reading, order=Order.BEST)


def differences(one: Database, two: Database, texts: Iterator[str], *, limit: int = 30) -> Iterator[str]:
    """A line for each query that the databases answer differently."""
    hidden = ("example/trainer",)
    with one.reading() as first, two.reading() as second:
        for number, text in enumerate(texts):
            if number % 1_000 == 999:
                print(f"{number + 1:,} texts compared", flush=True)
            for query in readings(text):
                asked = {"limit": limit, "offset": number % 3, "hidden_repos": hidden if number % 4 == 0 else ()}
                found = [search_index.search(connection, query, **asked) for connection in (first, second)]
                if found[0] != found[1]:
                    yield f"{text!r} {query.order}: {found[0][:5]} {found[1][:5]}"


def _seeded(folder: str) -> Answers:
    database = open_database(f"sqlite:///{folder}/fuzz.db")
    migrate(database)
    paths = [
        *sorted(search_support.SEEDS.glob("*.txt")),
        *sorted((search_support.DATA / "search_digests").glob("*.txt")),
    ]
    search_support.store(database, search_support.make_entries(paths))
    return Answers(SearchStore(database), shipped())


def _equal(arguments: argparse.Namespace) -> int:
    texts = [*corpus.queries(arguments.random), *fuzzed(arguments.equal)]
    with contextlib.ExitStack() as stack:
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        archives.build(arguments.size, folder)
        one = stack.enter_context(archives.sqlite(arguments.size, folder))
        two = stack.enter_context(archives.postgresql(arguments.size, folder))
        started = time.monotonic()
        found = list(differences(one, two, iter(texts)))
    print(
        f"{len(texts):,} texts on {arguments.size:,} entries: {len(found)} differences, {time.monotonic() - started:.0f} s"
    )
    for line in found[:20]:
        print("  ", line)
    return 1 if found else 0


def main() -> int:
    """Fuzz, print, and say by the exit status whether all was well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=0, help="texts to answer on SQLite")
    parser.add_argument("--equal", type=int, default=0, help="fuzzed texts to put to both databases")
    parser.add_argument("--random", type=int, default=0, help="random queries to put to both databases")
    parser.add_argument("--size", type=int, default=1_000, help="entries of the archive for both")
    parser.add_argument("--keep", type=Path, help="folder for the archives, kept for the next run")
    parser.add_argument("--seed", type=int, default=3)
    arguments = parser.parse_args()
    status = 0
    if arguments.count:
        with tempfile.TemporaryDirectory() as folder:
            done, slowest = answer_all(_seeded(folder), fuzzed(arguments.count, seed=arguments.seed))
        print(f"{done:,} texts answered, 0 errors, slowest {1000 * slowest:.0f} ms")
        status = int(slowest > 1)
    if arguments.equal or arguments.random:
        status |= _equal(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
