"""Block Kit to HTML, written from Slack's documents only: the judge of a message is not its author.

The live page and `preview` share it. Whatever a message holds, the result is well-formed, carries no
markup of the message's own, and shows every character of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.workspace.html.blocks import draw_blocks
from bot.workspace.html.message import draw_message, draw_row, draw_thread, draw_view
from bot.workspace.html.resolver import PlainResolver, Resolver
from bot.workspace.html.standalone import standalone_page
from bot.workspace.html.visible import characters_of

__all__ = [
    "PlainResolver",
    "Resolver",
    "page",
    "render_blocks",
    "render_message",
    "render_row",
    "render_thread",
    "render_view",
    "visible_text",
]


def render_message(message: Mapping[str, Any], resolver: Resolver) -> str:
    """Return the body of a message (blocks or text, attachments) without author and time."""
    return draw_message(message, resolver)


def render_row(message: Mapping[str, Any], resolver: Resolver) -> str:
    """Return a message with author and time, for pages that have no script to add them."""
    return draw_row(message, resolver)


def render_thread(rows: Iterable[str]) -> str:
    """Return the rows of a thread, as made by `render_row`, under the message that they answer."""
    return draw_thread(rows)


def render_view(view: Mapping[str, Any], resolver: Resolver) -> str:
    """Return a modal with title and buttons, or the content of a Home tab."""
    return draw_view(view, resolver)


def render_blocks(blocks: Iterable[Mapping[str, Any]], resolver: Resolver) -> str:
    """Return blocks one under the other."""
    return draw_blocks(blocks, resolver)


def visible_text(blocks: Iterable[Mapping[str, Any]]) -> str:
    """Return the characters a reader sees: blocks, list items and controls stand on lines of their own.

    Names of users and channels appear as their identifiers; numbers of lists are drawn and not counted.
    """
    return characters_of(draw_blocks(blocks, PlainResolver()))


def page(title: str, *bodies: str) -> str:
    """Return a standalone HTML document around bodies made by the functions above."""
    return standalone_page(title, *bodies)
