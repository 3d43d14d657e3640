"""Blocks: the shape of each, the surface each may stand on, and what must be unique."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.workspace.blocks import elements
from bot.workspace.blocks.objects import SLACK_FILE, URL, plain, text
from bot.workspace.blocks.rich_text import RICH_TEXT
from bot.workspace.blocks.schema import (
    Check,
    Field,
    Findings,
    Problem,
    Surface,
    anything,
    boolean,
    by_type,
    either,
    integer,
    items,
    may,
    need,
    one_of,
    shape,
    string,
)

MOST_BLOCKS: Mapping[Surface, int] = {"message": 50, "modal": 100, "home": 100}
MARKDOWN_TOTAL = 12_000
# Not documented. One report saw `msg_blocks_too_long` near 13,200 characters in all (slackapi/bolt-js#2509);
# we count only what is text, the most lenient reading of it.
TEXT_TOTAL = 13_200

_BLOCK: Mapping[str, Field] = {"type": need(string()), "block_id": may(string(255, 0))}


def _section_has_words(found: Findings, at: str, value: Any) -> None:
    if value.get("text") is None and value.get("fields") is None:
        found.add(at, "must define either `text` or `fields`")


def _file_input_only_in_modal(found: Findings, at: str, value: Any) -> None:
    if value["element"]["type"] == "file_input" and found.surface != "modal":
        found.add(f"{at}/element/type", "unsupported type: file_input")


_LAYOUT: Mapping[str, Check] = {
    "rich_text": RICH_TEXT,
    "section": shape(
        {
            **_BLOCK,
            "text": may(text()),
            "fields": may(items(text(2000), least=1, most=10)),
            "accessory": may(by_type(elements.IN_SECTION)),
            "expand": may(boolean),
        },
        also=_section_has_words,
    ),
    "header": shape({**_BLOCK, "text": need(plain(150)), "level": may(integer(1, 4))}),
    "context": shape(
        {
            **_BLOCK,
            "elements": need(
                items(by_type({"image": elements.IMAGE, "plain_text": text(), "mrkdwn": text()}), least=1, most=10)
            ),
        }
    ),
    "actions": shape({**_BLOCK, "elements": need(items(by_type(elements.IN_ACTIONS), least=1, most=25))}),
    "context_actions": shape(
        {**_BLOCK, "elements": need(items(by_type(elements.IN_CONTEXT_ACTIONS), least=1, most=5))}
    ),
    "divider": shape(_BLOCK),
    "image": shape(
        {
            **_BLOCK,
            "alt_text": need(string(2000)),
            "title": may(plain(2000)),
            "image_url": may(URL),
            "slack_file": may(SLACK_FILE),
        },
        also=either("image_url", "slack_file"),
    ),
    "input": shape(
        {
            **_BLOCK,
            "label": need(plain(2000)),
            "element": need(by_type(elements.IN_INPUT)),
            "hint": may(plain(2000)),
            "optional": may(boolean),
            "dispatch_action": may(boolean),
        },
        also=_file_input_only_in_modal,
    ),
    "markdown": shape({**_BLOCK, "text": need(string(MARKDOWN_TOTAL))}),
    "file": shape({**_BLOCK, "external_id": need(string()), "source": need(one_of("remote"))}),
    "video": shape(
        {
            **_BLOCK,
            "alt_text": need(string()),
            "title": need(plain(199)),
            "thumbnail_url": need(URL),
            "video_url": need(URL),
            "author_name": may(string(49)),
            "description": may(plain()),
            "provider_icon_url": may(URL),
            "provider_name": may(string()),
            "title_url": may(URL),
        }
    ),
    "table": shape(
        {
            **_BLOCK,
            "rows": need(
                items(
                    items(by_type({"rich_text": RICH_TEXT, "raw_text": anything, "raw_number": anything}), most=20),
                    least=1,
                    most=100,
                )
            ),
            "column_settings": may(anything),
        }
    ),
    # Newer kinds that this project does not use: known by name, their inside is not judged.
    **dict.fromkeys(
        ("card", "carousel", "container", "plan", "task_card", "alert", "data_table", "data_visualization"), anything
    ),
}
_EVERYWHERE = frozenset({"rich_text", "section", "header", "context", "actions", "divider", "image", "input", "video"})
_ALLOWED: Mapping[Surface, frozenset[str]] = {
    "message": _EVERYWHERE
    | {"markdown", "file", "table", "context_actions", "card", "carousel", "container"}
    | {"plan", "task_card", "data_table", "data_visualization"},
    "modal": _EVERYWHERE | {"card", "alert"},
    "home": _EVERYWHERE | {"card", "carousel", "container", "table", "data_table", "data_visualization"},
}


def check_blocks(blocks: list[Any], surface: Surface) -> tuple[Problem, ...]:
    """Every fault in the blocks of a message or a view; pointers start at the array (`/0/text/text`)."""
    found = Findings(surface=surface)
    known = {name: _LAYOUT[name] for name in _ALLOWED[surface]}
    items(by_type(known), most=MOST_BLOCKS[surface])(found, "", blocks)
    if not found.problems:
        _check_unique(found, blocks)
        _check_totals(found, blocks)
    return tuple(found.problems)


def _check_unique(found: Findings, blocks: list[Any]) -> None:
    """`block_id` is unique in the message or view, `action_id` in its block (Block Kit reference)."""
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        name = block.get("block_id")
        if name and name in seen:
            found.add(f"/{index}/block_id", f'`block_id` "{name}" already exists')
        seen.add(name)
        actions: set[str] = set()
        for path, element in interactive(block):
            action = element.get("action_id")
            if action and action in actions:
                found.add(f"/{index}/{path}/action_id", f'`action_id` "{action}" already exists')
            actions.add(action or "")


def _check_totals(found: Findings, blocks: list[Any]) -> None:
    if sum(block["type"] == "table" for block in blocks) > 1:
        found.add("", "only one table block allowed")
    if sum(len(block["text"]) for block in blocks if block["type"] == "markdown") > MARKDOWN_TOTAL:
        found.add("", f"markdown blocks must be less than {MARKDOWN_TOTAL + 1} characters in all")


def interactive(block: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The elements of a block that a person can work, each with its path inside the block."""
    if block["type"] in {"actions", "context_actions"}:
        for index, element in enumerate(block["elements"]):
            yield f"elements/{index}", element
    elif block["type"] == "input":
        yield "element", block["element"]
    elif block["type"] == "section" and block.get("accessory", {}).get("type") in elements.INTERACTIVE:
        yield "accessory", block["accessory"]


def text_length(value: Any) -> int:
    """Characters of all `text` strings inside."""
    if isinstance(value, list):
        return sum(map(text_length, value))
    if isinstance(value, dict):
        own = value.get("text")
        return (len(own) if isinstance(own, str) else 0) + sum(
            text_length(each) for each in value.values() if isinstance(each, list | dict)
        )
    return 0
