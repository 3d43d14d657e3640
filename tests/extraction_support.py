"""Compare what was extracted with what was annotated by hand."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.ingest.extract import extract
from bot.ingest.parse import parse
from bot.text.vocabulary import Vocabulary

EXACT = ("pull_requests", "paths", "people", "figures")
SPANS = ("audience", "audience_negative")


@dataclass
class Score:
    """Counts by field: found and wanted, found and not wanted, wanted and not found; and each miss in words."""

    right: Counter[str] = field(default_factory=Counter)
    false: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    entries: int = 0

    def recall(self, name: str) -> float:
        return self.right[name] / ((self.right[name] + self.missed[name]) or 1) if self.wanted(name) else 1.0

    def precision(self, name: str) -> float:
        found = self.right[name] + self.false[name]
        return self.right[name] / found if found else 1.0

    def wanted(self, name: str) -> int:
        return self.right[name] + self.missed[name]


def score(digests: list[Path], annotations: list[dict[str, Any]], vocabulary: Vocabulary) -> Score:
    result = Score()
    bodies = {e.title: e.body for path in digests for e in parse(path.read_bytes(), name=path.name).entries}
    for wanted in annotations:
        result.entries += 1
        body = bodies[wanted["title"]]
        found = extract(wanted["title"], body, vocabulary=vocabulary)
        span = found.verdict_span
        phrase = body[span.start : span.end] if span else None
        verdict = found.verdict.value if found.verdict else None
        _tell(result, "verdict", wanted["title"], {(verdict, phrase)}, {(wanted["verdict"], wanted["verdict_span"])})
        for name in EXACT:
            _tell(result, name, wanted["title"], set(getattr(found, name)), set(wanted[name]))
        optional = set(wanted["identifiers_optional"])
        _tell(result, "identifiers", wanted["title"], set(found.identifiers) - optional, set(wanted["identifiers"]))
        for name in SPANS:
            got = {next((w for w in wanted[name] if w in g), g) for g in getattr(found, name)}
            _tell(result, name, wanted["title"], got, set(wanted[name]))
    return result


def _tell(result: Score, name: str, title: str, found: set[Any], wanted: set[Any]) -> None:
    result.right[name] += len(found & wanted)
    result.false[name] += len(found - wanted)
    result.missed[name] += len(wanted - found)
    result.faults += [f"{title[:20]}: {name}: false {item!r}" for item in sorted(found - wanted, key=str)]
    result.faults += [f"{title[:20]}: {name}: missed {item!r}" for item in sorted(wanted - found, key=str)]


def read_annotations(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text("utf-8")))
