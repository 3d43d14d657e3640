"""Whole messages and whole views, from the objects that Slack's API carries."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from bot.workspace.html.blocks import draw_blocks
from bot.workspace.html.markup import EMPTY, Html, Json, element, join, language, text
from bot.workspace.html.mrkdwn import render_mrkdwn
from bot.workspace.html.objects import plain
from bot.workspace.html.resolver import Resolver


def draw_message(message: Json, resolver: Resolver) -> Html:
    """Return the body of a message: its blocks, or its text where it has none, and its attachments."""
    blocks = message.get("blocks") or []
    body = draw_blocks(blocks, resolver) if blocks else _words(message, resolver)
    attachments = join(_attachment(item, resolver) for item in message.get("attachments") or [])
    # Slack marks an edit of somebody's words; an app that replaces its blocks says so itself, or not at all.
    edited = message.get("edited") and not (blocks and message.get("bot_id"))
    mark = element("span", {"class": "edited"}, text("(edited)")) if edited else EMPTY
    return element("div", {"class": "msg-body", "lang": language(body)}, body, attachments, mark)


def _words(message: Json, resolver: Resolver) -> Html:
    value = str(message.get("text") or "")
    if message.get("mrkdwn") is False:
        return element("div", {"class": "rt-section"}, text(value))
    return render_mrkdwn(value, resolver)


def _attachment(item: Json, resolver: Resolver) -> Html:
    blocks = item.get("blocks") or []
    if blocks:
        inner = draw_blocks(blocks, resolver)
    else:
        title = element("div", {"class": "attachment-title"}, text(str(item.get("title") or "")))
        words = render_mrkdwn(str(item.get("text") or item.get("fallback") or ""), resolver)
        inner = join([title if item.get("title") else EMPTY, words])
    return element("div", {"class": "attachment"}, inner)


def draw_view(view: Json, resolver: Resolver) -> Html:
    """Return a modal with its head and feet, or a Home tab."""
    blocks = draw_blocks(view.get("blocks") or [], resolver)
    if view.get("type") == "home":
        return element("div", {"class": "home-view", "lang": language(blocks)}, blocks)
    title = plain(view.get("title"))
    close = plain(view.get("close")) or "Cancel"
    cross = {"type": "button", "class": "modal-cross", "data-modal": "close", "aria-label": "Close"}
    head = element(
        "header",
        {"class": "modal-head"},
        element("h2", {"class": "modal-title", "lang": language(title)}, text(title)),
        element("button", cross, text("\N{MULTIPLICATION SIGN}")),
    )
    leave = {"type": "button", "class": "btn", "data-modal": "close", "lang": language(close)}
    feet = [element("button", leave, text(close))]
    if view.get("submit"):
        label = plain(view["submit"])
        send = {"type": "submit", "class": "btn btn-primary", "data-modal": "submit", "lang": language(label)}
        feet.append(element("button", send, text(label)))
    body = element("div", {"class": "modal-body"}, blocks)
    return element("form", {"class": "modal-form"}, head, body, element("footer", {"class": "modal-feet"}, *feet))


def draw_row(message: Json, resolver: Resolver) -> Html:
    """Return a message as a channel shows it to a reader without a script: picture, name, time, body."""
    author = str(message.get("user") or message.get("bot_id") or "")
    name = str(message.get("username") or (resolver.user(author) if author else "App"))
    is_app = bool(message.get("bot_id") or not message.get("user"))
    badge = element("span", {"class": "badge"}, text("APP")) if is_app else EMPTY
    private = message.get("response_type") == "ephemeral" or message.get("ephemeral")
    note = element("div", {"class": "only-you"}, text("Only visible to you")) if private else EMPTY
    picture = element(
        "div",
        {"class": "avatar avatar-app" if is_app else "avatar", "aria-hidden": "true"},
        EMPTY if is_app else text(name[:1].upper()),
    )
    names = element("span", {"class": "msg-author", "lang": language(name)}, text(name))
    head = element("div", {"class": "msg-head"}, names, badge, _clock(message.get("ts")))
    column = element("div", {"class": "msg-column"}, note, head, draw_message(message, resolver))
    css = "msg is-ephemeral" if private else "msg"
    return element("article", {"class": css, "data-testid": "message"}, picture, column)


def draw_thread(rows: Iterable[str]) -> Html:
    """Return rows that this package rendered, set in under their parent."""
    return element("section", {"class": "preview-thread", "aria-label": "Thread"}, *(Html(row) for row in rows))


def _clock(ts: object) -> Html:
    try:
        moment = datetime.fromtimestamp(float(str(ts)), UTC)
    except (ValueError, OverflowError):
        return EMPTY  # a preview has not been posted yet and has no time
    return element("time", {"class": "msg-time", "datetime": moment.isoformat()}, text(f"{moment:%H:%M}"))
