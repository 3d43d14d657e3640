"""Bytes to a parsed document: decode, then let the format read it."""

from __future__ import annotations

import codecs
from dataclasses import replace
from datetime import date, timedelta

from bot.ingest.formats import format_of
from bot.ingest.identify import identity
from bot.model import ParsedDocument, ParsedEntry, Problem

SIZE_LIMIT = 5 * 1024 * 1024
_MOST_REPORTED = 5
_AHEAD = timedelta(days=7)
_CONTROLS = frozenset(map(chr, (*range(0x09), 0x0B, 0x0C, *range(0x0D, 0x20), 0x7F)))

_UTF16_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def latest_edition(today: date) -> date:
    """Give the last day that a digest which arrives today may have: a later one is a mistake in writing."""
    return today + _AHEAD


def parse(data: bytes, *, name: str, today: date | None = None) -> ParsedDocument:
    """Read a digest file. Whatever is wrong with it is in `problems`, each with a 1-based line and advice.

    UTF-8 with or without a byte order mark; CR LF and LF are the same. A date far ahead of `today` is wrong; without
    `today`, none is. Never raises for bad content.
    """
    if len(data) > SIZE_LIMIT:
        return _refused(1, f"the file has {len(data):,} bytes, more than {SIZE_LIMIT:,}: split it")
    if data.startswith(_UTF16_MARKS):
        return _refused(1, "the file is UTF-16 or UTF-32, not UTF-8: save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        bad = error.start + (len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)
        line = data.count(b"\n", 0, bad) + 1
        return _refused(line, f"not UTF-8 (byte 0x{data[bad]:02X}{_guess(data)}): save the file as UTF-8")
    text = text.replace("\r\n", "\n")
    document = format_of(name).read(text)
    problems = (*_far_ahead(document, today), *_control_characters(text), *_two_texts(document))
    if not problems:
        return document
    merged = sorted((*problems, *document.problems), key=lambda problem: problem.line)
    return replace(document, problems=tuple(merged))


def _far_ahead(document: ParsedDocument, today: date | None) -> list[Problem]:
    """Taken as it is, it would be the newest edition for years, and no later wording would count."""
    if today is None or document.edition is None or document.edition <= latest_edition(today):
        return []
    reason = f"the date is over {_AHEAD.days} days ahead of {today}: correct it, or leave it out"
    return [Problem(line=document.edition_line, reason=reason)]


def _two_texts(document: ParsedDocument) -> list[Problem]:
    """A title that stands twice with different texts: one of them would be lost without a word."""
    first: dict[str, ParsedEntry] = {}
    found = []
    for entry in document.entries:
        known = first.setdefault(identity(entry), entry)
        if known.body != entry.body:
            reason = f"this title stands already on line {known.line} with another text: keep one, or tell them apart"
            found.append(Problem(line=entry.line, reason=reason))
    return found[:_MOST_REPORTED]


def _refused(line: int, reason: str) -> ParsedDocument:
    return ParsedDocument(entries=(), problems=(Problem(line=line, reason=reason),))


def _guess(data: bytes) -> str:
    try:
        data.decode("gb18030")
    except UnicodeDecodeError:
        return ""
    return ", it looks like GBK or GB18030"


def _control_characters(text: str) -> list[Problem]:
    """Text with NUL and its kind came out of something else than an editor."""
    if _CONTROLS.isdisjoint(text):
        return []
    found: list[Problem] = []
    for number, line in enumerate(text.split("\n"), start=1):
        bad = next((char for char in line if char in _CONTROLS), None)
        if bad is not None:
            what = "a carriage return alone" if bad == "\r" else f"control character U+{ord(bad):04X}"
            found.append(Problem(line=number, reason=f"{what} in the text: remove it, and save with line feeds"))
            if len(found) == _MOST_REPORTED:
                break
    return found
