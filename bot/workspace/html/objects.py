"""Composition objects: text, options and confirmation dialogs."""

from __future__ import annotations

import json
from collections.abc import Mapping

from bot.workspace.html import emoji
from bot.workspace.html.markup import EMPTY, Html, Json, text
from bot.workspace.html.mrkdwn import render_mrkdwn, unescape
from bot.workspace.html.resolver import Resolver


def plain(obj: object) -> str:
    """Return the characters of a text object (or of a bare string) without any markup."""
    if isinstance(obj, str):
        return obj
    if not isinstance(obj, Mapping):
        return ""
    value = str(obj.get("text", ""))
    if obj.get("type") == "mrkdwn":
        return unescape(value)
    return value if obj.get("emoji") is False else emoji.replace_shortcodes(value)


def render_text(obj: object, resolver: Resolver) -> Html:
    """Return a text object: `mrkdwn` is parsed, `plain_text` is literal."""
    if not isinstance(obj, Mapping):
        return EMPTY
    if obj.get("type") == "mrkdwn":
        return render_mrkdwn(str(obj.get("text", "")), resolver)
    return text(plain(obj))


def confirm_data(element: Json) -> str | None:
    """Return the confirmation dialog of an element for the page to show, as JSON, or None."""
    confirm = element.get("confirm")
    if not isinstance(confirm, Mapping):
        return None
    shown = {key: plain(confirm.get(key)) for key in ("title", "text", "confirm", "deny")}
    return json.dumps(shown | {"style": str(confirm.get("style", ""))}, ensure_ascii=False)


def options_of(element: Json) -> list[Json]:
    """Return the options of a menu, those of its groups in order."""
    groups = element.get("option_groups")
    if groups:
        return [option for group in groups for option in group.get("options") or []]
    return list(element.get("options") or [])
