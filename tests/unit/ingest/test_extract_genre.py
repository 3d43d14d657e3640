"""Digests of the same genre about other projects are understood as well as `tests/data/genre/README.md` says."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.text.vocabulary import load
from tests.extraction_support import Score, read_annotations, score

GENRE = Path(__file__).parents[2] / "data/genre"


@pytest.fixture(scope="module")
def genre() -> Score:
    annotations = [row for path in sorted(GENRE.glob("*.json")) for row in read_annotations(path)]
    return score(sorted(GENRE.glob("*.txt")), annotations, load())


def test_thirty_entries_are_scored(genre: Score) -> None:
    assert genre.entries == 30


@pytest.mark.parametrize("name", ["verdict", "pull_requests", "paths", "people", "figures", "identifiers", "audience"])
def test_what_a_reader_marked_is_found_and_nothing_else(genre: Score, name: str) -> None:
    assert (genre.recall(name), genre.precision(name)) == (1.0, 1.0), genre.faults


def test_all_but_one_of_those_who_may_skip_are_found(genre: Score) -> None:
    assert genre.right["audience_negative"] == 8, genre.faults
    assert genre.precision("audience_negative") == 1.0, genre.faults
