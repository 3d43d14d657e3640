"""Blocks: each kind has one small function; a kind without one leaves a visible note."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bot.workspace.html.elements import image_box, render_element
from bot.workspace.html.markdown import render_markdown
from bot.workspace.html.markup import EMPTY, Html, Json, element, join, language, slug, text
from bot.workspace.html.objects import plain, render_text
from bot.workspace.html.resolver import Resolver
from bot.workspace.html.rich_text import render_rich_text, unknown

# Inputs that are groups of controls get a legend; a label can name only one control.
_GROUPS = ("checkboxes", "radio_buttons")


def draw_blocks(blocks: Iterable[Json], resolver: Resolver) -> Html:
    """Return the blocks one under the other."""
    return join(_block(block, resolver) for block in blocks)


def _block(block: Json, resolver: Resolver) -> Html:
    kind = str(block.get("type", ""))
    drawer = _DRAWERS.get(kind)
    inner = drawer(block, resolver) if drawer else unknown("block", kind)
    attributes = {
        "class": f"block block-{slug(kind)}",
        "data-block-id": str(block.get("block_id", "")),
        "lang": language(inner),
    }
    return element("div", attributes, inner)


def _section(block: Json, resolver: Resolver) -> Html:
    parts = [element("div", {"class": "section-text"}, render_text(block.get("text"), resolver))]
    if fields := block.get("fields"):
        cells = (element("div", {"class": "section-field"}, render_text(item, resolver)) for item in fields)
        parts.append(element("div", {"class": "section-fields"}, *cells))
    words = element("div", {"class": "section-words"}, *(parts if block.get("text") else parts[1:]))
    accessory = block.get("accessory")
    if not accessory:
        return words
    label = plain(block.get("text"))
    control = element("div", {"class": "accessory"}, render_element(accessory, label=label))
    return join([words, control])


def _header(block: Json, resolver: Resolver) -> Html:
    return element("h3", {"class": "header-text"}, render_text(block.get("text"), resolver))


def _context(block: Json, resolver: Resolver) -> Html:
    items = (
        image_box(item)
        if item.get("type") == "image"
        else element("div", {"class": "context-text"}, render_text(item, resolver))
        for item in block.get("elements") or []
    )
    return join(items)


def _actions(block: Json, _resolver: Resolver) -> Html:
    return join(render_element(item) for item in block.get("elements") or [])


def _divider(_block: Json, _resolver: Resolver) -> Html:
    return element("hr", {"class": "divider"})


def _image(block: Json, resolver: Resolver) -> Html:
    title = block.get("title")
    heading = element("div", {"class": "image-title"}, render_text(title, resolver)) if title else EMPTY
    return join([heading, image_box(block)])


def _input(block: Json, _resolver: Resolver) -> Html:
    item = block.get("element") or {}
    label = plain(block.get("label"))
    suffix = element("span", {"class": "optional"}, text(" (optional)")) if block.get("optional") else EMPTY
    words = join([text(label), suffix])
    control = render_element(item, label=label)
    hint = plain(block.get("hint"))
    note = element("div", {"class": "hint", "lang": language(hint)}, text(hint)) if hint else EMPTY
    attributes = {"class": "input-row", "data-dispatch": "true" if block.get("dispatch_action") else None}
    if item.get("type") in _GROUPS:
        legend = element("legend", {"class": "input-label"}, words)
        return element("fieldset", attributes, legend, control, note)
    # The label wraps its control, so no identifier has to be unique in the page.
    return element("div", attributes, element("label", {"class": "input-label"}, words, control), note)


def _markdown(block: Json, _resolver: Resolver) -> Html:
    return render_markdown(str(block.get("text", "")))


def _table(block: Json, resolver: Resolver) -> Html:
    rows = (
        element("tr", None, *(element("td", None, _cell(cell, resolver)) for cell in row))
        for row in block.get("rows") or []
    )
    return element("table", {"class": "table"}, element("tbody", None, *rows))


def _cell(cell: Json, resolver: Resolver) -> Html:
    if cell.get("type") == "rich_text":
        return render_rich_text(cell, resolver)
    return text(str(cell.get("text", "")))


_DRAWERS: dict[str, Callable[[Json, Resolver], Html]] = {
    "rich_text": render_rich_text,
    "section": _section,
    "header": _header,
    "context": _context,
    "actions": _actions,
    "context_actions": _actions,
    "divider": _divider,
    "image": _image,
    "input": _input,
    "markdown": _markdown,
    "table": _table,
}
