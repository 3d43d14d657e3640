"""Text becomes a tree whose visible characters are the source's, and only what is code or a link is shown as one."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model import Span
from bot.text.spans import (
    Bold,
    Code,
    Enumeration,
    Inline,
    Link,
    Node,
    Paragraph,
    Strike,
    Text,
    parse,
    parse_inline,
    plain,
)
from bot.text.vocabulary import Vocabulary, load

REPO = "vllm-project/vllm"


@pytest.fixture(scope="module")
def words() -> Vocabulary:
    return load()


def leaves(nodes: Iterable[Node | Inline]) -> Iterator[Text | Code | Link]:
    for node in nodes:
        if isinstance(node, Paragraph | Bold | Strike):
            yield from leaves(node.children)
        elif isinstance(node, Enumeration):
            for item in node.items:
                yield from leaves(item)
        else:
            yield node


def code(text: str) -> list[str]:
    return [leaf.text for leaf in leaves(parse(text, repo=REPO, vocabulary=load())) if not isinstance(leaf, Text)]


def links(text: str, repo: str | None = REPO) -> dict[str, str]:
    found = leaves(parse(text, repo=repo, vocabulary=load()))
    return {leaf.text: leaf.url for leaf in found if isinstance(leaf, Link)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("重构`kv_cache`调度", ["kv_cache"]),
        ("``a ` b``后", ["a ` b"]),
        ("重点关注 schedule() 中 input_budget 与 draft_slots", ["schedule()", "input_budget", "draft_slots"]),
        ("在PackedBufferImporter中补充", ["PackedBufferImporter"]),
        ("配置 --allowed-media-domains。", ["--allowed-media-domains"]),
        ("看 ResolvedToolContext::new 的模式", ["ResolvedToolContext::new"]),
        ("（block_size/enable_chunked_prefill 显式传 None）", ["block_size", "enable_chunked_prefill"]),
        ("_finalize_attention_layer 与 __init__", ["_finalize_attention_layer", "__init__"]),
        ("requestId 和 torch.compile、chat.postMessage", ["requestId", "torch.compile", "chat.postMessage"]),
        (
            "spec_decode.yaml 的 shard，Makefile 与 docker-compose.yml",
            ["spec_decode.yaml", "Makefile", "docker-compose.yml"],
        ),
        ("test_a.py/test_b.py 两个文件", ["test_a.py", "test_b.py"]),
        ("前缀/kv_cache", ["kv_cache"]),
        ("LLMEngine、KVCacheManager 与 RMSNorm", ["LLMEngine", "KVCacheManager", "RMSNorm"]),
        ("Dockerfile.rocm 与 .pre-commit-config.yaml", ["Dockerfile.rocm", ".pre-commit-config.yaml"]),
    ],
)
def test_code_like_words_are_code(text: str, expected: list[str]) -> None:
    assert code(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "RUNNING/WAITING/抢占归还/新请求",
        "模型加载/RL 热更新，首载/重载",
        "ROCm 的 AITER/FlashAttention 限制",
        "FlashAttention、PyTorch、MiniJinja、OpenAI 与 vLLM",
        "llama.cpp、Node.js、x86_64 与 docs.rs",
        "版本 1.2/3，2026/11/30，2026-11-30，2.22",
        "使用 /generate 与 /v1/chat/completions 端点",
        "*x*、_x_、~x~、_斜体_ 与 cron */5 * * * *",
        "Ernie-4.5-VL、spec-decode、fix-forward、CI/CD、I/O",
        "第 #1 位，C# 与 F#，&#39;，颜色 #12ab34",
        "docs.example.ai/en/latest/index.html",
        "@here <!channel> <@U012ABC>",
        "e.g. 与 i.e. 以及 3D、8B、2x",
        "meta-llama/Llama-3.1-8B",
        "OpenMP、PaddleOCR、InternVL3、GPUs、PRs、SQLite、OAuth、macOS、LaTeX",
        "src/attention/*.cu",
        "@property 与 @torch.compile",
    ],
)
def test_other_words_stay_text(text: str) -> None:
    assert parse(text, repo=REPO, vocabulary=load()) == (Paragraph(children=(Text(text=text),)),)


@pytest.mark.parametrize(
    "text", ["一个 ` 反引号", "`` 不成对 `", "```", "` `", "`a\nb`", "**", "** a **", "~~~a~~~", "[x](ftp://a)"]
)
def test_markers_without_a_partner_are_characters(text: str) -> None:
    assert parse_inline(text, vocabulary=load()) == (Text(text=text),)


@pytest.mark.parametrize(
    ("text", "shown", "url"),
    [
        ("而言，#48017 条件", "#48017", "https://github.com/vllm-project/vllm/pull/48017"),
        ("PR#48017", "#48017", "https://github.com/vllm-project/vllm/pull/48017"),
        ("见example/task-queue#12。", "example/task-queue#12", "https://github.com/example/task-queue/pull/12"),
        (
            "文件是 tests/v1/e2e/spec_decode/utils.py 与",
            "tests/v1/e2e/spec_decode/utils.py",
            "https://github.com/vllm-project/vllm/blob/HEAD/tests/v1/e2e/spec_decode/utils.py",
        ),
        (
            "`rust/src/chat/src/request.rs`",
            "rust/src/chat/src/request.rs",
            "https://github.com/vllm-project/vllm/blob/HEAD/rust/src/chat/src/request.rs",
        ),
        ("a/b.py:12-14 行", "a/b.py:12-14", "https://github.com/vllm-project/vllm/blob/HEAD/a/b.py#L12-L14"),
        ("`tests/v1/e2e`", "tests/v1/e2e", "https://github.com/vllm-project/vllm/tree/HEAD/tests/v1/e2e"),
        ("见https://x.example/a_b?c=d。然后", "https://x.example/a_b?c=d", "https://x.example/a_b?c=d"),
        ("（https://x.example/a）", "https://x.example/a", "https://x.example/a"),
        ("(https://x.example/a_(b)).", "https://x.example/a_(b)", "https://x.example/a_(b)"),
        ("https://x.example/路径", "https://x.example/", "https://x.example/"),
        ("https://good.example@evil.example/x", "https://good.example", "https://good.example"),
        ("看[说明](https://x.example/y)吧", "说明", "https://x.example/y"),
        ("[`f()`](https://x.example/y)", "f()", "https://x.example/y"),
    ],
)
def test_links_lead_where_they_say(text: str, shown: str, url: str) -> None:
    assert links(text) == {shown: url}


def test_several_mentions_in_a_row_are_each_a_link() -> None:
    assert list(links("#1201/#1202 与 #1203")) == ["#1201", "#1202", "#1203"]


def test_a_bare_file_name_is_code_without_a_link() -> None:
    assert (code("以及 vllm.py 中"), links("以及 vllm.py 中")) == (["vllm.py"], {})


def test_without_a_repository_nothing_is_linked_to_one() -> None:
    assert links("#48017 与 tests/a.py", repo=None) == {}


def test_emphasis_and_strike_beside_chinese_are_recognised(words: Vocabulary) -> None:
    assert parse_inline("重点：**务必**看~~旧的~~锁", vocabulary=words) == (
        Text(text="重点："),
        Bold(children=(Text(text="务必"),)),
        Text(text="看"),
        Strike(children=(Text(text="旧的"),)),
        Text(text="锁"),
    )


@pytest.mark.parametrize(
    "text", ["x**2 + y**2", "tests/**/*.py 与 src/**/*.rs", "f(**kwargs) 和 g(**kwargs)", "a****b"]
)
def test_stars_of_code_are_no_emphasis(text: str, words: Vocabulary) -> None:
    assert not any(isinstance(node, Bold) for node in parse_inline(text, vocabulary=words))


def test_the_verdict_is_bold_where_it_stands(words: Vocabulary) -> None:
    text = "该 PR 值得 `ROCm` 维护者精读。值得一看"
    start = text.index("值得")
    nodes = parse(text, vocabulary=words, emphasis=Span(start=start, end=text.index("。")))
    assert nodes == (
        Paragraph(
            children=(
                Text(text="该 PR "),
                Bold(children=(Text(text="值得 "), Code(text="ROCm"), Text(text=" 维护者精读"))),
                Text(text="。值得一看"),
            )
        ),
    )


def test_a_verdict_that_is_bold_already_is_bold_once(words: Vocabulary) -> None:
    nodes = parse_inline("**值得精读**。", vocabulary=words, emphasis=Span(start=2, end=6))
    assert nodes == (Bold(children=(Text(text="值得精读"),)), Text(text="。"))


def test_an_in_line_list_becomes_a_list(words: Vocabulary) -> None:
    nodes = parse("关注：1) 契约 a_b；2) 风险；3) 模式。总之可读。", vocabulary=words)
    assert nodes == (
        Paragraph(children=(Text(text="关注："),)),
        Enumeration(
            items=(
                (Text(text="契约 "), Code(text="a_b"), Text(text="；")),
                (Text(text="风险；"),),
                (Text(text="模式。"),),
            )
        ),
        Paragraph(children=(Text(text="总之可读。"),)),
    )
    assert plain(nodes) == "关注：\n1) 契约 a_b；\n2) 风险；\n3) 模式。\n总之可读。"


@pytest.mark.parametrize(
    "text",
    ["只有 1) 一项", "f(1) 与 g(2)", "顺序 2) 在前，1) 在后", "(see 1) and 2) there)", "见图(1)和(2)", "`1) a` `2) b`"],
)
def test_other_numbers_in_brackets_are_no_list(text: str, words: Vocabulary) -> None:
    assert not any(isinstance(node, Enumeration) for node in parse(text, vocabulary=words))


def test_a_title_never_becomes_a_list(words: Vocabulary) -> None:
    assert plain(parse_inline("步骤：1) 甲；2) 乙", vocabulary=words)) == "步骤：1) 甲；2) 乙"


SCRAPS = st.sampled_from(
    ["`", "``", "```", "**", "~~", "*", "_", "~", "[", "](", ")", "(", "https://x.example/a", "#48017", "a/b.py", "kv_cache",
     "中文", "，", "。", "：", "1) ", "2) ", "3）", "①", "②", " ", "\n", "\u3000", "<!channel>", "<@U012>", "&", "f()", "A::b", "--x-y",
     "owner/repo#12", "PackedBufferImporter", "\u200b", "👨‍👩‍👧", "/generate", "http://", "x**2", "\\", "|", "@here", "`a_b`", "[t](https://x.example)"]
)  # fmt: skip
TEXTS = st.one_of(st.lists(SCRAPS, max_size=30).map("".join), st.text(max_size=80))
MARKERS = re.compile(r"[`*~\[\]()\s（）0-9①-⑳]")
TARGETS = re.compile(r"\]\(https?://[^\s()]*(\([^\s()]*\))?[^\s()]*\)")


def is_subsequence(part: str, whole: str) -> bool:
    rest = iter(whole)
    return all(char in rest for char in part)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(0, 40), st.integers(0, 40))
def test_visible_characters_are_those_of_the_source_without_markers(text: str, start: int, length: int) -> None:
    nodes = parse(text, repo=REPO, vocabulary=load(), emphasis=Span(start=start, end=start + length))
    visible = plain(nodes, numbers=False)
    assert is_subsequence(visible.replace("\n", ""), text.replace("\n", ""))
    # Only markers, blanks around list items, and targets of links may be gone.
    assert MARKERS.sub("", TARGETS.sub("", visible)) == MARKERS.sub("", TARGETS.sub("", text))


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_text_without_markers_is_shown_as_it_stands(text: str) -> None:
    literal = re.sub(r"[`\[①-⑳]|\*\*|~~|[0-9]", "", text)
    if "**" not in literal and "~~" not in literal:
        assert plain(parse(literal, repo=REPO, vocabulary=load())) == literal


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_the_tree_is_well_formed(text: str) -> None:
    for nodes in (parse(text, repo=REPO, vocabulary=load()), parse_inline(text, repo=REPO, vocabulary=load())):
        for leaf in leaves(nodes):
            assert leaf.text
            if isinstance(leaf, Link):
                assert urlsplit(leaf.url).scheme in {"http", "https"}
                assert leaf.url.isascii()
                assert not set(leaf.url) & set(' <>|"`\n')


@pytest.mark.parametrize(
    "unit",
    ["`", "`a", "``a` ", "[", "[a", "[a](http://", "**a", "~~a~~ ", "http://", "a/", "1) ", "1)a。", "(1)a；", "#12 ", "a.b", "中`", "a", "_", "/", "@a "],
)  # fmt: skip
def test_long_hostile_text_is_read_in_linear_time(unit: str, words: Vocabulary) -> None:
    text = unit * (20_000 // len(unit))
    began = time.process_time()
    plain(parse(text, repo=REPO, vocabulary=words))
    assert time.process_time() - began < 1.5


@pytest.mark.parametrize("unit", ["http://a", "http://", "http://x?", "https://a:1"])
def test_addresses_without_a_blank_between_them_are_read_in_linear_time(unit: str, words: Vocabulary) -> None:
    text = unit * (100_000 // len(unit))
    began = time.process_time()
    parse(text, repo=REPO, vocabulary=words)
    assert time.process_time() - began < 2.5
