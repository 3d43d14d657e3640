"""Long texts are cut at paragraph, sentence, word, grapheme; nothing is dropped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.render.limits import escape, is_blank, measure
from bot.render.split import best_pause, graphemes, shorten, split_text

FAMILY = "👨‍👩‍👧"


@given(st.text(), st.integers(min_value=8, max_value=80))
def test_parts_joined_are_the_text_and_each_fits(text, most):
    parts = split_text(text, most)
    assert "".join(parts) == text
    assert all(measure(part) <= most for part in parts)


@given(st.text(alphabet="a字。. \n👨‍👩‍👧🇨🇳é́️", max_size=60), st.integers(min_value=1, max_value=30))
def test_no_part_is_empty_even_where_nothing_fits(text, most):
    parts = split_text(text, most)
    assert "".join(parts) == text
    assert all(parts)


@pytest.mark.parametrize(
    ("text", "most", "first"),
    [
        ("一段话。\n\n另一段话。还有。", 12, "一段话。\n\n"),
        ("第一句话说完了。第二句话还没有说完呢", 12, "第一句话说完了。"),
        ("他说：“好了。”然后就走到很远的地方", 10, "他说：“好了。”"),
        ("One sentence. Another one follows", 20, "One sentence. "),
        ("one two three four", 12, "one two "),
        ("版本 1.2.3 修复了很多的问题", 9, "版本 1.2.3 "),
        ("中" * 10, 4, "中" * 4),
        (FAMILY * 3, 17, FAMILY * 2),
        ("🇨🇳🇩🇪🇫🇷", 9, "🇨🇳🇩🇪"),
        ("e\u0301" * 4, 3, "e\u0301"),
        ("👍🏽👍🏽", 5, "👍🏽"),
        ("1️⃣2️⃣", 4, "1️⃣"),
        ("\u1100\u1161\u11a8" * 2, 4, "\u1100\u1161\u11a8"),
    ],
)
def test_the_cut_is_at_the_largest_unit(text, most, first):
    assert split_text(text, most)[0] == first


def test_an_endless_grapheme_is_cut_where_it_must_be():
    zalgo = "a" + "\u0301" * 100
    assert "".join(split_text(zalgo, 10)) == zalgo


def test_graphemes_are_what_a_reader_counts():
    text = f"a{FAMILY}🇨🇳🇩🇪é字1️⃣\r\n"
    assert list(graphemes(text)) == ["a", FAMILY, "🇨🇳", "🇩🇪", "é", "字", "1️⃣", "\r\n"]


def test_a_preview_ends_at_a_pause():
    text = "关注调度器、显存管理和回归测试"
    assert text[: best_pause(text, 8)] == "关注调度器、"
    assert best_pause("ab", 5) == 2
    assert best_pause("ab", 0) == 0


@given(st.text(), st.integers(min_value=1, max_value=75))
def test_a_shortened_line_fits(text, most):
    line = shorten(text, most)
    assert measure(line) <= most
    assert "\n" not in line


def test_the_measure_is_the_strictest_reading():
    assert measure("a&<>") == 1 + 5 + 4 + 4
    assert measure("中") == 1
    assert measure("👍") == 2
    assert measure("\ud800") == 1


@given(st.text())
def test_the_measure_is_that_of_the_escaped_text(text):
    assert measure(text) == len(escape(text).encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize(
    "text", ["", " \t\n", "\u3000", "\u200b\u200d\ufeff", "\u2060 \u00a0", "\u00ad", "\x00", "\u3164"]
)
def test_what_shows_nothing_is_blank(text):
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " 中", ".", "👍", "\u200b-"])
def test_what_shows_something_is_not_blank(text):
    assert not is_blank(text)
