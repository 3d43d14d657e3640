"""One entry keeps its identity through new wording; two entries that look alike stay two."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.ingest.identify import identity, looks, normalise_title, rewording
from bot.ingest.parse import parse
from bot.model import ParsedEntry
from bot.text.change import change

SEEDS = sorted((Path(__file__).parents[3] / "seeds").glob("*.txt"))
BODY = "值得精读。这是对 torch 跨进程 IPC refcount 语义的一次深入剖析，展示了一次导出只能配对一次释放的系统约束，以及用单槽缓存解决协议失配的简洁设计。"


def entry(
    title: str, *, repo: str = "a/b", url: str | None = None, key: str | None = None, body: str = "b"
) -> ParsedEntry:
    return ParsedEntry(repo=repo, title=title, body=body, position=1, line=1, url=url, key=key)


def reworded(old_title: str, old_body: str, new_title: str, new_body: str) -> bool:
    return rewording(looks(old_title, old_body), looks(new_title, new_body)) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("修复 free_blocks 缓存", "修复free_blocks缓存"),
        ("投机解码，最多降 65%", "投机解码, 最多降６５%"),
        ("Fix KV Cache", "fix  kv cache."),
        ("修复「死锁」", "修复“死锁”"),
        ("顯存泄漏", "显存泄漏"),
        ("延迟 -5%，a ≤ b", "延迟－5%, `a <= b`。"),
        ("修复!vLLM 支持 A->B", "修复！vLLM 支持 A → B"),
        ("3月-5月", "3 月 – 5 月"),
        ("10%-20%", "10% ~ 20%"),
    ],
)
def test_spelling_does_not_change_the_identity(one: str, other: str) -> None:
    assert identity(entry(one)) == identity(entry(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("降 6.5%", "降 65%"),
        ("升级到 1.2", "升级到 1.3"),
        ("支持 C++", "支持 C"),
        ("free_blocks", "free blocks"),
        ("比较 a != b", "比较 a == b"),
        ("要求 n < 8", "要求 n > 8"),
        ("要求 n <= 8", "要求 n < 8"),
        ("移位 x << 2", "移位 x >> 2"),
        ("偏移 +1", "偏移 -1"),
        ("偏移 1", "偏移 -1"),
        ("if ready", "if !ready"),
        ("a && b", "a || b"),
        ("支持 C#", "支持 C"),
        ("?", "!"),
    ],
)
def test_other_titles_are_other_entries(one: str, other: str) -> None:
    assert identity(entry(one)) != identity(entry(other))


def test_the_repository_counts_without_case_and_position_and_body_do_not_count() -> None:
    assert identity(entry("t", repo="A/B", body="x")) == identity(entry("t", repo="a/b", body="y"))
    assert identity(entry("t", repo="a/b")) != identity(entry("t", repo="a/c"))


def test_a_key_or_a_link_is_the_identity_where_the_format_has_one() -> None:
    assert identity(entry("one", key="k")) == identity(entry("two", key="k"))
    assert identity(entry("one", url="https://X.example/a/?utm_source=y#z")) == identity(
        entry("two", url="https://x.example/a")
    )
    assert identity(entry("one", url="https://x.example/a?id=1")) != identity(
        entry("one", url="https://x.example/a?id=2")
    )


def test_a_reworded_title_over_the_same_body_is_the_reworded() -> None:
    assert reworded("修复显存泄漏", BODY, "修复 packed IPC 的显存永久泄漏", BODY)
    assert reworded("修复显存泄漏", BODY, "修复显存永久泄漏", BODY.replace("简洁", "简单"))


@pytest.mark.parametrize(
    ("old", "old_body", "new", "new_body"),
    [
        ("升级 foo 至 1.2", BODY, "升级 foo 至 1.3", BODY),
        ("Bump foo", BODY, "Bump bar", BODY),
        ("修复 a_b", BODY, "修复 a_c", BODY),
        ("修复 a != b 的判断", BODY, "修复 a == b 的判断", BODY),
        ("支持 C", BODY, "支持 C++", BODY),
        ("修复", BODY + "见 f_g", "修复二", BODY + "见 f_h"),
        ("升级日志库", "例行升级，可跳过。", "升级网络库", "例行升级，可跳过。"),
        ("修复死锁", BODY, "修复死锁二", BODY[:20] + "完全不同的说法，讲的是另外一件事情，" * 5),
    ],
)
def test_alike_is_not_the_same(old: str, old_body: str, new: str, new_body: str) -> None:
    assert not reworded(old, old_body, new, new_body)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80))
def test_a_normalised_title_stays_as_it_is(title: str) -> None:
    assert normalise_title(normalise_title(title)) == normalise_title(title)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=600), st.text(max_size=60))
def test_an_identity_is_short_and_stable(title: str, repo: str) -> None:
    assert len(identity(entry(title, repo=repo))) <= 400
    assert identity(entry(title, repo=repo)) == identity(entry(title, repo=repo))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_change_is_a_symmetric_fraction(old: str, new: str) -> None:
    assert 0.0 <= change(old, new) <= 1.0
    assert change(old, new) == change(new, old)
    assert (change(old, new) == 0.0) == (old == new)


def test_change_of_long_unlike_texts_is_quick() -> None:
    began = time.process_time()
    assert change("ab" * 50_000, "ba" * 49_000 + "c" * 2000) < 0.1
    assert change("甲" * 50_000, "乙" * 50_000) == 1.0
    assert time.process_time() - began < 1.0


def test_two_chinese_titles_over_the_same_phrase_are_two_entries() -> None:
    body = "建议阅读。改动集中在调度与缓存两处，先看数据契约，再看适配风险，最后看回归测试与决策模式，篇幅不长。"
    assert not reworded("修复注意力内核在长序列下的崩溃", body, "新增张量并行的部署文档", body)
    assert reworded("修复注意力内核在长序列下的崩溃", body, "修复注意力内核长序列崩溃", body)


FORMER = Path(__file__).parents[2] / "data/identities.txt"


def test_entries_that_were_posted_keep_their_identities() -> None:
    """Else everything would be posted again. The file was written before operators counted."""
    titles = [one.title for path in SEEDS for one in parse(path.read_bytes(), name=path.name).entries]
    titles += [f"{title}。" for title in titles]
    recorded = {identity(entry(title, repo="vllm-project/vllm")) for title in titles}
    assert recorded == set(FORMER.read_text("utf-8").splitlines())
