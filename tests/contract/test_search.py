"""Look-up on both databases: what is found, by whom, in which order."""

from __future__ import annotations

import pytest

from bot.readers.answer import Answers
from bot.storage.engine import Database
from bot.storage.search_store import SearchStore
from bot.text.glossary import shipped
from tests import search_support as support


@pytest.fixture
def seeds(database: Database) -> Answers:
    support.ensure_tables(database)
    support.store(database, support.make_entries(sorted(support.SEEDS.glob("*.txt"))))
    return Answers(SearchStore(database), shipped())


def test_judged_queries_over_the_seeds_find_what_they_must_and_little_else(seeds: Answers) -> None:
    score = support.judge(seeds, support.read_judged(support.DATA / "judged.yaml"))
    assert score.recall >= 0.97, score.faults
    assert score.precision >= 0.97, score.faults


def test_judged_queries_over_six_other_digests_find_what_they_must_and_little_else(database: Database) -> None:
    support.ensure_tables(database)
    support.store(database, support.make_entries(sorted((support.DATA / "search_digests").glob("*.txt"))))
    answers = Answers(SearchStore(database), shipped())
    score = support.judge(answers, support.read_judged(support.DATA / "search" / "judged.yaml"))
    assert score.recall >= 0.97, score.faults
    assert score.precision >= 0.97, score.faults
