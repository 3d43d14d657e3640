"""What the README says is what the code does."""

from __future__ import annotations

from bot.cli import _VERBS
from bot.delivery.states import TRANSITIONS
from bot.slack.manifest import SCOPES
from tests.readme.tables import README, filled


def test_the_tables_are_those_of_the_code() -> None:
    text = README.read_text(encoding="utf-8")
    assert filled(text) == text, "run: python -m tests.readme.tables --update"


def test_the_states_are_those_of_the_code_with_the_same_letters() -> None:
    table = README.read_text(encoding="utf-8").partition("<!-- states:begin -->")[2].partition("<!-- states:end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().split("\n")[2:]]
    said = {
        (letter, before, after)
        for letter, befores, afters, _when in rows[1:]
        for before in befores.split(", ")
        for after in afters.split(", ")
    }
    meant = {(event.value[0], before.value, after.value) for (before, event), after in TRANSITIONS.items()}
    # A ts that comes late is proof in whatever state it finds the delivery: the README tells the usual case only.
    late = {row for row in meant if row[0] == "c" and row[1] != "sending"}
    assert said - {("k", "failed", "sent")} == meant - late


def test_every_verb_is_in_the_table_of_commands() -> None:
    text = README.read_text(encoding="utf-8")
    for verb in _VERBS:
        assert f"`digest-bot {verb}" in text, verb


def test_every_scope_has_a_reason_and_there_are_at_most_eight() -> None:
    assert 0 < len(SCOPES) <= 8
    assert all(SCOPES.values())
