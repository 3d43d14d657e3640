"""The seeds, as annotated by hand, are understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.text.vocabulary import load
from tests.extraction_support import Score, read_annotations, score

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def seeds() -> Score:
    digests = sorted((ROOT / "seeds").glob("*.txt"))
    return score(digests, read_annotations(ROOT / "tests/data/entries.json"), load())


def test_every_verdict_is_found_where_it_stands(seeds: Score) -> None:
    assert (seeds.entries, seeds.right["verdict"]) == (12, 12), seeds.faults


@pytest.mark.parametrize("name", ["pull_requests", "paths", "people", "figures"])
def test_references_are_all_found_and_nothing_else(seeds: Score, name: str) -> None:
    assert (seeds.recall(name), seeds.precision(name)) == (1.0, 1.0), seeds.faults


def test_identifiers_are_all_found_and_hardly_anything_else(seeds: Score) -> None:
    assert seeds.recall("identifiers") == 1.0, seeds.faults
    assert seeds.precision("identifiers") >= 0.95, seeds.faults


@pytest.mark.parametrize("name", ["audience", "audience_negative"])
def test_audiences_are_found(seeds: Score, name: str) -> None:
    assert seeds.recall(name) >= 0.9, seeds.faults
    assert seeds.precision(name) >= 0.9, seeds.faults
