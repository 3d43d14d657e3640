from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import Entry, Extraction, Phrase, Verdict
from bot.text.indexed import indexed
from bot.text.normalise import fold
from bot.text.tokens import (
    GAP,
    MAX_REPEATS,
    MAX_TOKENS,
    joined,
    metadata,
    phrase,
    pieces,
    scan,
    spelt,
    stream,
    tokenise,
)
from tests.search_support import TODAY

MIXED = st.text(alphabet="aB显存漏の_-. /#1", max_size=40)


def texts(text: str) -> list[str]:
    return [token.text for token in tokenise(fold(text))]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("显存泄漏", ["显存", "存泄", "泄漏", "漏"]),
        ("漏", ["漏"]),
        ("首 token 延迟", ["首", "token", "延迟", "迟"]),
        ("free_blocks", ["free", "block"]),
        ("PackedBufferImporter", ["packed", "buffer", "importer"]),
        ("vLLM ROCm MoE", ["vllm", "rocm", "moe"]),
        ("HTTPServer KVCache", ["http", "server", "kv", "cache"]),
        ("tests/v1/utils.py", ["test", "v1", "util", "py"]),
        ("Ernie-4.5-VL", ["ernie", "4", "5", "vl"]),
        ("C++ C# c", ["cpp", "csharp", "c"]),
        ("#48017", ["48017"]),
        ("caches classes dependencies status", ["cache", "class", "dependency", "status"]),
        ("修复ROCm构建", ["修复", "复", "rocm", "构建", "建"]),
        ("🎉 \x00 !!", []),
    ],
)
def test_text_is_split_where_a_reader_would_split_it(text: str, tokens: list[str]) -> None:
    assert texts(text) == tokens


def test_identifiers_are_also_found_in_one_word() -> None:
    forms = [form for piece in pieces("multi_modal_data FlashAttention plain 2026-11") for form in joined(piece)]
    assert forms == ["multimodaldata", "multimodal", "modaldata", "flashattention"]


def test_a_phrase_means_exactly_the_substring() -> None:
    assert phrase("显存泄漏") == Phrase(tokens=("显存", "存泄", "泄漏"))
    assert phrase("漏") == Phrase(tokens=("漏",), prefix=True)
    assert phrase("首 token 延") == Phrase(tokens=("首", "token", "延"), prefix=True)
    assert phrase("?!") is None


@pytest.mark.parametrize(
    "text", ["显存泄漏", "漏", "首 token 延", "首延迟 token", "修复 rocm 构建", "free block", "修复 复现 a"]
)
def test_a_phrase_is_shown_as_it_would_be_written(text: str) -> None:
    found = phrase(text)
    assert found is not None
    assert spelt(found) == text


@given(MIXED)
def test_the_quick_way_gives_the_same_tokens(text: str) -> None:
    folded = fold(text)
    assert scan(folded).tokens == [token.text for token in tokenise(folded)]
    assert scan(folded).joined == [form for piece in pieces(folded) for form in joined(piece)]


@given(MIXED, MIXED, MIXED)
def test_a_chinese_literal_is_found_wherever_it_stands(before: str, literal: str, after: str) -> None:
    literal = "".join(character for character in literal if "\u4e00" <= character <= "\u9fff")
    wanted = phrase(literal)
    if wanted is None:
        return
    stored = texts(before + literal + after)
    size = len(wanted.tokens)
    runs = [tuple(stored[start : start + size]) for start in range(len(stored))]
    if wanted.prefix:
        assert any(run[0].startswith(wanted.tokens[0]) for run in runs)
    else:
        assert wanted.tokens in runs


def test_facts_become_tokens_that_no_text_can_imitate() -> None:
    assert metadata("repo", "vLLM-Project/vLLM") == "repo:vllm-project/vllm"
    assert metadata("pr", "owner/repo#12") == "pr:owner/repo#12"
    assert metadata("topic", "a b'\"\\:*()") == "topic:ab"
    assert metadata("repo", "'\"") is None
    assert all(":" not in token for token in texts("repo:vllm pr:48017"))


def test_the_limits_of_postgresql_hold_for_every_database() -> None:
    tokens = stream((["again"] * 1000, [f"t{number}" for number in range(20_000)]))
    assert len(tokens) == MAX_TOKENS
    assert tokens.count("again") == MAX_REPEATS
    assert tokens[500] == GAP


def test_everything_about_an_entry_can_be_asked_for() -> None:
    entry = Entry(
        id=1,
        repo="vllm-project/vllm",
        title="修复 free_blocks",
        body="见 rust/src/chat.rs",
        revision=1,
        edition=TODAY,
        url="https://github.com/vllm-project/vllm/pull/7",
        extraction=Extraction(
            verdict=Verdict.MUST_READ,
            audience=("CI 维护者",),
            pull_requests=("#48017", "other/repo#3"),
            paths=("rust/src/chat.rs",),
            topics=("rocm",),
        ),
    )
    found = indexed(entry)
    assert set(found.tokens) >= {
        *("is:entry", "repo:vllm-project/vllm", "repo:vllm", "repo:vllm-project", "verdict:must_read", "topic:rocm"),
        *("pr:48017", "pr:vllm-project/vllm#48017", "pr:3", "pr:other/repo#3", "pr:7", "pr:vllm-project/vllm#7"),
        *("path:rust", "path:rust/src", "path:rust/src/chat.rs", "path:src/chat.rs", "path:chat.rs", "path:chat"),
        *("audience:ci", "audience:维护", "audience:护者", "freeblock", "vllm", "project"),
    }
    assert found.title == ("修复", "复", "free", "block", GAP, "freeblock")
    assert found.words >= {"free", "blocks", "freeblocks", "rust", "chat"}


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_token_can_break_either_database(title: str, body: str) -> None:
    entry = Entry(id=1, repo="a/b", title=title, body=body, revision=1, edition=TODAY)
    for token in indexed(entry).tokens:
        assert token
        assert not set(token) & set(" \t\n\x00'\"\\()*&|!<>")
        token.encode("utf-8")
