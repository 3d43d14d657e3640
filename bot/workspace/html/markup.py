"""The only place that writes angle brackets: escaped text, checked addresses, elements.

Everything the renderer prints goes through `text` or `element`, so a message cannot bring its own markup.
`Html` marks strings that have been through here; a plain `str` is never trusted.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from typing import Any, NewType

Html = NewType("Html", str)
Json = Mapping[str, Any]
Value = str | int | bool | None
Attributes = Mapping[str, Value]

EMPTY = Html("")
BREAK = Html("<br>")

_VOID = frozenset({"br", "hr", "input"})
# NUL and lone surrogates are valid in JSON and impossible in a UTF-8 page: shown as U+FFFD, as browsers do.
_IMPOSSIBLE = re.compile("[\x00\ud800-\udfff]")
_LINKABLE = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f\x7f]+", re.IGNORECASE)
_HEX_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_KANA = re.compile("[\u3040-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7af\u1100-\u11ff]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")


def clean(value: str) -> str:
    """Return `value` with the characters no page can carry replaced by U+FFFD."""
    return _IMPOSSIBLE.sub("\ufffd", value)


def _escape(value: str) -> str:
    # A raw carriage return would be read back as a line feed.
    return html.escape(clean(value), quote=True).replace("\r", "&#13;")


def text(value: str) -> Html:
    """Return `value` as literal characters; a line feed becomes a line break."""
    return Html(_escape(value).replace("\n", BREAK))


def raw_text(value: str) -> Html:
    """Return `value` as literal characters for elements that keep their line feeds (`pre`, `textarea`)."""
    return Html(_escape(value))


def element(name: str, attributes: Attributes | None = None, *children: Html) -> Html:
    """Return one element. An attribute that is None or False is left out, True is written bare."""
    written = "".join(_attribute(key, value) for key, value in (attributes or {}).items())
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{''.join(children)}</{name}>")


def join(parts: Iterable[Html]) -> Html:
    """Return the parts one after the other."""
    return Html("".join(parts))


def _attribute(key: str, value: Value) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return f" {key}"
    return f' {key}="{_escape(str(value))}"'


def safe_href(url: object) -> str | None:
    """Return `url` if a click on it is harmless (http, https, mailto), else None."""
    return url if isinstance(url, str) and _LINKABLE.fullmatch(url) else None


def hex_colour(value: object) -> str | None:
    """Return `value` if it is a colour written `#rrggbb`, else None."""
    return value if isinstance(value, str) and _HEX_COLOUR.fullmatch(value) else None


def language(value: str) -> str | None:
    """Return the `lang` that picks the right glyphs for `value`, or None where the page's own will do.

    One Han code point is drawn differently for Chinese and Japanese readers; the browser needs to be told.
    """
    if _KANA.search(value):
        return "ja"
    if _HANGUL.search(value):
        return "ko"
    return "zh-Hans" if _HAN.search(value) else None


def slug(value: str) -> str:
    """Return `value` reduced to characters that are safe inside an `id`."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", value)
