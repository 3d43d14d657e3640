"""A message read aloud: the one function that makes `text` from the blocks, so that the two cannot drift."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.model import Json


def spoken(blocks: Iterable[Json], *, names: Mapping[str, str] | None = None) -> str:
    """The words of the blocks, in order, line by line; controls are left out. Not escaped.

    `names` says how a user's or a channel's id is read.
    """
    known = names or {}
    return "\n".join(line for block in blocks for line in _lines(block, known) if line)


def _lines(block: Json, names: Mapping[str, str]) -> Iterable[str]:
    kind = block.get("type")
    if kind == "rich_text":
        for element in block["elements"]:
            yield from _rich_lines(element, names)
    elif kind == "header":
        yield block["text"]["text"]
    elif kind == "section":
        for holder in (block.get("text"), *block.get("fields", ())):
            if holder:
                yield holder["text"]
    elif kind == "context":
        yield " ".join(element.get("text") or element.get("alt_text", "") for element in block["elements"])
    elif kind == "image":
        yield block.get("alt_text", "")
    elif kind == "input":
        yield block["label"]["text"]


def _rich_lines(element: Json, names: Mapping[str, str]) -> Iterable[str]:
    if element["type"] != "rich_text_list":
        yield _inline(element["elements"], names)
        return
    first = element.get("offset", 0) + 1
    indent = "  " * element.get("indent", 0)
    for number, item in enumerate(element["elements"], start=first):
        mark = f"{number}. " if element["style"] == "ordered" else "- "
        yield indent + mark + _inline(item["elements"], names)


def _inline(elements: Iterable[Mapping[str, Any]], names: Mapping[str, str]) -> str:
    return "".join([_said(element, names) for element in elements])


def _said(element: Mapping[str, Any], names: Mapping[str, str]) -> str:
    kind = element["type"]
    if kind == "emoji":
        return f":{element['name']}:"
    if kind in ("user", "channel"):
        named = str(element[f"{kind}_id"])
        return names.get(named, named)
    return str(element.get("text") or element.get("url", ""))
