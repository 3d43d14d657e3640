from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import EntryQuery, Order, Phrase, QueryHint, Term
from bot.readers import qualifiers
from bot.readers.query import MAX_TERMS, as_plain, asks, parse, relaxed
from bot.readers.widen import MAX_ALTERNATIVES
from bot.text.glossary import Glossary

TODAY = date(2026, 11, 30)  # a Monday
GLOSSARY = Glossary(
    ["显存, gpu memory", "memory leak, 显存 & 泄漏", "offload, 卸载", "KV cache, 键值缓存", "性能, perf"]
)
REPOS = ("vllm-project/vllm", "example/trainer")


def read(text: str) -> EntryQuery:
    return parse(text, known_repos=REPOS, today=TODAY, glossary=GLOSSARY, topics={"投机解码": "spec-decode"})


def spoken(term: Term) -> list[str]:
    """Each alternative as `a b & c*`."""
    return [" & ".join(" ".join(each.tokens) + "*" * each.prefix for each in form) for form in term.alternatives]


def words(query: EntryQuery) -> list[list[str]]:
    return [spoken(term) for term in query.terms]


def fact(text: str) -> str:
    (term,) = read(text).terms
    return spoken(term)[0]


def test_words_must_all_be_there_and_each_means_what_the_glossary_says() -> None:
    assert words(read("显存 调度")) == [["显存", "gpu memory"], ["调度"]]


def test_words_that_mean_something_together_are_read_together() -> None:
    (term,) = read("gpu memory").terms
    assert spoken(term) == ["gpu memory", "gpu & memory", "显存"]
    assert "memory leak" in spoken(read("显存　泄漏").terms[0])
    assert (
        spoken(read("kvcache").terms[0])[:2] == ["kvcache", "kv cache"] or "键值 值缓 缓存" in words(read("KVCache"))[0]
    )


def test_a_quoted_phrase_is_taken_literally() -> None:
    assert words(read('"显存"')) == [["显存"]]
    assert words(read("“KV cache”")) == [["kv cache"]]
    assert words(read("「显存」 x1")) == [["显存"], ["x1"]]
    assert words(read('"never closed')) == [["never closed"]]


def test_a_minus_excludes_and_a_double_minus_does_not() -> None:
    query = read('缓存 -显存 -"a b" -repo:sglang --allowed-domains')
    assert [spoken(term) for term in query.excluded] == [["显存"], ["a b"], ["repo:sglang"]]
    assert words(query)[-1] == ["allowed domain", "alloweddomain"]
    assert words(read("—allowed-domains")) == [["allowed domain", "alloweddomain"]]


def test_an_identifier_is_found_in_one_word_as_well() -> None:
    assert words(read("free_blocks")) == [["free block", "freeblock"]]
    assert words(read("tests/v1/spec_decode.py")) == [["test v1 spec decode py"]]


def test_a_word_is_found_in_its_other_forms_and_through_them_in_the_glossary() -> None:
    (term,) = read("offloaded").terms
    assert {"offloaded", "offload", "offloading", "卸载"} <= set(spoken(term))


def test_two_scripts_without_a_space_are_two_words() -> None:
    assert words(read("ROCm构建")) == [["rocm", "rocmed", "rocming"], ["构建"]]


def test_fillers_are_left_out_unless_there_is_nothing_else() -> None:
    assert [term.word for term in read("leak of the memory").terms] == ["leak", "memory"]
    assert [term.word for term in read("the").terms] == ["the"]


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("repo:vllm", "repo:vllm"),
        ("REPO：vLLM-Project/vLLM", "repo:vllm-project/vllm"),
        ("repo: trainer", "repo:trainer"),
        ("仓库:trainer", "repo:trainer"),
        ("repo:https://github.com/vllm-project/vllm", "repo:vllm-project/vllm"),
        ("topic:rocm", "topic:rocm"),
        ("topic:投机解码", "topic:spec-decode"),
        ("verdict:精读", "verdict:must_read"),
        ("verdict:must-read", "verdict:must_read"),
        ("verdict:MUST_READ", "verdict:must_read"),
        ("verdict:略讀", "verdict:skim"),
        ("audience:维护者", "audience:维护 audience:护者"),
        ("path:rust/src/chat/", "path:rust/src/chat"),
        ("pr:48017", "pr:48017"),
        ("pr:#48017", "pr:48017"),
        ("#48017", "pr:48017"),
        ("＃４８０１７", "pr:48017"),
        ("vllm-project/vllm#12", "pr:vllm-project/vllm#12"),
        ("pr:https://github.com/a/b/pull/12", "pr:a/b#12"),
        ("pr:www.GitHub.com/a/b/issues/12/files#r1", "pr:a/b#12"),
    ],
)
def test_facts_are_asked_for_by_name(text: str, token: str) -> None:
    assert fact(text) == token


def test_a_comma_in_a_fact_means_or() -> None:
    assert words(read("verdict:精读,建议")) == [["verdict:must_read", "verdict:recommended"]]


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("7d", date(2026, 11, 23)),
        ("2w", date(2026, 11, 16)),
        ("3天", date(2026, 11, 27)),
        ("2026-11-01", date(2026, 11, 1)),
        ("2026/11/1", date(2026, 11, 1)),
        ("2026年11月1日", date(2026, 11, 1)),
        ("2026-10", date(2026, 10, 1)),
        ("today", TODAY),
        ("yesterday", date(2026, 11, 29)),
        ("昨天", date(2026, 11, 29)),
        ("上周", date(2026, 11, 23)),
        ("last-week", date(2026, 11, 23)),
        ('"last week"', date(2026, 11, 23)),
        ("本周", TODAY),
        ("上個月", date(2026, 10, 1)),
        ("去年", date(2025, 1, 1)),
        ("9999y", date(1, 1, 1)),
    ],
)
def test_days_are_understood_as_people_write_them(value: str, day: date) -> None:
    assert read(f"since:{value}").since == day
    assert read(f"before:{value} x").before == day


def test_order_and_single_days() -> None:
    assert read("缓存").order is Order.BEST
    assert read("缓存 sort:new").order is Order.NEW
    assert read("排序：最新 缓存").order is Order.NEW
    assert read(" Yesterday ").edition == date(2026, 11, 29)
    assert read("2026-11-30").edition == TODAY
    assert read("2026-11-31").edition is None


def test_a_first_word_that_names_a_repository_narrows_to_it() -> None:
    query = read("vLLM rocm")
    assert query.narrowed is not None
    assert spoken(query.narrowed) == ["repo:vllm"]
    assert [term.word for term in query.terms] == ["rocm"]
    plain = as_plain(query)
    assert plain.narrowed is None
    assert [term.word for term in plain.terms] == ["vLLM", "rocm"]
    assert read("rocm vllm").narrowed is None
    assert read("vllm-project/vllm").narrowed is not None


@pytest.mark.parametrize(
    ("text", "hint", "value"),
    [
        ("", QueryHint.EMPTY, None),
        (" \u200b　\x00 ", QueryHint.EMPTY, None),
        ("🎉 ?!", QueryHint.EMPTY, None),
        ("sort:new", QueryHint.EMPTY, None),
        ("colour:red", QueryHint.UNKNOWN_QUALIFIER, "colour"),
        ("repo:", QueryHint.NO_VALUE, "repo:"),
        ("缓存 Repo：", QueryHint.NO_VALUE, "Repo:"),
        ("缓存，仓库:", QueryHint.NO_VALUE, "仓库:"),
        ('repo:"" 缓存', QueryHint.NO_VALUE, "repo:"),
        ("-repo: ", QueryHint.NO_VALUE, "repo:"),
        ("repo: since:7d", QueryHint.NO_VALUE, "repo:"),
        ("repo: -topic:rocm", QueryHint.NO_VALUE, "repo:"),
        ("verdict:blue 缓存", QueryHint.UNKNOWN_VALUE, "verdict:blue"),
        ("since:whenever 缓存", QueryHint.UNKNOWN_VALUE, "since:whenever"),
        ("a1 " * 5000, QueryHint.TOO_LONG, None),
    ],
)
def test_what_is_not_understood_becomes_a_hint(text: str, hint: QueryHint, value: str | None) -> None:
    query = read(text)
    assert (query.hint, query.hint_value) == (hint, value)


@pytest.mark.parametrize("name", qualifiers.NAMES)
def test_every_qualifier_without_a_value_is_told_and_asks_for_nothing(name: str) -> None:
    query = read(f"{name}:")
    assert (query.hint, query.hint_value) == (QueryHint.NO_VALUE, f"{name}:")
    assert not asks(query)


def test_a_qualifier_without_a_value_leaves_the_others_as_they_are() -> None:
    query = read("repo: since:7d 缓存 -verdict:")
    assert query.since == date(2026, 11, 23)
    assert words(query) == [["缓存"]]
    assert not query.excluded


def test_an_unknown_qualifier_is_taken_as_words() -> None:
    assert words(read("colour:red")) == [["colour red"]]
    assert words(read("std::vector")) == [["std vector"]]
    assert read("std::vector").hint is None
    assert read("https://example.org/x").hint is None


def test_a_query_that_only_excludes_or_only_dates_is_a_query() -> None:
    assert asks(read("-显存"))
    assert asks(read("since:7d"))
    assert not asks(read("sort:new"))


def test_long_words_are_taken_apart_when_asked() -> None:
    loose = relaxed(read("显存性能下降"), GLOSSARY)
    assert loose is not None
    assert [term.word for term in loose.terms] == ["显存", "性能", "下降"]
    assert "gpu memory" in spoken(loose.terms[0])
    parts = relaxed(read("blocks_free"), GLOSSARY)
    assert parts is not None
    assert [term.word for term in parts.terms] == ["blocks", "free"]
    assert relaxed(read("显存"), GLOSSARY) is None
    assert relaxed(read('"显存性能"'), GLOSSARY) is None
    assert relaxed(read("repo:a/b"), GLOSSARY) is None


@given(st.text(max_size=400) | st.text(alphabet='a显漏 "-:#,repo:since\u3000“”&;\x00🎉\u200b', max_size=60))
def test_any_text_is_understood_within_bounds(text: str) -> None:
    query = read(text)
    assert len(query.terms) <= MAX_TERMS
    assert len(query.excluded) <= MAX_TERMS
    for term in (*query.terms, *query.excluded):
        assert 1 <= len(term.alternatives) <= MAX_ALTERNATIVES
        for form in term.alternatives:
            assert form
            for phrase in form:
                assert isinstance(phrase, Phrase)
                assert phrase.tokens
                assert all(token and not set(token) & set(" \"'\\\x00()") for token in phrase.tokens)
    loose = relaxed(query, GLOSSARY)
    assert loose is None or 1 <= len(loose.terms) <= MAX_TERMS
