"""`rich_text` blocks: text is literal; styles come from the element and never from its characters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from bot.workspace.html import emoji
from bot.workspace.html.markup import (
    EMPTY,
    Html,
    Json,
    element,
    hex_colour,
    join,
    raw_text,
    safe_href,
    text,
)
from bot.workspace.html.resolver import Resolver

_STYLE_TAGS = (("code", "code"), ("strike", "s"), ("italic", "i"), ("bold", "b"), ("underline", "u"))
_BROADCASTS = ("here", "channel", "everyone")
_DEEPEST_INDENT = 8


def render_rich_text(block: Json, resolver: Resolver) -> Html:
    """Return a whole `rich_text` block."""
    return element("div", {"class": "rt"}, *(_part(part, resolver) for part in block.get("elements") or []))


def _part(part: Json, resolver: Resolver) -> Html:
    kind = part.get("type")
    elements = part.get("elements") or []
    if kind == "rich_text_list":
        return _list(part, resolver)
    if kind == "rich_text_preformatted":
        return element("pre", {"class": "rt-pre"}, element("code", None, _preformatted(elements, resolver)))
    border = " has-border" if part.get("border") else ""
    if kind == "rich_text_quote":
        return element("blockquote", {"class": "rt-quote" + border}, render_inline(elements, resolver))
    if kind == "rich_text_section":
        return element("div", {"class": "rt-section"}, render_inline(elements, resolver))
    return unknown("rich text", kind)


def _list(part: Json, resolver: Resolver) -> Html:
    ordered = part.get("style") == "ordered"
    indent = min(_whole_number(part.get("indent")), _DEEPEST_INDENT)
    offset = _whole_number(part.get("offset"))
    css = f"rt-list indent-{indent}" + (" has-border" if part.get("border") else "")
    items = (
        element("li", None, render_inline(item.get("elements") or [], resolver)) for item in part.get("elements") or []
    )
    # The start is an attribute and not text: numbers of a list are drawn, they are not characters of it.
    start = offset + 1 if ordered and offset else None
    return element("ol" if ordered else "ul", {"class": css, "start": start}, *items)


def _whole_number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _preformatted(elements: list[Json], resolver: Resolver) -> Html:
    return join(
        raw_text(str(item.get("text", ""))) if item.get("type") == "text" else _inline(item, resolver)
        for item in elements
    )


def render_inline(elements: list[Json], resolver: Resolver) -> Html:
    """Return the inline elements of a section, a quote or a list item."""
    return join(_inline(item, resolver) for item in elements)


def _inline(item: Json, resolver: Resolver) -> Html:
    style = item.get("style")
    return _styled(_bare(item, resolver), style if isinstance(style, Mapping) else {})


def _bare(item: Json, resolver: Resolver) -> Html:
    kind = str(item.get("type", ""))
    drawer = _DRAWERS.get(kind)
    return drawer(item, resolver) if drawer else unknown("rich text element", kind)


def _styled(inner: Html, style: Json) -> Html:
    for name, tag in _STYLE_TAGS:
        if style.get(name):
            inner = element(tag, None, inner)
    return inner


def link(url: object, label: str) -> Html:
    """Return a link, or only its label where the address is not one we would open."""
    href = safe_href(url)
    if href is None:
        return text(label)
    return element("a", {"href": href, "target": "_blank", "rel": "noopener noreferrer"}, text(label))


def emoji_span(name: str, unicode: object = None) -> Html:
    """Return an emoji, named for those who hear the page."""
    shown = emoji.glyph(name, unicode)
    if shown == f":{name}:":
        return text(shown)
    return element("span", {"class": "emoji", "role": "img", "aria-label": f"{name} emoji"}, text(shown))


def mention(label: str) -> Html:
    """Return a highlighted name that leads nowhere."""
    return element("span", {"class": "mention"}, text(label))


def user_mention(user_id: str, resolver: Resolver) -> Html:
    """Return `@name`; the page marks it when it is the reader's own."""
    name = resolver.user(user_id).removeprefix("@")
    return element("span", {"class": "mention", "data-user": user_id}, text("@" + name))


def channel_mention(channel_id: str, resolver: Resolver, name: str = "") -> Html:
    """Return `#name`; the page opens the channel on a click."""
    shown = (name or resolver.channel(channel_id)).removeprefix("#")
    attributes: dict[str, str | int | bool | None] = {
        "class": "mention mention-channel",
        "data-open-channel": channel_id,
        "role": "link",
        "tabindex": 0,
    }
    return element("span", attributes, text("#" + shown))


def broadcast(name: str) -> Html:
    """Return `@here` and its kin, or the bare word for a range that does not exist."""
    css = "mention mention-broadcast" if name in _BROADCASTS else "mention"
    return element("span", {"class": css}, text("@" + name))


def _date(item: Json) -> Html:
    moment = _moment(item.get("timestamp"))
    shown = str(item.get("fallback") or (moment.strftime("%Y-%m-%d %H:%M UTC") if moment else ""))
    inner = link(item.get("url"), shown)
    return element("time", {"datetime": moment.isoformat() if moment else None}, inner)


def _moment(timestamp: object) -> datetime | None:
    if not isinstance(timestamp, int | float):
        return None
    try:
        return datetime.fromtimestamp(timestamp, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _colour(item: Json) -> Html:
    value = str(item.get("value", ""))
    colour = hex_colour(value)
    attributes = {"class": "swatch", "style": f"background-color:{colour}", "aria-hidden": "true"}
    return join([element("span", attributes) if colour else EMPTY, text(value)])


def unknown(what: str, kind: object) -> Html:
    """Return a visible note in place of something this renderer does not draw: never leave a hole."""
    return element("span", {"class": "unknown"}, text(f"[{what} not shown here: {kind}]"))


_DRAWERS: dict[str, Callable[[Json, Resolver], Html]] = {
    "text": lambda item, _: text(str(item.get("text", ""))),
    "link": lambda item, _: link(item.get("url"), str(item.get("text") or item.get("url") or "")),
    "emoji": lambda item, _: emoji_span(str(item.get("name", "")), item.get("unicode")),
    "user": lambda item, resolver: user_mention(str(item.get("user_id", "")), resolver),
    "channel": lambda item, resolver: channel_mention(str(item.get("channel_id", "")), resolver),
    "usergroup": lambda item, _: mention("@" + str(item.get("usergroup_id", ""))),
    "broadcast": lambda item, _: broadcast(str(item.get("range", ""))),
    "team": lambda item, _: text(str(item.get("team_id", ""))),
    "date": lambda item, _: _date(item),
    "color": lambda item, _: _colour(item),
}
