"""A digest file is read whole, or refused with the line and what to do."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.ingest.names import edition_from_name
from bot.ingest.parse import parse
from bot.ingest.report import parse_report
from bot.model import ParsedDocument
from bot.text.vocabulary import load

SEEDS = sorted((Path(__file__).parents[3] / "seeds").glob("*.txt"))
GOOD = "vllm-project/vllm\n\n标题一\n\n正文一。\n\n标题二\n\n正文二，\n第二行。\n"


def read(text: str | bytes) -> ParsedDocument:
    return parse(text if isinstance(text, bytes) else text.encode(), name="a.txt")


def reasons(text: str | bytes) -> list[tuple[int, str]]:
    return [(problem.line, problem.reason) for problem in read(text).problems]


def test_each_seed_has_eight_entries_and_no_problem() -> None:
    for path in SEEDS:
        document = parse(path.read_bytes(), name=path.name)
        assert (len(document.entries), document.problems, document.edition) == (8, (), None)
        assert [entry.position for entry in document.entries] == list(range(1, 9))
    assert (document.entries[0].repo, document.entries[0].line) == ("vllm-project/vllm", 3)


def test_a_paragraph_may_span_lines_and_the_last_line_needs_no_feed() -> None:
    document = read(GOOD.rstrip("\n"))
    assert [(e.title, e.body, e.line) for e in document.entries] == [
        ("标题一", "正文一。", 3),
        ("标题二", "正文二，\n第二行。", 7),
    ]


def test_byte_order_mark_and_carriage_returns_make_no_difference() -> None:
    assert read(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()) == read(GOOD)


def test_lines_end_at_line_feeds_only() -> None:
    document = read("a/b\n\n标题\u2028仍是标题\n\n正文\u0085仍是正文\n")
    assert [(e.title, e.body) for e in document.entries] == [("标题\u2028仍是标题", "正文\u0085仍是正文")]


def test_lines_without_anything_to_see_are_blank() -> None:
    assert len(read("a/b\n\u3000\n标题\n\u200b \n正文\n\u00a0\n标题二\n\ufeff\n\u3000\u3000正文二\n").entries) == 2


def test_a_file_may_have_several_repositories() -> None:
    document = read("a/b\n\nt1\n\nb1\n\nc/d\n\nt2\n\nb2\n")
    assert [(e.repo, e.title, e.position) for e in document.entries] == [("a/b", "t1", 1), ("c/d", "t2", 2)]


def test_a_repository_line_is_ascii() -> None:
    assert [e.title for e in read("a/b\n\n项目/仓库\n\n正文\n").entries] == ["项目/仓库"]


@pytest.mark.parametrize(
    "first", ["2026-11-30", "date: 2026-11-30", "# 2026-11-30", "日期：2026年11月30日", "Edition: 2026/11/30"]
)
def test_a_date_in_the_first_line_is_the_edition(first: str) -> None:
    document = read(f"{first}\n{GOOD}")
    assert (document.edition, document.problems, len(document.entries)) == (date(2026, 11, 30), (), 2)


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("", 1, "empty"),
        (" \n\u3000\n", 1, "empty"),
        ("标题\n\n正文\n", 1, "before any repository"),
        ("a/b\n", 1, "no entry"),
        ("a/b\n\nc/d\n\nt\n\nb\n", 1, "no entry"),
        ("a/b\n\n标题一\n\n正文一。\n\n标题二\n", 7, "no paragraph"),
        ("a/b\n\n标题一\n\n标题二\n\n正文二。\n", 3, "no paragraph"),
        ("a/b\n\n标题一\n\nc/d\n\nt\n\nb\n", 3, "no paragraph"),
        ("a/b\n\n标题一\n正文一。\n\n标题二\n", 4, "one line"),
        (f"a/b\n\n{'长' * 501}\n\n正文\n", 3, "501 characters"),
        ("a/b\n\n标题\n\n正文\x00。\n", 5, "U+0000"),
        ("a/b\n\n标\x1b题\n\n正文。\n", 3, "U+001B"),
        ("a/b\r\rt\r\rb", 1, "carriage return"),
        ("2026-13-40\n\na/b\n\nt\n\nb\n", 1, "no such date"),
    ],
)
def test_a_file_that_does_not_fit_names_the_line_and_what_to_do(text: str, line: int, word: str) -> None:
    assert any(at == line and word in reason for at, reason in reasons(text)), reasons(text)


def test_other_encodings_are_refused_by_name_with_the_line() -> None:
    (line, reason), *rest = reasons("a/b\n\n修复显存泄漏\n\n优化正文。\n".encode("gbk"))
    assert (line, rest) == (3, [])
    assert "not UTF-8" in reason
    assert "GBK" in reason
    assert "UTF-16" in reasons(GOOD.encode("utf-16"))[0][1]


def test_a_huge_file_is_refused_unread() -> None:
    assert "split it" in reasons(b"a" * (5 * 1024 * 1024 + 1))[0][1]


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_no_bytes_make_it_raise(data: bytes) -> None:
    document = read(data)
    assert document.entries or document.problems
    assert all(problem.line >= 1 for problem in document.problems)
    assert all(entry.title and entry.body for entry in document.entries)


@pytest.mark.parametrize(
    ("name", "edition"),
    [
        ("2026-11-30.txt", date(2026, 11, 30)),
        ("20261130-vllm.txt", date(2026, 11, 30)),
        ("vllm_2026_11_30.txt", date(2026, 11, 30)),
        ("digest.2026.11.30.txt", date(2026, 11, 30)),
        ("000_382cd8b32110c293.txt", None),
        ("001_4f63b06047f4c719.txt", None),
        ("2026-02-30.txt", None),
        ("2026-1130.txt", None),
        ("a20261130.txt", None),
        ("120261130.txt", None),
        ("2026-11-30/notes.txt", None),
        ("", None),
    ],
)
def test_a_file_name_may_state_the_edition(name: str, edition: date | None) -> None:
    assert edition_from_name(name) == edition


def test_the_report_lists_entries_with_what_they_say_and_problems() -> None:
    text = "a/b\n\n修复 f_g\n\n值得精读。见 #120、https://github.com/a/b/pull/8/files。\n\n孤立标题\n"
    report = parse_report("a.txt", read(text), load())
    (entry,) = report["entries"]
    assert report["source"] == "a.txt"
    assert (entry["repo"], entry["title"], entry["position"], entry["line"]) == ("a/b", "修复 f_g", 1, 3)
    assert (entry["verdict"], entry["pull_requests"], entry["identifiers"]) == ("must_read", ["#120", "#8"], ["f_g"])
    assert [problem["line"] for problem in report["problems"]] == [7]


def test_a_reason_quotes_nothing_of_the_digest() -> None:
    (problem,) = read("a/b\n\n机密的标题\n\n正文一。\n\n机密的标题二\n").problems
    assert problem.line == 7
    assert "机密" not in problem.reason
