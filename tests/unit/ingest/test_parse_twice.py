"""One title with two texts in one file is a mistake that is named; the same text twice is not."""

from __future__ import annotations

from bot.ingest.parse import parse

HEAD = "vllm-project/vllm\n\n"


def test_a_title_with_two_texts_is_named_with_both_lines() -> None:
    document = parse(f"{HEAD}标题甲\n\n正文一\n\n标题甲\n\n正文二\n".encode(), name="a.txt")
    assert [problem.line for problem in document.problems] == [7]
    assert "line 3" in document.problems[0].reason


def test_the_same_entry_twice_is_two_appearances_of_one() -> None:
    document = parse(f"{HEAD}标题甲\n\n正文一\n\n标题甲\n\n正文一\n".encode(), name="a.txt")
    assert document.problems == ()
    assert len(document.entries) == 2


def test_the_same_title_in_two_repositories_is_two_entries() -> None:
    text = f"{HEAD}标题甲\n\n正文一\n\nowner/other\n\n标题甲\n\n正文二\n"
    assert parse(text.encode(), name="a.txt").problems == ()
