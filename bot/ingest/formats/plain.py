"""The plain digest: repository, then title and paragraph in turn, parted by blank lines.

    2026-11-30                        (optional: the date of the edition, in the first line that is not blank)

    vllm-project/vllm

    A title, one line

    A paragraph. It may span
    several lines.

A line of the form `owner/repo` (ASCII, as GitHub allows, without blanks) at the beginning of the file or after a blank
line opens a section; a file may have several. So neither a title nor a first line of a paragraph can consist of such a
word alone: in place of a paragraph it means that one is missing. A line is blank if it holds only whitespace (also
U+3000) and characters without width. The date may be written `2026-11-30`, `2026/11/30` or `2026年11月30日`, with
`date:`, `edition:`, `日期：` or `#` before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from bot.model import ParsedDocument, ParsedEntry, Problem

TITLE_LIMIT = 500
BODY_LIMIT = 100_000

_REPO = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}", re.ASCII)
_DATE = re.compile(
    r"(?:#+\s*|(?:date|edition|日期)\s*[:：]\s*)?"
    r"(?P<year>\d{4})(?:[-/.]|年)(?P<month>\d{1,2})(?:[-/.]|月)(?P<day>\d{1,2})日?",
    re.IGNORECASE | re.ASCII,
)
_WITHOUT_WIDTH = dict.fromkeys(map(ord, "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
_EDGES = "".join(char for char in map(chr, range(0x3001)) if char.isspace()) + "".join(map(chr, _WITHOUT_WIDTH))
_SENTENCE_END = "。！？；.!?;"
_LONGEST_LIKELY_TITLE = 120


@dataclass(frozen=True, slots=True)
class _Block:
    line: int
    lines: tuple[str, ...]


def read(text: str) -> ParsedDocument:
    """Read a whole file; with problems, the entries that could be read are listed all the same."""
    blocks = list(_blocks(text.split("\n")))
    problems: list[Problem] = []
    first_line = blocks[0].line if blocks else 1
    edition = _take_edition(blocks, problems)
    entries: list[ParsedEntry] = []
    if not blocks:
        problems.append(Problem(line=1, reason="the file is empty: it needs a repository, a title and a paragraph"))
    elif _repo_of(blocks[0]) is None:
        reason = "text before any repository: begin the file with a line such as vllm-project/vllm"
        problems.append(Problem(line=blocks[0].line, reason=reason))
    for repo, opened_at, section in _sections(blocks):
        if not section:
            problems.append(Problem(line=opened_at, reason=f"no entry follows {repo}: add a title and a paragraph"))
        for title, body in _pairs(section, problems):
            position = len(entries) + 1
            entries.append(ParsedEntry(repo=repo, title=title[1], body=body, position=position, line=title[0]))
    problems.sort(key=lambda problem: problem.line)
    return ParsedDocument(entries=tuple(entries), problems=tuple(problems), edition=edition, edition_line=first_line)


def is_blank(line: str) -> bool:
    """Whether a reader sees nothing in this line."""
    return not line or line.isspace() or not line.translate(_WITHOUT_WIDTH).strip()


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    start: int | None = None
    for index, line in enumerate((*lines, "")):
        if not is_blank(line):
            start = index if start is None else start
        elif start is not None:
            yield _Block(start + 1, tuple(lines[start:index]))
            start = None


def _take_edition(blocks: list[_Block], problems: list[Problem]) -> date | None:
    """Read the date from the first line and take the line off."""
    match = _DATE.fullmatch(_clean(blocks[0].lines[0])) if blocks else None
    if match is None:
        return None
    first = blocks[0]
    rest = first.lines[1:]
    blocks[0:1] = [_Block(first.line + 1, rest)] if rest else []
    try:
        return date(int(match["year"]), int(match["month"]), int(match["day"]))
    except ValueError:
        problems.append(Problem(line=first.line, reason="no such date: write it as 2026-11-30, or leave it out"))
        return None


def _sections(blocks: Sequence[_Block]) -> Iterator[tuple[str, int, list[_Block]]]:
    """Give repository, line and the blocks that follow. A repository stands in a block of its own, or opens one."""
    repo: str | None = None
    opened_at = 0
    section: list[_Block] = []
    for block in blocks:
        found = _repo_of(block)
        if found is None:
            section.append(block)
            continue
        if repo is not None:
            yield repo, opened_at, section
        repo, opened_at = found, block.line
        section = [_Block(block.line + 1, block.lines[1:])] if len(block.lines) > 1 else []
    if repo is not None:
        yield repo, opened_at, section


def _repo_of(block: _Block) -> str | None:
    line = _clean(block.lines[0])
    return line if _REPO.fullmatch(line) is not None and not line.endswith("/.") else None


def _pairs(section: Sequence[_Block], problems: list[Problem]) -> Iterator[tuple[tuple[int, str], str]]:
    """Give ((line, title), body) of each entry; an odd block is a title without a paragraph."""
    rest = list(section)
    if len(rest) % 2:
        lonely = rest.pop(_lonely(rest))
        # The line tells which; the title's words do not belong into logs and alerts.
        reason = "the title in this line has no paragraph: add one after a blank line, or remove the title"
        problems.append(Problem(line=lonely.line, reason=reason))
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        text = _clean(title.lines[0])
        if len(title.lines) > 1:
            reason = "a title is one line: put a blank line between the title and its paragraph"
            problems.append(Problem(line=title.line + 1, reason=reason))
        if len(text) > TITLE_LIMIT:
            reason = f"a title of {len(text)} characters (at most {TITLE_LIMIT}): is a title or a blank line missing?"
            problems.append(Problem(line=title.line, reason=reason))
        paragraph = _clean("\n".join(line.rstrip() for line in body.lines))
        if len(paragraph) > BODY_LIMIT:
            reason = f"a paragraph of {len(paragraph):,} characters (at most {BODY_LIMIT:,}): split it"
            problems.append(Problem(line=body.line, reason=reason))
        yield (title.line, text), paragraph


def _lonely(section: Sequence[_Block]) -> int:
    """Guess which title lacks its paragraph: one before a block that reads like a title where a paragraph belongs."""
    for index in range(1, len(section), 2):
        if _like_title(section[index]) and index + 1 < len(section) and not _like_title(section[index + 1]):
            return index - 1
    return len(section) - 1


def _like_title(block: _Block) -> bool:
    line = _clean(block.lines[0])
    return len(block.lines) == 1 and len(line) <= _LONGEST_LIKELY_TITLE and line[-1] not in _SENTENCE_END


def _clean(text: str) -> str:
    """Take blanks and characters without width off both ends."""
    return text.strip(_EDGES)
