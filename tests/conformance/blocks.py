"""Blocks that Slack refuses, and some that it takes."""

from __future__ import annotations

from typing import Any

from tests.conformance.probe import Probe, demand


def _text(kind: str, words: str) -> dict[str, Any]:
    return {"type": kind, "text": words}


def _section(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": _text("mrkdwn", words), **more}


def _button(label: str = "Go", **more: Any) -> dict[str, Any]:
    return {"type": "button", "text": _text("plain_text", label), "action_id": "go", **more}


def _select(count: int, *, label: str = "one", value: str = "v") -> dict[str, Any]:
    options = [{"text": _text("plain_text", label), "value": f"{value}{number}"} for number in range(count)]
    return {"type": "static_select", "action_id": "pick", "options": options}


def _actions(*elements: Any) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


def _rich(*elements: Any) -> dict[str, Any]:
    return {"type": "rich_text", "elements": list(elements)}


def _part(*elements: Any, kind: str = "rich_text_section") -> dict[str, Any]:
    return {"type": kind, "elements": list(elements)}


REFUSED: dict[str, list[Any]] = {
    "51 blocks": [{"type": "divider"}] * 51,
    "an unknown block": [{"type": "paragraph", "text": "x"}],
    "a block without type": [{"text": _text("mrkdwn", "x")}],
    "a section of 3,001 characters": [_section("x" * 3001)],
    "an empty section": [_section("")],
    "a section without text and fields": [{"type": "section"}],
    "11 fields": [{"type": "section", "fields": [_text("mrkdwn", "x")] * 11}],
    "a field of 2,001 characters": [{"type": "section", "fields": [_text("mrkdwn", "x" * 2001)]}],
    "a header of 151 characters": [{"type": "header", "text": _text("plain_text", "x" * 151)}],
    "a header in mrkdwn": [{"type": "header", "text": _text("mrkdwn", "x")}],
    "11 elements in a context": [{"type": "context", "elements": [_text("mrkdwn", "x")] * 11}],
    "26 elements in actions": [_actions(*(_button(action_id=f"a{number}") for number in range(26)))],
    "actions without elements": [_actions()],
    "an unknown element": [_actions({"type": "lever", "action_id": "x"})],
    "the same block_id twice": [_section("x", block_id="same"), _section("y", block_id="same")],
    "the same action_id twice in a block": [_actions(_button(), _button())],
    "a button of 76 characters": [_actions(_button("x" * 76))],
    "a button value of 2,001 characters": [_actions(_button(value="x" * 2001))],
    "a button without words": [_actions(_button(""))],
    "101 options": [_actions(_select(101))],
    "an option of 76 characters": [_actions(_select(1, label="x" * 76))],
    "an option value of 151 characters": [_actions(_select(1, value="x" * 151))],
    "a select without options": [_actions({"type": "static_select", "action_id": "x"})],
    "a text object of unknown type": [{"type": "section", "text": _text("markdown", "x")}],
    "a field that does not exist": [_section("x", colour="red")],
    "a rich_text without elements": [_rich()],
    "a rich_text section without elements": [_rich(_part())],
    "a rich_text text of no characters": [_rich(_part({"type": "text", "text": ""}))],
    "an unknown rich_text element": [_rich(_part({"type": "bold", "text": "x"}))],
    "a rich_text list of unknown style": [
        _rich({"type": "rich_text_list", "style": "roman", "elements": [_part({"type": "text", "text": "x"})]})
    ],
    "a markdown block of 12,001 characters": [{"type": "markdown", "text": "x" * 12_001}],
    "an image without alt text": [{"type": "image", "image_url": "https://example.com/a.png"}],
}

ACCEPTED: dict[str, list[Any]] = {
    "50 blocks": [{"type": "divider"}] * 50,
    "a section of 3,000 characters": [_section("x" * 3000, expand=True)],
    "a header of 150 characters": [{"type": "header", "text": _text("plain_text", "x" * 150)}],
    "25 buttons": [_actions(*(_button(action_id=f"a{number}") for number in range(25)))],
    "100 options": [_actions(_select(100))],
    "rich text with everything": [
        _rich(
            _part(
                {"type": "text", "text": "bold", "style": {"bold": True, "code": True}},
                {"type": "link", "url": "https://example.com", "text": "link"},
                {"type": "emoji", "name": "wave"},
            ),
            {
                "type": "rich_text_list",
                "style": "ordered",
                "indent": 1,
                "elements": [_part({"type": "text", "text": "中文"})],
            },
            _part({"type": "text", "text": "code"}, kind="rich_text_preformatted"),
            _part({"type": "text", "text": "quote"}, kind="rich_text_quote"),
        )
    ],
}


def bad_blocks_are_invalid_blocks_with_a_pointer(probe: Probe) -> None:
    for what, blocks in REFUSED.items():
        reply = probe.call("chat.postMessage", channel=probe.channel, text="x", blocks=blocks)
        demand(reply.error is not None, f"{what}: was accepted")
        demand(reply.error in {"invalid_blocks", "msg_blocks_too_many"}, f"{what}: {reply.error}")
        messages = reply.body.get("response_metadata", {}).get("messages", [])
        demand(any("json-pointer:/blocks" in each for each in messages), f"{what}: no pointer in {messages}")


def good_blocks_are_taken(probe: Probe) -> None:
    for what, blocks in ACCEPTED.items():
        reply = probe.call("chat.postMessage", channel=probe.channel, text="x", blocks=blocks)
        demand(reply.error is None, f"{what}: {reply.error} {reply.body}")


def blocks_that_are_no_list_are_invalid_blocks_format(probe: Probe) -> None:
    arguments = {"channel": probe.channel, "text": "x"}
    probe.refused("chat.postMessage", "invalid_blocks_format", blocks="{not json", **arguments)
    probe.refused(
        "chat.postMessage", "invalid_blocks_format", "invalid_blocks", blocks={"type": "divider"}, **arguments
    )


def updates_check_blocks_too(probe: Probe) -> None:
    ts = probe.post("x")
    probe.refused("chat.update", "invalid_blocks", channel=probe.channel, ts=ts, blocks=[_section("x" * 3001)])


def blocks_validate_needs_no_token(probe: Probe) -> None:
    demand(probe.call("blocks.validate", token=None, blocks=[{"type": "divider"}]).body.get("ok"), "ok")
    body = probe.refused("blocks.validate", "invalid_blocks", token=None, blocks=[_section("")])
    demand(body.get("errors", [{}])[0].get("pointer"), "errors have pointers")
    probe.refused("blocks.validate", "invalid_arguments", token=None)


CHECKS = (
    bad_blocks_are_invalid_blocks_with_a_pointer,
    good_blocks_are_taken,
    blocks_that_are_no_list_are_invalid_blocks_format,
    updates_check_blocks_too,
    blocks_validate_needs_no_token,
)
