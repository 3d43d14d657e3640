"""Look-up on both databases: what is found, by whom, in which order."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection

from bot.ingest.service import Ingest
from bot.model import Answer, Channel, Entry, Extraction, Verdict
from bot.readers.answer import Answers
from bot.readers.examples import Examples
from bot.storage import search_index
from bot.storage.engine import Database
from bot.storage.ingest_store import IngestStore
from bot.storage.search_reindex import BATCH, forget, outdated, reindex, tidy
from bot.storage.search_store import SearchStore
from bot.text.glossary import shipped
from bot.text.vocabulary import load
from tests import search_support as support
from tests.bench import corpus, fuzz_search
from tests.ingest_support import FixedClock
from tests.search_support import TODAY


@pytest.fixture
def seeds(database: Database) -> Answers:
    support.ensure_tables(database)
    support.store(database, support.make_entries(sorted(support.SEEDS.glob("*.txt"))))
    return Answers(SearchStore(database), shipped())


def test_judged_queries_over_the_seeds_find_what_they_must_and_little_else(seeds: Answers) -> None:
    score = support.judge(seeds, support.read_judged(support.DATA / "judged.yaml"))
    assert score.recall >= 0.97, score.faults
    assert score.precision >= 0.97, score.faults


def test_judged_queries_over_six_other_digests_find_what_they_must_and_little_else(database: Database) -> None:
    support.ensure_tables(database)
    support.store(database, support.make_entries(sorted((support.DATA / "search_digests").glob("*.txt"))))
    answers = Answers(SearchStore(database), shipped())
    score = support.judge(answers, support.read_judged(support.DATA / "search" / "judged.yaml"))
    assert score.recall >= 0.97, score.faults
    assert score.precision >= 0.97, score.faults


def test_judged_misspellings_lead_to_what_was_meant(database: Database) -> None:
    support.ensure_tables(database)
    paths = [*sorted((support.DATA / "search_digests").glob("*.txt")), *sorted(support.SEEDS.glob("*.txt"))]
    support.store(database, support.make_entries(paths))
    judged = support.read_judged(support.DATA / "search" / "misspelt.yaml")
    assert len(judged) >= 80
    share, faults = support.judge_misspelt(Answers(SearchStore(database), shipped()), judged)
    assert share >= 0.97, faults


def test_a_near_word_is_never_one_that_only_hidden_entries_have(database: Database) -> None:
    inside, outside = Channel(team_id="T1", channel_id="C1"), Channel(team_id="T1", channel_id="C2")
    archive = Archive(
        database,
        entry(1, "零气泡 zerobubble", repo="secret/thing"),
        entry(2, "别的", repo="example/open"),
        confined={"secret/thing": [inside]},
    )
    for wrong, right in (("零气炮", "零气泡"), ("zerobuble", "zerobubble")):
        assert archive.ask(wrong, inside).near == (right,)
        assert archive.ask(wrong, outside).near == ()


def entry(number: int, title: str, body: str = "正文。", **more: Any) -> Entry:
    edition = more.pop("edition", TODAY)
    editions = more.pop("editions", (edition,))
    return Entry(
        id=number,
        repo=more.pop("repo", "vllm-project/vllm"),
        title=title,
        body=body,
        revision=1,
        edition=edition,
        editions=editions,
        **more,
    )


class Archive:
    """A database with entries, and somebody who asks."""

    def __init__(self, database: Database, *entries: Entry, **knows: Any) -> None:
        self.database = database
        support.ensure_tables(database)
        if entries:
            support.store(database, entries)
        self.answers = Answers(SearchStore(database), knows.pop("glossary", shipped()), **knows)

    def ask(self, text: str, channel: Channel | None = None, **page: int) -> Answer:
        return self.answers.search(text, channel=channel, today=TODAY, **page)

    def ids(self, text: str, channel: Channel | None = None, **page: int) -> list[int]:
        return [hit.entry.id for hit in self.ask(text, channel, **{"limit": 100, **page}).hits]


FACTS = Extraction(
    verdict=Verdict.MUST_READ,
    audience=("ROCm 构建维护者",),
    pull_requests=("#48017",),
    paths=("rust/src/chat/request.rs",),
    topics=("rocm",),
)


@pytest.mark.parametrize(
    "query",
    [
        *("verdict:精读", "verdict:must-read", "audience:维护者", "audience:maintainer", "audience:rocm", "topic:ROCm"),
        *("path:rust/src", "path:request.rs", "path:src/chat", "pr:48017", "#48017", "vllm-project/vllm#48017"),
        *("repo:vllm", "repo:VLLM-Project/vllm", "pr:https://github.com/vllm-project/vllm/pull/48017"),
    ],
)
def test_facts_find_the_entries_that_have_them(database: Database, query: str) -> None:
    archive = Archive(
        database,
        entry(1, "甲", FACTS.paths[0], extraction=FACTS),
        entry(2, "乙", "维护者 rust 48017 精读 rocm", repo="example/other"),
    )
    assert archive.ids(query) == [1]


LINKED = "值得精读。见 https://github.com/vllm-project/vllm/pull/48017/files 与 github.com/other/thing/pull/7#discussion_r1。"


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        *(
            ("pr:48017", ["题目"]),
            ("#48017", ["题目"]),
            ("vllm-project/vllm#48017", ["题目"]),
            ("other/thing#7", ["题目"]),
        ),
        *(("pr:https://github.com/vllm-project/vllm/pull/48017/commits", ["题目"]), ("vllm-project/vllm#7", [])),
    ],
)
def test_a_digest_s_links_to_pull_requests_are_mentions(database: Database, query: str, titles: list[str]) -> None:
    archive = Archive(database)
    ingest = Ingest(storage=IngestStore(database), vocabulary=load(), zone=ZoneInfo("UTC"), clock=FixedClock())
    text = f"vllm-project/vllm\n\n题目\n\n{LINKED}\n\n别的\n\n正文 48017。\n"
    ingest.take(source="folder", name="a.txt", data=text.encode(), arrived_at=support.NOW)
    hits = archive.ask(query).hits
    assert [hit.entry.title for hit in hits] == titles
    assert all(hit.entry.extraction.pull_requests == ("#48017", "other/thing#7") for hit in hits)


def test_links_to_pull_requests_in_entries_of_an_older_version_are_found_after_a_reindex(database: Database) -> None:
    linked = entry(1, "题目", LINKED)
    archive = Archive(database, linked, entry(2, "别的"))
    with database.transaction() as connection:
        search_index.index_entries(connection, [replace(linked, body="")])
        connection.exec_driver_sql("UPDATE entry_tokens SET tokens_version = 1")
    assert archive.ids("pr:48017") == []
    assert reindex(database.reading, database.transaction) == 2
    assert archive.ids("pr:48017") == archive.ids("#48017") == archive.ids("other/thing#7") == [1]


def test_days_limit_by_edition(database: Database) -> None:
    day = TODAY - timedelta(days=1)
    archive = Archive(
        database,
        entry(1, "缓存 一", edition=date(2026, 11, 1)),
        entry(2, "缓存 二", edition=date(2026, 11, 20), editions=(date(2026, 11, 20), TODAY)),
        entry(3, "缓存 三", edition=day),
    )
    assert archive.ids("缓存 since:2026-11-20 sort:new") == [3, 2]
    assert archive.ids("缓存 since:today") == [2]
    assert archive.ids("缓存 before:2026-11-20") == [1]
    assert archive.ids("before:2026-11-21 sort:new") == [2, 1]
    assert archive.ids("-三 sort:new") == [2, 1]


def test_the_title_counts_most_and_new_goes_before_old(database: Database) -> None:
    archive = Archive(
        database,
        entry(1, "显存泄漏修复"),
        entry(2, "别的", "显存泄漏。"),
        entry(3, "GPU memory leak", "显存泄漏。"),
        entry(4, "再别的", "显存泄漏。"),
    )
    assert archive.ids("显存泄漏") == [1, 3, 4, 2]
    assert archive.ids("显存泄漏 sort:new") == [4, 3, 2, 1]


def test_a_repository_narrows_and_is_a_plain_word_if_nothing_is_found_so(database: Database) -> None:
    archive = Archive(database, entry(1, "调度", repo="example/vllm"), entry(2, "vllm 前缀", repo="example/other"))
    narrowed = archive.ask("vllm 调度")
    assert ([hit.entry.id for hit in narrowed.hits], narrowed.repo) == ([1], "vllm")
    plain = archive.ask("vllm 前缀")
    assert ([hit.entry.id for hit in plain.hits], plain.repo) == ([2], None)


def test_a_confined_repository_is_found_only_from_its_channels(database: Database) -> None:
    inside, outside = Channel(team_id="T1", channel_id="C1"), Channel(team_id="T1", channel_id="C2")
    archive = Archive(
        database,
        entry(1, "缓存", repo="Secret/Thing"),
        entry(2, "缓存", repo="example/open"),
        entry(3, "secret", repo="example/open"),
        confined={"secret/thing": [inside]},
    )
    assert archive.ids("缓存 sort:new", inside) == [2, 1]
    assert archive.ids("缓存", outside) == [2]
    assert archive.ids("缓存") == [2, 1]
    assert archive.ids("repo:secret/thing", outside) == []
    assert archive.ids("-open", outside) == []
    assert archive.ask("thing 缓存", inside).repo == "thing"
    nothing = archive.ask("thing xyzzy", outside)
    assert [(word.word, word.count) for word in nothing.tried] == [("thing", 0), ("xyzzy", 0)]
    assert [hit.entry.id for hit in archive.answers.edition(TODAY, channel=outside).hits] == [2, 3]


def test_pages_follow_each_other_and_end(database: Database) -> None:
    archive = Archive(database, *(entry(number, f"缓存 {number}") for number in range(1, 14)))
    pages = [archive.ask("缓存", limit=5, offset=offset) for offset in (0, 5, 10, 15)]
    assert [[hit.entry.id for hit in page.hits] for page in pages] == [
        [13, 12, 11, 10, 9],
        [8, 7, 6, 5, 4],
        [3, 2, 1],
        [],
    ]
    assert [(page.more, page.total, page.total_more) for page in pages[:3]] == [
        (True, 10, True),
        (True, 10, True),
        (False, 13, False),
    ]
    assert pages[3].tried == ()


def test_beyond_the_ranked_ones_order_is_by_age_on_every_page(database: Database) -> None:
    found = [entry(number, "缓存" if number % 7 == 0 else "别的", "缓存。") for number in range(1, 321)]
    archive = Archive(database, *found)
    whole = archive.ids("缓存", limit=400)
    assert len(whole) == len(set(whole)) == 320
    assert whole[:3] == [315, 308, 301]
    assert whole[200:] == list(range(120, 0, -1))
    assert [each for offset in range(0, 320, 50) for each in archive.ids("缓存", limit=50, offset=offset)] == whole


def test_nothing_found_says_what_was_tried_and_what_is_near(database: Database) -> None:
    archive = Archive(database, entry(1, "投机解码 scheduler", "packedbufferimporter"), entry(2, "投机解码"))
    answer = archive.ask("投机解码 packedbufferimportr")
    assert answer.hits == ()
    assert [(each.word, each.count) for each in answer.tried] == [("投机解码", 2), ("packedbufferimportr", 0)]
    assert answer.near == ("投机解码 packedbufferimporter",)
    assert "投机解码" in archive.ask("投鸡解马 投鸡解码").near or archive.ask("投鸡解码").near == ("投机解码",)
    assert archive.ask("xyzzyxyzzy").near == ()


def test_long_words_are_taken_apart_only_where_they_find_nothing_whole(database: Database) -> None:
    archive = Archive(database, entry(1, "显存的泄漏", "低并发。"), entry(2, "低并发显存泄漏"))
    whole = archive.ask("低并发显存泄漏")
    assert ([hit.entry.id for hit in whole.hits], whole.relaxed) == ([2], False)
    apart = archive.ask("泄漏低并发")
    assert ([hit.entry.id for hit in apart.hits], apart.relaxed) == ([2, 1], True)


def test_a_hit_says_why_where_its_title_does_not(database: Database) -> None:
    archive = Archive(database, entry(1, "修复启动", "前言。这里有缓存。"), entry(2, "缓存修复"))
    in_title, in_body = archive.ask("修复 缓存").hits
    assert (in_title.entry.id, in_title.snippet) == (2, None)
    assert [(span.start, span.end) for span in in_title.title_matches] == [(0, 2), (2, 4)]
    assert in_body.snippet is not None
    assert in_body.snippet.text == "这里有缓存。"


def test_a_day_shows_its_edition_in_order(database: Database) -> None:
    archive = Archive(database, entry(1, "甲"), entry(2, "乙"), entry(3, "丙"))
    answer = archive.ask("今天", limit=2)
    assert ([hit.entry.id for hit in answer.hits], answer.more, answer.total) == ([1, 2], True, 3)
    assert archive.ids("昨天") == []
    assert archive.ids("2026-11-30", offset=2) == [3]


@pytest.mark.parametrize(
    ("age", "since"), [(0, "since:7d"), (7, "since:7d"), (8, "since:30d"), (31, "since:2026-10-30")]
)
def test_the_help_takes_path_and_days_from_the_newest_edition(database: Database, age: int, since: str) -> None:
    newest = TODAY - timedelta(days=age)
    paths = Extraction(paths=("notes.md", "src/cache/store.rs"))
    archive = Archive(
        database, entry(1, "Faster prefix lookup", "src/cache/store.rs", extraction=paths, edition=newest)
    )
    examples = Examples(archive.answers, glossary=shipped(), spellings=lambda _topic: ())
    view = examples.of(None, newest=newest, today=TODAY)
    assert (view.path, view.since) == ("path:cache", f"Faster {since} sort:new")
    assert archive.ids(view.path) == archive.ids(view.since) == [1]


def test_a_changed_entry_is_found_as_it_is_now_and_a_removed_one_not_at_all(database: Database) -> None:
    archive = Archive(database, entry(1, "旧的题目"), entry(2, "别的题目"))
    with database.transaction() as connection:
        search_index.index_entries(connection, [entry(1, "新的题目")])
        search_index.index_entries(connection, [entry(1, "新的题目")])
    assert archive.ids("旧的") == []
    assert archive.ids('"新的题目"') == [1]
    with database.transaction() as connection:
        search_index.remove(connection, [1])
    assert archive.ids('"新的题目"') == []
    assert archive.ids("题目") == [2]


def test_an_undone_transaction_leaves_the_index_as_it_was(database: Database) -> None:
    archive = Archive(database, entry(1, "旧的题目"))
    with pytest.raises(RuntimeError), database.transaction() as connection:  # noqa: PT012
        search_index.index_entries(connection, [entry(1, "新的题目")])
        raise RuntimeError
    assert archive.ids('"旧的题目"') == [1]
    assert archive.ids('"新的题目"') == []


def test_reindexing_goes_on_where_it_was_stopped_and_search_works_meanwhile(database: Database) -> None:
    archive = Archive(database, *(entry(number, f"缓存 {number}") for number in range(1, 2 * BATCH + 51)))
    with database.transaction() as connection:
        search_index.remove(connection, [3])
        forget(connection)
    stop = threading.Event()
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        assert 450 in archive.ids("缓存 sort:new", limit=1)
        stop.set()

    assert reindex(database.reading, database.transaction, progress, stop=stop) == BATCH
    assert reindex(database.reading, database.transaction, lambda done, total: seen.append((done, total))) == BATCH + 50
    assert seen == [(BATCH, 2 * BATCH + 50), (BATCH, BATCH + 50), (BATCH + 50, BATCH + 50)]
    assert 3 in archive.ids("缓存", limit=1000)
    with database.reading() as connection:
        assert outdated(connection) == 0
    assert reindex(database.reading, database.transaction) == 0


def test_tidying_changes_no_answer(database: Database) -> None:
    archive = Archive(database)
    for number in range(1, 40):
        support.store(database, [entry(number, f"缓存 {number}")])
    before = archive.ids("缓存", limit=100)
    tidy(database.transaction)
    assert archive.ids("缓存", limit=100) == before == list(range(39, 0, -1))
    if database.name == "sqlite":
        with database.reading() as connection:
            pieces = connection.exec_driver_sql("SELECT count(DISTINCT segid) FROM entry_search_idx").scalar_one()
            connection.exec_driver_sql("INSERT INTO entry_search(entry_search) VALUES ('integrity-check')")
        assert pieces == 1


def test_rare_and_frequent_words_are_found_alike(database: Database) -> None:
    """PostgreSQL looks at the newest rows first; nothing may get lost beyond them."""
    rows = [entry(number, "缓存" if number % 3 else "罕见" if number < 10 else "别的") for number in range(1, 2_600)]
    archive = Archive(database, *rows)
    assert archive.ids("罕见") == [9, 6, 3]
    wanted = [number for number in range(2_599, 0, -1) if number % 3]
    assert archive.ids("缓存 sort:new", limit=5_000) == wanted
    assert archive.ids("缓存 sort:new", limit=10, offset=1_500) == wanted[1_500:1_510]


@pytest.mark.parametrize(
    "text", ["'", '"', "\\", "a'b", "%", ":*", "(", "NEAR(a b)", "\x00", "🎉", "x" * 10_000, "\ud800"]
)
def test_no_text_is_an_error(database: Database, text: str) -> None:
    archive = Archive(database, entry(1, "缓存", "it's a 'quoted' \\ body"))
    assert archive.ask(text).query.text is not None
    assert archive.ask(f"缓存 {text}") is not None


def test_both_databases_give_the_same_ids_in_the_same_order(
    migrated_sqlite: Path, tmp_path: Path, postgresql: Any, opened: Callable[[str], Database]
) -> None:
    copy = tmp_path / "copy.db"
    shutil.copyfile(migrated_sqlite, copy)
    name = postgresql.fresh("migrated")
    one, two = opened(f"sqlite:///{copy}"), opened(postgresql.url(name))
    for database in (one, two):
        Archive(database, *corpus.entries(400))
    texts = [*corpus.queries(60), *fuzz_search.fuzzed(240)]
    assert list(fuzz_search.differences(one, two, iter(texts))) == []


def test_fuzzed_texts_are_answered_at_once(database: Database) -> None:
    """`python -m tests.bench.fuzz_search --count 100000` asks more."""
    archive = Archive(database, *support.make_entries(sorted(support.SEEDS.glob("*.txt"))))
    done, slowest = fuzz_search.answer_all(archive.answers, fuzz_search.fuzzed(150, seed=5))
    assert done == 150
    assert slowest < 5, "a second is promised; a busy machine may take longer"


def test_counting_and_choosing_what_to_index_leaves_the_only_writer_alone(database: Database) -> None:
    Archive(database, *(entry(number, f"缓存 {number}") for number in range(1, 4)))
    written: list[int] = []

    @contextmanager
    def transaction() -> Iterator[Connection]:
        written.append(1)
        with database.transaction() as connection:
            yield connection

    assert reindex(database.reading, transaction) == 0
    assert written == []
    with database.transaction() as connection:
        forget(connection)
    assert reindex(database.reading, transaction) == 3
    assert written == [1]
