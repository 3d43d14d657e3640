"""Verdicts, audiences, people, figures and topics are told from words that only look like them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.ingest.extract import extract
from bot.model import Extraction, Verdict
from bot.text.vocabulary import Topic, load


def read(body: str, title: str = "标题") -> Extraction:
    return extract(title, body, vocabulary=load())


def verdict(body: str) -> tuple[str, str] | None:
    found = read(body)
    if found.verdict is None or found.verdict_span is None:
        return None
    return found.verdict.value, body[found.verdict_span.start : found.verdict_span.end]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("值得精读。", ("must_read", "值得精读")),
        ("**值得精读**：理由", ("must_read", "值得精读")),
        ("【建议阅读】理由", ("recommended", "建议阅读")),
        ("这次重构值得一读。", ("recommended", "值得一读")),
        ("该 PR 值得快速阅读，适合", ("skim", "值得快速阅读")),
        ("值得 ROCm 构建维护者和 CI 基建负责人精读，尤其", ("must_read", "值得 ROCm 构建维护者和 CI 基建负责人精读")),
        ("建议 CRD 使用者阅读，尤其", ("recommended", "建议 CRD 使用者阅读")),
        ("值得逐行精读。", ("must_read", "值得逐行精读")),
        ("可跳过。例行升级。", ("skip", "可跳过")),
        ("不建议精读。", ("skip", "不建议精读")),
        ("不建议精读，快速浏览即可。", ("skim", "不建议精读，快速浏览即可")),
        ("无需精读，了解即可。", ("skim", "无需精读")),
        ("不值得精读。", ("skip", "不值得精读")),
        ("未必值得精读。", ("skip", "值得精读")),
        ("这是一处很小的修复。总体上可跳过。", ("skip", "可跳过")),
        ("重构了锁。阅读建议：值得精读。", ("must_read", "值得精读")),
        ("建议阅读 `scheduler.py` 中的改动。", ("recommended", "建议阅读")),
        ("值得精读。建议阅读 `free_blocks` 的完整上下文。", ("must_read", "值得精读")),
        ("Must-read. It shows", ("must_read", "Must-read")),
        ("This PR is worth a close read for maintainers.", ("must_read", "worth a close read")),
        ("Recommended for plugin developers.", ("recommended", "Recommended")),
        ("Worth a skim: only names change.", ("skim", "Worth a skim")),
        ("Skip unless you run ROCm.", ("skip", "Skip")),
        ("Not worth reading. A rename.", ("skip", "Not worth reading")),
        ("A routine bump. Can be skipped.", ("skip", "Can be skipped")),
        ("ROCm 用户必读。", ("must_read", "必读")),
    ],
)
def test_a_verdict_is_read_where_it_stands(body: str, expected: tuple[str, str]) -> None:
    assert verdict(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "",
        "这个改动修复了死锁，其中值得精读的是 scheduler.py。",
        "它展示了锁的用法。建议阅读 `free_blocks` 的完整上下文。",
        "普通用户可跳过。",
        "We skip validation here. The recommended approach is locking.",
        "该阅读器建议阅读顺序。",
        "首个值得关注的是锁。",
    ],
)
def test_a_phrase_inside_the_argument_is_no_verdict(body: str) -> None:
    assert verdict(body) is None


@pytest.mark.parametrize(
    ("body", "wanted", "unwanted"),
    [
        ("对维护者而言，这很重要。", ["维护者"], []),
        ("对一般模型/推理开发者价值有限。", [], ["一般模型/推理开发者"]),
        ("对普通用户而言，升级即可。", [], ["普通用户"]),
        ("普通用户直接升级即可。", [], ["普通用户"]),
        ("若团队也维护投机解码部署，建议回归。", ["团队也维护投机解码部署"], []),
        ("如果不使用 ROCm，可跳过。", [], ["不使用 ROCm"]),
        ("建议 ROCm 用户关注。", ["ROCm 用户"], []),
        ("适合负责网关运维的同学阅读。", ["负责网关运维的同学"], []),
        ("If you maintain a cache server, plan ahead. Casual users can simply upgrade.", ["maintain a cache server"], ["Casual users"]),
        ("Of limited value to application developers.", [], ["application developers"]),
        ("用户需要显式开启该选项。相对开发者而言的说法。核对用户输入。", [], []),
        ("若后续触发重载，则会失败。对齐用户输入，对比两者。", [], []),
        ("由维护者合入。", [], []),
        ("可略过，除非你在维护 fork。", ["在维护 fork"], []),
        ("对 MoE 部署团队有直接参考价值，对单卡用户帮助不大。", ["MoE 部署团队"], ["单卡用户"]),
        ("面向量化方向的研究者与内核开发者。", ["量化方向的研究者", "内核开发者"], []),
        ("Operators should read it, everyone else can ignore it.", ["Operators"], ["everyone else"]),
    ],
)  # fmt: skip
def test_audiences_are_told_from_mere_people(body: str, wanted: list[str], unwanted: list[str]) -> None:
    found = read(body)
    assert (list(found.audience), list(found.audience_negative)) == (wanted, unwanted)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("njhill 对 perf 数据的质疑，以及 orozery 关于 connector FIFO 假设的评论。", ["njhill", "orozery"]),
        ("关注后续 benchislett 的可能 follow-on 意见。", ["benchislett"]),
        ("njhill 与 orozery 的讨论值得看。感谢 @benchislett。", ["njhill", "orozery", "benchislett"]),
        ("orozery 在评审中指出了竞态。", ["orozery"]),
        ("njhill's question about folders, raised by orozery.", ["njhill", "orozery"]),
        ("review 的意见、upstream 的反馈、RFC 对接口的建议、Triton 的讨论。", []),
        ("@here 请看，mail a@b.com，`@dataclass` 与 @property。", []),
        ("scheduler 的分析与 `foo` 的讨论，vLLM 的说明。", []),
    ],
)
def test_logins_are_told_from_words_of_the_trade(body: str, expected: list[str]) -> None:
    assert list(read(body).people) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("（+54/-24）TTFT -55%~-65%", ["+54/-24", "-55%~-65%"]),
        ("从 41s 降到 120ms，约 2.3x、0.85 倍", ["41s", "120ms", "2.3x", "0.85 倍"]),
        (
            "1.8 个百分点，3 分钟，-9 MB，1,200 tok/s，4%~6%",
            ["1.8 个百分点", "3 分钟", "-9 MB", "1,200 tok/s", "4%~6%"],
        ),
        ("版本 2.22、HTTP 500、MI300X、三处、8B 模型、2026-11-30、#48017", []),
        ("`sleep 5s` 与 a_1x", []),
    ],
)
def test_figures_are_measures_and_no_other_numbers(body: str, expected: list[str]) -> None:
    assert list(read(body).figures) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("见 https://github.com/example/other/pull/123。", ["example/other#123"]),
        ("见https://github.com/example/other/pull/123/files，然后", ["example/other#123"]),
        ("(http://www.github.com/example/other/pull/123#discussion_r99)", ["example/other#123"]),
        ("HTTPS://GitHub.com/example/other/pull/7/commits/0a1b2c?w=1.", ["example/other#7"]),
        ("github.com/example/other/pull/123.diff", ["example/other#123"]),
        ("[改动](https://github.com/example/other/pull/5) 与 `https://github.com/example/x.y/pull/6`", ["example/other#5", "example/x.y#6"]),
        ("#48017 之后是 https://github.com/Own/Repo/pull/9，再是 example/other#3", ["#48017", "#9", "example/other#3"]),
        ("#9123，即 https://github.com/own/repo/pull/9123/files", ["#9123"]),
        ("https://github.com/example/other/issues/1 https://github.com/example/other/pulls", []),
        ("https://notgithub.com/a/b/pull/1 https://evil.example/github.com/a/b/pull/2 api.github.com/a/b/pull/3", []),
        ("https://github.com/a/b/pull/12abc https://github.com/a/b/pull/0 https://github.com/a/b/pull/123456789", []),
    ],
)  # fmt: skip
def test_a_link_to_a_pull_request_is_a_mention_of_it(body: str, expected: list[str]) -> None:
    assert list(extract("标题", body, vocabulary=load(), repo="own/repo").pull_requests) == expected


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("稳定 ROCm CI", "rocm"),
        ("补 AMD CI", "rocm"),
        ("统一 spec-decode 测试", "speculative-decoding"),
        ("推测解码", "speculative-decoding"),
        ("新增 cudagraph 支持", "cuda-graph"),
        ("SSRF 问题", "ssrf"),
        ("SSRF 问题", "security"),
        ("显存永久泄漏", "memory-leak"),
        ("fuse two kernels", "kernel"),
    ],
)
def test_topics_are_found_in_both_languages(text: str, topic: str) -> None:
    assert topic in read("正文", title=text).topics


@pytest.mark.parametrize(
    ("text", "topic"), [("decide", "ci"), ("Ernie-4.5-VL", "rl"), ("metal", "regex"), ("procmail", "rocm")]
)
def test_a_topic_s_word_is_a_whole_word(text: str, topic: str) -> None:
    assert topic not in read("x", title=text).topics


def test_a_team_adds_topics_and_words_of_its_own() -> None:
    own = (
        Topic(id="billing", zh="计费", en="billing", terms=("发票",)),
        Topic(id="rocm", zh="ROCm", en="ROCm", terms=("红队卡",)),
    )
    vocabulary = load(extra_topics=own)
    found = extract("修复发票", "红队卡与 hip", vocabulary=vocabulary).topics
    assert {"billing", "rocm"} <= set(found)
    assert "rocm" in extract("t", "hip", vocabulary=vocabulary).topics
    assert load() is load()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.text(max_size=300))
def test_every_string_stands_in_the_text_and_nothing_raises(title: str, body: str) -> None:
    found = extract(title, body, vocabulary=load())
    text = f"{title}\n{body}"
    names = (*found.audience, *found.audience_negative, *found.pull_requests, *found.paths)
    assert all(name in text for name in (*names, *found.identifiers, *found.people, *found.figures))
    assert (found.verdict is None) == (found.verdict_span is None)
    if found.verdict_span is not None:
        assert found.verdict in set(Verdict)
        assert 0 <= found.verdict_span.start < found.verdict_span.end <= len(body)


@pytest.mark.parametrize(
    "unit",
    ["a", "a-", "a ", "值得", "建议", "111,", "1.", "若你", "对", "但是", "the ", "维护者", "和", "@a", "njhill 与 ", "njhill 的", "if you run ",
     "1~", "github.com/a/b/pull/", "github.com/", "值得精读", "for users ", "，", "skip ", "`", "a.b", "投机", "使用"],
)  # fmt: skip
def test_long_hostile_text_is_understood_in_linear_time(unit: str) -> None:
    text = unit * (10_000 // len(unit))
    load()
    began = time.process_time()
    read(text)
    assert time.process_time() - began < 1.5
