"""What templates are made of: small functions that give blocks and the pieces of rich text.

A *piece* is a string, an inline element (`{"type": "text", ...}`), a line-level element (a section or a list), or a
list of those. Every function takes any of them. A function whose content is empty gives None, which a template may
leave standing: empty places are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from bot.render import limits
from bot.render.split import shorten

Element: TypeAlias = dict[str, Any]
Pieces: TypeAlias = "str | Mapping[str, Any] | Sequence[Any] | None"

_REPLACEMENT: Final = "\ufffd"


def clean(text: str) -> str:
    """`text` without what UTF-8 cannot carry: lone surrogates become U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def text_piece(text: str, **styles: bool) -> Element:
    """A literal text element: no character of it means anything to Slack."""
    if styles:
        return {"type": "text", "text": text, "style": styles}
    return {"type": "text", "text": text}


def flatten(pieces: Pieces) -> list[Element]:
    """The elements in `pieces`, in order, without empty ones."""
    found: list[Element] = []
    _collect(pieces, found)
    return found


def _collect(pieces: Pieces, found: list[Element]) -> None:
    if isinstance(pieces, str):
        if pieces:
            found.append(text_piece(pieces))
    elif isinstance(pieces, (list, tuple)):
        for piece in pieces:
            if isinstance(piece, dict):
                found.append(piece)
            else:
                _collect(piece, found)
    elif pieces is None:
        return
    elif isinstance(pieces, Mapping):
        found.append(dict(pieces))
    else:
        found.append(text_piece(str(pieces)))


def inline(pieces: Pieces) -> list[Element]:
    """The inline elements in `pieces`; line-level elements give theirs, with a line break between two."""
    found: list[Element] = []
    for element in flatten(pieces):
        if element["type"] == "rich_text_list" or element["type"] == "rich_text_section":
            if found:
                found.append(text_piece("\n"))
            found += inline(element["elements"])
        else:
            found.append(element)
    return found


def styled(pieces: Pieces, style: str) -> list[Element]:
    """The same pieces with a style added."""
    return [
        {**element, "style": {**element.get("style", {}), style: True}}
        if element["type"] in ("text", "link")
        else element
        for element in inline(pieces)
    ]


def bold(pieces: Pieces) -> list[Element]:
    """The same pieces, bold."""
    return styled(pieces, "bold")


def code(text: str) -> list[Element]:
    """A word of code."""
    return [text_piece(text, code=True)] if text else []


def usable(url: str | None) -> bool:
    """Whether Slack takes `url` as the address of a link."""
    return url is not None and url.startswith(("https://", "http://")) and limits.measure(url) <= limits.URL


def link(pieces: Pieces, url: str | None) -> list[Element]:
    """The pieces as a link; without a usable address, the pieces themselves."""
    elements = inline(pieces)
    if url is None or not usable(url):
        return elements
    return [{**element, "type": "link", "url": url} if element["type"] == "text" else element for element in elements]


def without_link(piece: Element) -> Element:
    """The words of a link as plain words; any other piece as it is."""
    if piece["type"] != "link":
        return piece
    return {key: value for key, value in piece.items() if key != "url"} | {"type": "text"}


def section(pieces: Pieces) -> Element | None:
    """One line (or paragraph) of rich text."""
    elements = inline(pieces)
    return {"type": "rich_text_section", "elements": elements} if elements else None


def numbered(items: Iterable[Pieces]) -> Element | None:
    """A numbered list, one item each."""
    return _listed(items, "ordered")


def bullets(items: Iterable[Pieces]) -> Element | None:
    """A list with bullets, one item each."""
    return _listed(items, "bullet")


def _listed(items: Iterable[Pieces], style: str) -> Element | None:
    sections = [line for line in map(section, items) if line]
    return {"type": "rich_text_list", "style": style, "elements": sections} if sections else None


def rich_text(*pieces: Pieces) -> Element | None:
    """A block of rich text: inline pieces run on in one line, sections and lists stand by themselves.

    A section continues a line that ends with a space or a line break: title, line break, body is one paragraph.
    """
    lines: list[Element] = []
    running: list[Element] = []

    def close() -> None:
        elements = merged(running)
        running.clear()
        if elements:
            lines.append({"type": "rich_text_section", "elements": elements})

    for element in flatten(pieces):
        kind = element["type"]
        if kind == "rich_text_section":
            if running and not running[-1].get("text", "").endswith((" ", "\n")):
                close()
            running += element["elements"]
            close()
        elif kind.startswith("rich_text_"):
            close()
            lines.append(element)
        else:
            running.append(element)
    close()
    return {"type": "rich_text", "elements": lines} if lines else None


def merged(elements: Sequence[Element]) -> list[Element]:
    """Neighbouring texts without style become one; empty texts go, and line breaks at the end."""
    joined: list[Element] = []
    for element in elements:
        if element["type"] == "text" and "style" not in element:
            if not element["text"]:
                continue
            if joined and joined[-1]["type"] == "text" and "style" not in joined[-1]:
                joined[-1] = {"type": "text", "text": joined[-1]["text"] + element["text"]}
                continue
        joined.append(element)
    if joined and joined[-1]["type"] == "text" and joined[-1]["text"].endswith("\n"):
        last = joined.pop()
        kept = last["text"].rstrip("\n")
        if kept:
            joined.append({**last, "text": kept})
    return joined


def said(pieces: Pieces) -> str:
    """The visible characters of inline pieces."""
    return "".join(element.get("text") or element.get("url", "") for element in inline(pieces))


def plain_text(text: str, most: int = limits.PLAIN_TEXT) -> Element:
    """A plain_text object, shortened with `…` to what its place takes; a blank becomes `…`."""
    line = shorten(text, most)
    return {"type": "plain_text", "text": "…" if limits.is_blank(line) else line, "emoji": False}


def context(pieces: Pieces) -> Element | None:
    """A small grey line."""
    line = said(pieces)
    return {"type": "context", "elements": [plain_text(line)]} if line else None


def header(text: str) -> Element | None:
    """A large line; for surfaces that have no `text`."""
    return {"type": "header", "text": plain_text(text, limits.HEADER)} if text else None


def actions(*controls: Element | None) -> Element | None:
    """A row of controls."""
    present = [control for control in controls if control]
    return {"type": "actions", "elements": present} if present else None


def button(
    text: str, action: str, value: str = "", *, url: str | None = None, label: str | None = None
) -> Element | None:
    """A button; `label` is what a screen reader says instead of `text`."""
    if not text:
        return None
    made: Element = {"type": "button", "action_id": action, "text": plain_text(text, limits.BUTTON_TEXT)}
    if value:
        made["value"] = value
    if url:
        made["url"] = url
    if label:
        made["accessibility_label"] = shorten(label, limits.LABEL)
    return made


def select(placeholder: str, action: str, options: Iterable[tuple[str, str]]) -> Element | None:
    """A menu of (text, value); the first hundred, as many as Slack takes."""
    listed = [{"text": plain_text(text, limits.OPTION_TEXT), "value": value} for text, value in options][
        : limits.OPTIONS
    ]
    if not listed:
        return None
    return {
        "type": "static_select",
        "action_id": action,
        "placeholder": plain_text(placeholder, limits.PLACEHOLDER),
        "options": listed,
    }


_TEXT: Final = "said(...) makes a text of pieces"
USES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "rich_text": "write rich_text(bold(title), body), with as many pieces as you like",
        "bold": "write bold(title), with pieces",
        "code": f"write code(repo), with a text; {_TEXT}",
        "link": "write link(title, url), with pieces and a text",
        "numbered": "write numbered(lists), with a list of pieces",
        "bullets": "write bullets(lists), with a list of pieces",
        "context": 'write context(repo ~ " · " ~ edition), with pieces',
        "header": f"write header(title_text), with a text; {_TEXT}",
        "actions": "write actions(button(...), select(...)), with controls",
        "button": 'write button("Open", "action", "value"), with texts',
        "select": 'write select("Pick one", "action", options), with pairs of texts',
        "said": "write said(title), with pieces",
        "range": "write range(3), with a number up to 100000",
    }
)
"""How each is called, for whoever called it in another way."""


def template_functions() -> dict[str, Callable[..., Any]]:
    """The functions that every template may call."""
    return {
        "rich_text": rich_text,
        "bold": bold,
        "code": code,
        "link": link,
        "numbered": numbered,
        "bullets": bullets,
        "context": context,
        "header": header,
        "actions": actions,
        "button": button,
        "select": select,
        "said": said,
    }
