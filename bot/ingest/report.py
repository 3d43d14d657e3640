"""What `parse --json` prints about a file."""

from __future__ import annotations

from typing import Any

from bot.ingest.extract import extract
from bot.model import ParsedDocument, ParsedEntry
from bot.text.vocabulary import Vocabulary


def parse_report(name: str, document: ParsedDocument, vocabulary: Vocabulary) -> dict[str, Any]:
    """Give a file's entries with what was extracted, and its problems, as plain JSON values."""
    return {
        "source": name,
        "edition": document.edition.isoformat() if document.edition else None,
        "entries": [_entry(entry, vocabulary) for entry in document.entries],
        "problems": [{"line": problem.line, "reason": problem.reason} for problem in document.problems],
    }


def _entry(entry: ParsedEntry, vocabulary: Vocabulary) -> dict[str, Any]:
    found = extract(entry.title, entry.body, vocabulary=vocabulary, repo=entry.repo)
    span = found.verdict_span
    return {
        "repo": entry.repo,
        "title": entry.title,
        "body": entry.body,
        "position": entry.position,
        "line": entry.line,
        "verdict": found.verdict.value if found.verdict else None,
        "verdict_span": entry.body[span.start : span.end] if span else None,
        "audience": list(found.audience),
        "audience_negative": list(found.audience_negative),
        "pull_requests": list(found.pull_requests),
        "paths": list(found.paths),
        "identifiers": list(found.identifiers),
        "people": list(found.people),
        "figures": list(found.figures),
        "topics": list(found.topics),
    }
