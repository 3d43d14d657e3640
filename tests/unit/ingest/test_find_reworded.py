"""The nearest reworded entry is found as if each were compared with each, and in less time."""

from __future__ import annotations

import random
import time
from collections.abc import Collection
from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.ingest.decide import KnownEntry
from bot.ingest.identify import looks, rewording
from bot.ingest.reworded import Rewordings
from bot.model import ParsedEntry
from bot.text.change import change

SENTENCES = (
    "这一处改动把心跳线程与抢锁事务合并到同一条语句里，避免了进程在两步之间被杀时任务被重复领取，评审中的讨论同样有参考意义。",
    "建议阅读。改动集中在调度与缓存两处，先看数据契约，再看适配风险，最后看回归测试与决策模式，篇幅不长，适合放在早上读。",
    "The scheduler no longer gives the budget back twice, so a request that waits is served in the order of arrival.",
)
TITLES = ("修复调度器死锁", "修复调度器在抢占后的死锁", "Fix scheduler", "Fix the scheduler", "新增部署文档", "a != b")


def known(number: int, title: str, body: str, *, repo: str = "a/b", url: str | None = None) -> KnownEntry:
    return KnownEntry(
        id=number, repo=repo, title=title, body=body, url=url, revision=1, current_edition=date(2026, 11, 30)
    )


def item(title: str, body: str, *, repo: str = "a/b", url: str | None = None, key: str | None = None) -> ParsedEntry:
    return ParsedEntry(repo=repo, title=title, body=body, position=1, line=1, url=url, key=key)


def each_with_each(entry: ParsedEntry, recent: Collection[KnownEntry], taken: set[int]) -> KnownEntry | None:
    """What `Rewordings` stands for, by the shortest way to say it."""
    new = looks(entry.title, entry.body)
    alike = sorted(
        (change(old.body, entry.body), old.id)
        for old in recent
        if old.id not in taken
        and old.repo.casefold() == entry.repo.casefold()
        and not entry.key
        and not (entry.url and old.url and entry.url != old.url)
        and rewording(looks(old.title, old.body), new) is not None
    )
    if not alike or (len(alike) > 1 and alike[0][0] == alike[1][0]):
        return None
    return next(old for old in recent if old.id == alike[0][1])


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """A sentence or two of a few, with some characters put in, taken out or changed."""
    text = list("".join(draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=2))))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2, 4, 6, 9, 12]))):
        place = draw(st.integers(0, len(text) - 1))
        text[place : place + draw(st.integers(0, 1))] = draw(st.sampled_from(["", "改", "的", "x", "锁"]))
    return "".join(text)


REPOS = st.sampled_from(["a/b", "A/B", "a/b", "a/c"])
URLS = st.sampled_from([None, None, None, "https://x.example/1", "https://x.example/2"])
RECENT = st.lists(st.tuples(st.sampled_from(TITLES), bodies(), REPOS, URLS), min_size=12, max_size=30)


@settings(max_examples=100, deadline=None)
@given(RECENT, st.sampled_from(TITLES), bodies(), REPOS, URLS, st.sets(st.integers(0, 29)))
def test_the_decision_is_that_of_comparing_each_with_each(
    recent: list[tuple[str, str, str, str | None]],
    title: str,
    body: str,
    repo: str,
    url: str | None,
    taken: set[int],
) -> None:
    entries = [known(number, title, body, repo=repo, url=url) for number, (title, body, repo, url) in enumerate(recent)]
    rewordings = Rewordings(entries)
    for one in (item(title, body, repo=repo, url=url), item(*recent[0][:2]), item(title, body, key="k")):
        assert rewordings.nearest(one, taken) == each_with_each(one, entries, taken)


def test_a_body_that_differs_evenly_all_along_is_found_among_many() -> None:
    """The hardest case for looking up: no long piece of the text is left as it was."""
    word = random.Random(1)
    signs = [chr(0x4E00 + number) for number in range(500)]
    texts = ["".join(word.choices(signs, k=200)) for _ in range(50)]
    entries = [known(number, "修复调度器死锁", text) for number, text in enumerate(texts)]
    changed = "".join("改" if place % 11 == 5 else sign for place, sign in enumerate(texts[7]))
    found = Rewordings(entries).nearest(item("修复调度器在抢占后的死锁", changed), set())
    assert found == entries[7]


def test_many_new_entries_are_compared_with_many_known_ones_in_time() -> None:
    word = random.Random(2)
    signs = [chr(0x4E00 + number) for number in range(1500)]

    def text(size: int) -> str:
        return "".join(word.choices(signs, k=size))

    rewordings = Rewordings([known(number, f"修复{text(10)}", text(120)) for number in range(2000)])
    began = time.process_time()
    for _ in range(2000):
        assert rewordings.nearest(item(f"修复{text(10)}", text(120)), set()) is None
    assert time.process_time() - began < 10.0, "four million comparisons would take minutes"
