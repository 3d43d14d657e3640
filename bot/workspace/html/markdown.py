"""The `markdown` block, as far as a digest needs it: headings, lists, quotes, code, rules, emphasis."""

from __future__ import annotations

import re

from bot.workspace.html import rich_text
from bot.workspace.html.markup import BREAK, Html, element, join, raw_text, text

_FENCE = re.compile(r"^```[^\n`]*\n(.*?)(?:\n```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"(#{1,6}) +(.+?)(?: +#+)?$")
_RULE = re.compile(r"([-*_])(?: *\1){2,} *$")
_BULLET = re.compile(r"( *)[-*+] +(.*)$")
_NUMBER = re.compile(r"( *)(\d{1,9})[.)] +(.*)$")
_QUOTE = re.compile(r"> ?(.*)$")
_INLINE = re.compile(
    r"(?P<code>`(?P<code_text>[^`\n]+)`)"
    r"|(?P<link>!?\[(?P<label>[^\]\n]*)\]\((?P<url>[^()\s]+)\))"
    r"|(?P<bold>\*\*(?=\S)(?P<bold_text>.+?)(?<=\S)\*\*)"
    r"|(?P<strike>~~(?=\S)(?P<strike_text>.+?)(?<=\S)~~)"
    r"|(?P<star>\*(?=[^\s*])(?P<star_text>[^*\n]+?)(?<=\S)\*)"
    r"|(?P<under>(?<!\w)_(?=[^\s_])(?P<under_text>[^_\n]+?)(?<=\S)_(?!\w))"
    r"|(?P<escaped>\\(?P<escaped_text>[\\`*_{}\[\]()#+.!~>|-]))"
)
_TAGS = {"bold": "b", "strike": "s", "star": "i", "under": "i"}


def render_markdown(value: str) -> Html:
    """Return a markdown text."""
    parts: list[Html] = []
    position = 0
    for fence in _FENCE.finditer(value):
        parts.append(_lines(value[position : fence.start()]))
        parts.append(element("pre", {"class": "rt-pre"}, element("code", None, raw_text(fence[1]))))
        position = fence.end()
    parts.append(_lines(value[position:]))
    return join(parts)


def _lines(value: str) -> Html:
    parts: list[Html] = []
    open_kind = ""
    open_lines: list[Html] = []

    def close() -> None:
        nonlocal open_kind
        if open_lines:
            parts.append(_group(open_kind, open_lines))
        open_lines.clear()
        open_kind = ""

    for line in value.split("\n"):
        kind, inner = _classify(line)
        if kind != open_kind or kind in ("heading", "rule", "blank"):
            close()
        if kind == "rule":
            parts.append(element("hr", {"class": "divider"}))
        elif kind != "blank":
            open_kind = kind
            open_lines.append(inner)
    close()
    return join(parts)


def _classify(line: str) -> tuple[str, Html]:
    if not line.strip() or _RULE.match(line):
        return "rule" if line.strip() else "blank", Html("")
    if heading := _HEADING.match(line):
        return "heading", inline(heading[2])
    if bullet := _BULLET.match(line):
        return "bullet", _item(bullet[1], inline(bullet[2]))
    if number := _NUMBER.match(line):
        return "number", _item(number[1], inline(number[3]), int(number[2]))
    if quote := _QUOTE.match(line):
        return "quote", inline(quote[1])
    return "text", inline(line)


def _item(indent: str, inner: Html, number: int | None = None) -> Html:
    depth = min(len(indent) // 2, 8)
    return element("li", {"class": f"indent-{depth}" if depth else None, "value": number}, inner)


def _group(kind: str, lines: list[Html]) -> Html:
    if kind == "heading":
        return element("h4", {"class": "md-heading"}, *lines)
    if kind == "bullet":
        return element("ul", {"class": "rt-list"}, *lines)
    if kind == "number":
        return element("ol", {"class": "rt-list"}, *lines)
    name, css = ("blockquote", "rt-quote") if kind == "quote" else ("div", "rt-section")
    return element(name, {"class": css}, Html(BREAK.join(lines)))


def inline(value: str) -> Html:
    """Return one line of markdown."""
    parts: list[Html] = []
    position = 0
    for found in _INLINE.finditer(value):
        parts.append(text(value[position : found.start()]))
        position = found.end()
        kind = str(found.lastgroup).removesuffix("_text")
        parts.append(_piece(found, kind))
    parts.append(text(value[position:]))
    return join(parts)


def _piece(found: re.Match[str], kind: str) -> Html:
    if kind == "code":
        return element("code", None, text(found["code_text"]))
    if kind == "escaped":
        return text(found["escaped_text"])
    if found["link"] is not None:
        return rich_text.link(found["url"], found["label"] or found["url"])
    return element(_TAGS[kind], None, inline(found[f"{kind}_text"]))
