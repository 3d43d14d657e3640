"""Judges of a message that were written apart from its author."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import slackblocks
from slack_sdk.models.blocks import Block
from slack_sdk.models.blocks.block_elements import BlockElement
from slack_sdk.models.views import View

from bot.model import Message
from bot.render import checks
from bot.workspace.blocks import layout as workspace_layout
from bot.workspace.blocks import views as workspace_views

QUIET = {"text", "link", "emoji"}

# slack_sdk walks all its classes for every element that it reads. The walk has one result: remembered, the fuzzer is
# three times as fast, and the judgement is slack_sdk's as before.
_WALK = BlockElement._get_sub_block_elements.__func__
BlockElement._get_sub_block_elements = classmethod(cache(lambda kind: tuple(_WALK(kind))))


def judge(message: Message, *, mentions: frozenset[str] = frozenset()) -> None:
    """Every judge of messages, in turn."""
    checks.check_message(message, mentions=mentions)
    blocks = json.loads(json.dumps(message.blocks))
    json.dumps(message.blocks, ensure_ascii=False).encode()
    message.text.encode()
    assert "<" not in message.text
    assert ">" not in message.text
    assert len(message.text) <= 3_900
    assert workspace_layout.check_blocks(blocks, "message") == ()
    for block in blocks:
        round_trip(block)
        slackblocks_agrees(block)
        nobody_is_called(block, mentions)


def judge_view(view: dict[str, Any], *, mentions: frozenset[str] = frozenset()) -> None:
    checks.check_view(view, mentions=mentions)
    parsed = View(**view)  # reads the blocks, too
    assert parsed.to_dict() == view
    assert workspace_views.check_view(json.loads(json.dumps(view))) == ()
    for block in view["blocks"]:
        slackblocks_agrees(block)
        nobody_is_called(block, mentions)


def round_trip(block: dict[str, Any]) -> None:
    """slack_sdk reads the block, finds it valid, and writes it unchanged."""
    parsed = Block.parse(block)
    assert parsed is not None
    assert parsed.to_dict() == block


_SECOND_OPINION = {
    "header": slackblocks.HeaderBlock,
    "context": slackblocks.ContextBlock,
}


def slackblocks_agrees(block: dict[str, Any]) -> None:
    """slackblocks builds the kinds it can read; its constructors refuse what breaks a limit."""
    reader = _SECOND_OPINION.get(block["type"])
    if reader is not None:
        assert json.loads(repr(reader.from_dict(block)))["type"] == block["type"]


def nobody_is_called(block: dict[str, Any], mentions: frozenset[str]) -> None:
    """Nothing in it notifies anybody, and nothing is markup."""
    for value in walk(block):
        assert value.get("type") not in {"mrkdwn", "markdown", "broadcast", "usergroup", "team"}
        if value.get("type") in {"user", "channel"}:
            assert value.get("user_id", value.get("channel_id")) in mentions
        if value.get("type") == "plain_text":
            assert value["emoji"] is False


def walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from walk(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from walk(inner)


def links(message: Message) -> list[tuple[str, str]]:
    return [(one["text"], one["url"]) for one in walk(message.blocks) if one.get("type") == "link"]


def shown(messages: Iterable[Message]) -> str:
    """The characters of an entry's message and its further parts, without blanks and without the parts' heads."""
    found = []
    for number, message in enumerate(messages):
        texts = [one["text"] for one in walk(message.blocks) if one.get("type") in ("text", "link")]
        found += texts[1:] if number else texts
    return squeezed("".join(found))


def squeezed(text: str) -> str:
    return "".join(text.split())
