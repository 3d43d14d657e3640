"""The bounded part of the chaos suite: a few kills and faults on both databases, and proof that the oracle can fail.

The long form is `python -m tests.chaos`.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.chaos.harness import Plan, run

SEED = 20261130


@pytest.fixture
def plan(database_url: str) -> Plan:
    return Plan(seed=SEED, database_url=database_url, replicas=2, kills=6, faults=8, seconds=90)


@pytest.fixture
def sqlite_plan(migrated_sqlite: Path, tmp_path: Path) -> Plan:
    path = tmp_path / "chaos.db"
    shutil.copyfile(migrated_sqlite, path)
    return Plan(seed=SEED, database_url=f"sqlite:///{path}", replicas=1, kills=2, faults=10, seconds=60)


def test_kills_and_faults_lose_nothing_double_nothing_and_keep_the_order(plan: Plan, tmp_path: Path) -> None:
    report = run(plan, tmp_path / "chaos")
    assert report.kills >= plan.kills, report.line()
    assert report.faults >= plan.faults, report.line()
    assert report.is_clean, report.line()


@pytest.mark.parametrize("mutation", ["default_retries", "blind_retry", "sent_first"])
def test_the_oracle_notices_a_bot_that_breaks_the_promise(mutation: str, sqlite_plan: Plan, tmp_path: Path) -> None:
    # Lost answers are what each of them mishandles.
    plan = replace(sqlite_plan, mutation=mutation, kinds=("drop_after", "reset_after"), settle_seconds=6)
    report = run(plan, tmp_path / "chaos")
    total = [one for one in report.verdicts.values() if not one.is_clean]
    assert total, f"{mutation} went unnoticed: {report.line()}"
    if mutation == "sent_first":
        assert sum(one.lost for one in total) > 0, report.line()
    else:
        assert sum(one.doubled for one in total) > 0, report.line()
