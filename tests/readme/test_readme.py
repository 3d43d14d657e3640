"""What the README says is what the code does."""

from __future__ import annotations

from tests.readme.tables import README, filled


def test_the_tables_are_those_of_the_code() -> None:
    text = README.read_text(encoding="utf-8")
    assert filled(text) == text, "run: python -m tests.readme.tables --update"
