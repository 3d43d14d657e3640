"""A message on a terminal, and a link that opens it in Slack's Block Kit Builder. No token, no network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from bot.model import Json, Message
from bot.render.spoken import spoken

BUILDER = "https://app.slack.com/block-kit-builder"
LONGEST_LINK = 32_000
"""Characters of an address that a terminal and a browser still take. No server sees what follows the `#`."""
_STYLES = {"bold": "bold", "code": "cyan", "strike": "strike", "italic": "italic"}


def builder_link(blocks: Sequence[Json]) -> tuple[str | None, int]:
    """The address at which Slack's own builder shows the blocks, and how many of them: as many as a link can hold.

    None where it cannot hold even the first.
    """
    for count in range(len(blocks), 0, -1):
        payload = json.dumps({"blocks": list(blocks[:count])}, ensure_ascii=False, separators=(",", ":"))
        link = f"{BUILDER}#{quote(payload, safe='')}"
        if len(link) <= LONGEST_LINK:
            return link, count
    return None, 0


def as_json(message: Message) -> str:
    """The message as it is sent, for reading."""
    return json.dumps({"text": message.text, "blocks": list(message.blocks)}, ensure_ascii=False, indent=2)


def terminal(message: Message, *, replies: Iterable[Message] = ()) -> RenderableType:
    """The message for a rich console: a frame, and its thread indented under it. Nothing in it is markup."""
    frame = Panel(_blocks(message.blocks), border_style="dim", padding=(0, 1))
    thread = [Padding(Panel(_blocks(reply.blocks), border_style="dim"), (0, 0, 0, 4)) for reply in replies]
    return Group(frame, *thread)


def _blocks(blocks: Iterable[Json]) -> Group:
    return Group(*(part for block in blocks for part in _block(block)))


def _block(block: Json) -> Iterable[RenderableType]:
    kind = block["type"]
    if kind == "rich_text":
        for element in block["elements"]:
            yield from _lines(element)
    elif kind == "actions":
        yield Text("  ").join(_control(element) for element in block["elements"])
    else:
        style = {"header": "bold underline", "context": "dim", "image": "dim"}.get(kind, "")
        words = spoken([block])
        if words:
            yield Text(_visible(words), style=style)


def _lines(element: Json) -> Iterable[Text]:
    if element["type"] != "rich_text_list":
        yield _inline(element["elements"])
        return
    first = element.get("offset", 0) + 1
    for number, item in enumerate(element["elements"], start=first):
        mark = f"{number:>3}. " if element["style"] == "ordered" else "  • "
        line = Text(mark)
        line.append_text(_inline(item["elements"]))
        yield line


def _inline(elements: Iterable[Mapping[str, Any]]) -> Text:
    line = Text()
    for element in elements:
        kind = element["type"]
        if kind in ("user", "channel"):
            line.append(("@" if kind == "user" else "#") + element[f"{kind}_id"], style="blue")
            continue
        styles = [_STYLES[name] for name, on in element.get("style", {}).items() if on and name in _STYLES]
        if kind == "link":
            styles += ["blue", f"link {element['url']}"]
        line.append(
            _visible(str(element.get("text") or element.get("url") or element.get("name", ""))),
            " ".join(styles),
        )
    return line


def _visible(text: str) -> str:
    """Control characters could drive the terminal: they are shown as pictures of themselves."""
    return "".join(chr(0x2400 + ord(one)) if one < " " and one not in "\n\t" else one for one in text)


def _control(element: Json) -> Text:
    label = element.get("text") or element.get("placeholder") or {"text": "…"}
    mark = "[ {} ▾ ]" if element["type"].endswith("select") else "[ {} ]"
    return Text(mark.format(label["text"]), style="bold")
