from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from bot.model import Snippet, Term
from bot.readers.query import parse
from bot.readers.snippet import Text, matches, snippet
from bot.text.glossary import Glossary

GLOSSARY = Glossary(["显存泄漏, memory leak, 显存 & 泄漏", "修复, fix"])


def terms(query: str) -> list[Term]:
    return list(parse(query, today=date(2026, 11, 30), glossary=GLOSSARY).terms)


def marked(shown: Snippet | None) -> str:
    assert shown is not None
    text = shown.text
    for span in reversed(shown.matches):
        text = f"{text[: span.start]}[{text[span.start : span.end]}]{text[span.end :]}"
    return ("…" if shown.cut_before else "") + text + ("…" if shown.cut_after else "")


def show(body: str, query: str) -> str:
    return marked(snippet(Text(body), terms(query)))


def test_the_sentence_that_matched_is_shown_with_the_match() -> None:
    assert show("值得精读。关注缓存策略。再看调度。", "缓存") == "关注[缓存]策略。"


def test_the_sentence_with_most_words_wins() -> None:
    assert show("先说缓存。这里缓存与调度都有。", "缓存 调度") == "这里[缓存]与[调度]都有。"


def test_what_means_the_same_is_marked_where_it_stands() -> None:
    assert show("A memory leak was found.", "显存泄漏") == "A [memory leak] was found."
    assert show("显存永久泄漏。", "memory leak") == "[显存]永久[泄漏]。"
    assert show("只有泄漏。", "泄漏") == "只有[泄漏]。"


def test_a_form_of_two_words_counts_when_the_title_has_the_other() -> None:
    body, title = Text("producer 侧永久泄漏。"), Text("修显存问题")
    assert marked(snippet(body, terms("memory leak"), beside=(title,))) == "producer 侧永久[泄漏]。"
    assert snippet(body, terms("memory leak")) is None


def test_identifiers_width_case_and_script_do_not_hinder_the_marking() -> None:
    assert show("用 `AsyncMultiModalItemTracker` 复用。", "multimodal") == "用 `[AsyncMultiModalItemTracker]` 复用。"
    assert show("升級 ＲＯＣｍ 編譯。", "rocm 编译") == "升級 [ＲＯＣｍ] [編譯]。"
    assert show("两个 free_blocks。", "free blocks") == "两个 [free]_[blocks]。"
    assert show("泄漏点在此。", "漏") == "泄[漏]点在此。"


def test_a_long_sentence_is_cut_around_the_match_and_not_within_a_word() -> None:
    body = (
        "前面有很长很长很长很长很长很长的一段话 and_some_identifier 然后缓存出现" + "而后面还有很多很多内容" * 9 + "。"
    )
    shown = snippet(Text(body), terms("缓存"))
    assert shown is not None
    assert shown.cut_before
    assert shown.cut_after
    assert len(shown.text) < 60
    assert "缓存" in shown.text
    assert not shown.text.startswith(("identifier", "_"))


def test_nothing_is_shown_where_nothing_matches() -> None:
    assert snippet(Text("别的。"), terms("缓存")) is None
    assert snippet(Text(""), terms("缓存")) is None


@given(
    st.text(alphabet="显存泄漏Ａab_ .。，\n-é\u0301", max_size=200),
    st.sampled_from(["显存", "漏", "a_b", "ab 泄漏", "é"]),
)
def test_every_match_lies_in_its_passage(body: str, query: str) -> None:
    text = Text(body)
    for found in matches(text, terms(query)):
        assert 0 <= found.start < found.end <= len(body)
    shown = snippet(text, terms(query))
    if shown is not None:
        assert shown.text in body
        assert shown.matches
        ends = [0, *(span.end for span in shown.matches)]
        assert all(span.start >= end for span, end in zip(shown.matches, ends, strict=False))
        assert ends[-1] <= len(shown.text)
