"""The checker of blocks takes what Slack takes and names what Slack refuses, with a pointer to the place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.workspace.blocks.complete import complete_blocks
from bot.workspace.blocks.layout import check_blocks
from bot.workspace.blocks.views import check_view
from tests.conformance.blocks import ACCEPTED, REFUSED

MODAL = {"type": "modal", "title": {"type": "plain_text", "text": "T"}, "blocks": [{"type": "divider"}]}
INPUT = {
    "type": "input",
    "label": {"type": "plain_text", "text": "L"},
    "element": {"type": "plain_text_input", "action_id": "a"},
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_slack_refuses_is_refused(what):
    assert check_blocks(REFUSED[what], "message")


@pytest.mark.parametrize("what", ACCEPTED)
def test_what_slack_takes_is_taken(what):
    assert check_blocks(ACCEPTED[what], "message") == ()


@pytest.mark.parametrize(
    ("blocks", "pointer", "message"),
    [
        ([{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}], "/0/text/text", "less than 3001"),
        ([{"type": "header", "text": {"type": "plain_text", "text": ""}}], "/0/text/text", "more than 0 characters"),
        ([{"type": "divider"}, {"type": "nonsense"}], "/1/type", "unsupported type: nonsense"),
        ([{"type": "section"}], "/0", "must define either `text` or `fields`"),
        ([{"type": "header"}], "/0", "missing required field: text"),
        ([{"type": "divider", "text": "x"}], "/0", "invalid additional property: text"),
    ],
)
def test_a_problem_names_its_place(blocks, pointer, message):
    (problem,) = check_blocks(blocks, "message")
    assert problem.pointer == pointer
    assert message in problem.message
    assert problem.line("/blocks").startswith("[ERROR] ")
    assert problem.line("/blocks").endswith(f"[json-pointer:/blocks{pointer}]")


@pytest.mark.parametrize(
    ("view", "part"),
    [
        ({**MODAL, "title": {"type": "plain_text", "text": "x" * 25}}, "/title/text"),
        ({**MODAL, "private_metadata": "x" * 3001}, "/private_metadata"),
        ({**MODAL, "callback_id": "x" * 256}, "/callback_id"),
        ({**MODAL, "blocks": [{"type": "divider"}] * 101}, "/blocks"),
        ({**MODAL, "blocks": [{"type": "markdown", "text": "x"}]}, "/blocks/0/type"),
        ({**MODAL, "blocks": [INPUT]}, ""),
        ({"type": "home", "title": {"type": "plain_text", "text": "T"}, "blocks": []}, ""),
        ({"type": "panel", "blocks": []}, "/type"),
        ({"type": "modal", "blocks": []}, ""),
    ],
)
def test_a_bad_view_is_refused_at_its_place(view, part):
    assert part in {problem.pointer for problem in check_view(view)}


def test_an_input_stands_in_messages_and_a_file_input_only_in_modals():
    assert check_blocks([INPUT], "message") == ()
    file_input = {**INPUT, "element": {"type": "file_input", "action_id": "a"}}
    assert check_blocks([file_input], "modal") == ()
    assert check_blocks([file_input], "message")


def test_the_same_action_may_stand_in_two_blocks_but_not_twice_in_one():
    button = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
    row = {"type": "actions", "elements": [button]}
    assert check_blocks([row, row], "message") == ()
    (problem,) = check_blocks([{"type": "actions", "elements": [button, button]}], "message")
    assert problem.pointer == "/0/elements/1/action_id"


def test_an_initial_option_is_one_of_the_options():
    options = [{"text": {"type": "plain_text", "text": "one"}, "value": "1"}]
    select = {"type": "static_select", "action_id": "a", "options": options}
    assert check_blocks([{"type": "actions", "elements": [{**select, "initial_option": options[0]}]}], "message") == ()
    other = {"text": {"type": "plain_text", "text": "two"}, "value": "2"}
    assert check_blocks([{"type": "actions", "elements": [{**select, "initial_option": other}]}], "message")


def test_missing_ids_are_made_and_given_ones_stay():
    button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}}
    done = complete_blocks([{"type": "actions", "elements": [button]}, {"type": "divider", "block_id": "mine"}])
    assert done[0]["block_id"]
    assert done[0]["elements"][0]["action_id"]
    assert done[0]["elements"][0]["text"]["emoji"] is True
    assert done[1]["block_id"] == "mine"
    assert "action_id" not in button


def test_no_json_value_breaks_the_checker():
    for value in (None, 1, "x", [], {}, [[]], {"type": []}, {"type": "section", "text": []}, {"type": "actions"}):
        for surface in ("message", "modal", "home"):
            check_blocks([value], surface)
        check_view(value)
        check_view({"type": "modal", "blocks": [value]})
    assert json.dumps(None) == "null"


def test_the_checker_knows_nothing_of_the_bot():
    root = Path(__file__).parents[3] / "bot" / "workspace"
    for module in root.rglob("*.py"):
        for line in module.read_text().splitlines():
            if line.startswith(("from bot", "import bot")):
                assert line.split()[1].startswith("bot.workspace"), f"{module}: {line}"
