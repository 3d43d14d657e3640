"""`mrkdwn` text objects, with the rule that surprises people: markers count only at half-width boundaries.

`*bold*` opens after a space, a line start or ASCII punctuation, and closes before one. Beside a letter,
a digit or a wide (Chinese, Japanese, full-width) character the marker is only a character. Nothing spans
a line, fenced code apart.
"""

from __future__ import annotations

import re
import unicodedata

from bot.workspace.html import emoji
from bot.workspace.html import rich_text as draw
from bot.workspace.html.markup import BREAK, Html, element, join, raw_text, text
from bot.workspace.html.resolver import Resolver

_FENCE = re.compile(r"```(.+?)```", re.DOTALL)
_ANGLED = re.compile(r"<([^<>\n]+)>")
_QUOTE = re.compile(r"(?:&gt;|>) ?")
_QUOTE_REST = re.compile(r"(?:&gt;|>){3} ?")
_ENTITY = re.compile(r"&(amp|lt|gt);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">"}
_TAGS = {"*": "b", "_": "i", "~": "s"}


def unescape(value: str) -> str:
    """Return `value` with the three entities of Slack decoded, once; any other stays as it is written."""
    return _ENTITY.sub(lambda found: _CHARACTERS[found[1]], value)


def render_mrkdwn(value: str, resolver: Resolver) -> Html:
    """Return a whole text: fenced code, quotes, lines."""
    parts: list[Html] = []
    position = 0
    for fence in _FENCE.finditer(value):
        parts.append(_lines(value[position : fence.start()].removesuffix("\n"), resolver))
        code = raw_text(unescape(_plain_links(fence[1]).strip("\n")))
        parts.append(element("pre", {"class": "rt-pre"}, element("code", None, code)))
        position = fence.end()
        if value[position : position + 1] == "\n":
            position += 1
    parts.append(_lines(value[position:], resolver))
    return join(parts)


def _plain_links(code: str) -> str:
    return _ANGLED.sub(lambda found: found[1].partition("|")[2] or found[1], code)


def _lines(value: str, resolver: Resolver) -> Html:
    if not value:
        return Html("")
    parts: list[Html] = []
    pending: list[Html] = []
    quoted: list[Html] = []

    def flush() -> None:
        # Neighbouring lines of one kind are one paragraph or one quote.
        if quoted:
            parts.append(element("blockquote", {"class": "rt-quote"}, Html(BREAK.join(quoted))))
        if pending:
            parts.append(element("div", {"class": "rt-section"}, Html(BREAK.join(pending))))
        quoted.clear()
        pending.clear()

    lines = value.split("\n")
    for index, line in enumerate(lines):
        if rest := _QUOTE_REST.match(line):
            flush()
            following = [line[rest.end() :], *lines[index + 1 :]]
            quoted.extend(render_line(item, resolver) for item in following)
            break
        if mark := _QUOTE.match(line):
            if pending:
                flush()
            quoted.append(render_line(line[mark.end() :], resolver))
        else:
            if quoted:
                flush()
            pending.append(render_line(line, resolver))
    flush()
    return join(parts)


def render_line(line: str, resolver: Resolver) -> Html:
    """Return one line of mrkdwn."""
    parts: list[Html] = []
    plain_from = position = 0

    def plain(until: int) -> None:
        if until > plain_from:
            parts.append(text(emoji.replace_shortcodes(unescape(line[plain_from:until]))))

    while position < len(line):
        found = _construct(line, position, resolver)
        if found is None:
            position += 1
            continue
        plain(position)
        parts.append(found[0])
        plain_from = position = found[1]
    plain(len(line))
    return join(parts)


def _construct(line: str, position: int, resolver: Resolver) -> tuple[Html, int] | None:
    """Return what begins at `position` and where it ends, or None if that character is only itself."""
    character = line[position]
    if character == "<":
        angled = _ANGLED.match(line, position)
        return (_angle(angled[1], resolver), angled.end()) if angled else None
    if character != "`" and character not in _TAGS:
        return None
    end = _closing(line, position)
    if end is None:
        return None
    inner = line[position + 1 : end]
    if character == "`":
        return element("code", None, text(unescape(_plain_links(inner)))), end + 1
    return element(_TAGS[character], None, render_line(inner, resolver)), end + 1


def _closing(line: str, start: int) -> int | None:
    marker = line[start]
    if not _boundary(line[start - 1 : start]) or line[start + 1 : start + 2] in ("", " ", "\t", marker):
        return None
    end = line.find(marker, start + 2)
    while end != -1:
        inner_ends_well = marker == "`" or not line[end - 1].isspace()
        if inner_ends_well and _boundary(line[end + 1 : end + 2]):
            return end
        end = line.find(marker, end + 1)
    return None


def _boundary(neighbour: str) -> bool:
    """Whether a marker may stand beside `neighbour` (empty at either end of the line)."""
    if not neighbour or neighbour.isspace():
        # The ideographic space is a wide character, and a wide character is no boundary.
        return neighbour != "\u3000"
    return not neighbour.isalnum() and unicodedata.east_asian_width(neighbour) not in ("W", "F")


def _angle(inner: str, resolver: Resolver) -> Html:
    target, _, label = inner.partition("|")
    label = unescape(label)
    if target.startswith("@"):
        return draw.mention("@" + label) if label else draw.user_mention(target[1:], resolver)
    if target.startswith("#"):
        return draw.channel_mention(target[1:], resolver, label)
    if target.startswith("!"):
        return _special(target[1:], label)
    return draw.link(unescape(target), label or unescape(target))


def _special(command: str, label: str) -> Html:
    name, _, argument = command.partition("^")
    if name == "date":
        return element("time", None, text(label or argument.split("^")[0]))
    if name == "subteam":
        return draw.mention(label or "@" + argument)
    if name in ("here", "channel", "everyone"):
        return draw.broadcast(name)
    return draw.mention(label or "@" + name)
