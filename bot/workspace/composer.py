"""What a person types, as Slack's client sends it: escaped text, mentions in angle brackets, one rich_text block."""

from __future__ import annotations

import re
from typing import Any

from bot.workspace.blocks.complete import complete_blocks
from bot.workspace.store import Store

_TOKEN = re.compile(r"@(?P<user>[\w.-]+)|(?<![\w#])#(?P<channel>[\w-]+)|(?P<url>https?://[^\s<>]+)|(?P<code>`[^`\n]+`)")


def compose(store: Store, typed: str) -> dict[str, Any]:
    """`text` and `blocks` of a typed message. Names that nobody has stay plain text."""
    text: list[str] = []
    parts: list[dict[str, Any]] = []
    at = 0
    for match in _TOKEN.finditer(typed):
        token = _token(store, match)
        if token is None:
            continue
        _plain(typed[at : match.start()], text, parts)
        text.append(token[0])
        parts.append(token[1])
        at = match.end()
    _plain(typed[at:], text, parts)
    block = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": parts}]}
    return {"text": "".join(text), "blocks": complete_blocks([block])}


def escape(text: str) -> str:
    """The three characters that Slack escapes, and no others."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain(piece: str, text: list[str], parts: list[dict[str, Any]]) -> None:
    if piece:
        text.append(escape(piece))
        parts.append({"type": "text", "text": piece})


def _token(store: Store, match: re.Match[str]) -> tuple[str, dict[str, Any]] | None:
    if match["user"]:
        user = store.user_named(match["user"])
        return (f"<@{user.id}>", {"type": "user", "user_id": user.id}) if user else None
    if match["channel"]:
        channel = store.channel_named(match["channel"])
        if channel is None:
            return None
        return f"<#{channel.id}|{channel.name}>", {"type": "channel", "channel_id": channel.id}
    if match["url"]:
        return f"<{escape(match['url'])}>", {"type": "link", "url": match["url"]}
    return escape(match["code"]), {"type": "text", "text": match["code"].strip("`"), "style": {"code": True}}
