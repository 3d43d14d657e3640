"""Slack's limits, and how texts are measured against them. `checks` holds messages to them.

Counting is on the safe side. Whether Slack counts code points or UTF-16 units, and `&` as one character or as the
five of `&amp;`, is not documented; `measure` takes the larger of both, everywhere.
"""

from __future__ import annotations

from typing import Final

MESSAGE_BLOCKS: Final = 50
VIEW_BLOCKS: Final = 100
TEXT: Final = 3_900
"""`chat.update` takes 4,000, and a message must stay editable."""
RICH_TEXT: Final = 3_900
"""Undocumented; as much as the message's `text`, which repeats it."""
PAYLOAD: Final = 12_000
"""All blocks of a message, in the measure of `weight`. Undocumented; refusals were seen from 13,200."""
VIEW_PAYLOAD: Final = 240_000
PLAIN_TEXT: Final = 2_900
HEADER: Final = 150
BUTTON_TEXT: Final = 75
BUTTON_VALUE: Final = 2_000
LABEL: Final = 75
OPTION_TEXT: Final = 75
OPTION_VALUE: Final = 150
OPTIONS: Final = 100
PLACEHOLDER: Final = 150
INPUT_LABEL: Final = 2_000
URL: Final = 3_000
ACTIONS: Final = 25
CONTEXT: Final = 10
FIELDS: Final = 10
FIELD: Final = 2_000
ALT_TEXT: Final = 2_000
IDENTIFIER: Final = 255
VIEW_TITLE: Final = 24
PRIVATE_METADATA: Final = 3_000

FRAME: Final = 60
"""What a piece costs in a payload beside its text: its keys, quotes and braces."""


def measure(text: str) -> int:
    """The length of `text` as the strictest reading of Slack's limits counts it: UTF-16 units after escaping."""
    length = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    return length + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))


def weight(text: str) -> int:
    """What a piece of text adds to the payload of a message."""
    return measure(text) + FRAME


def escape(text: str) -> str:
    """`text` for the `text` field of a message: exactly the three characters that Slack wants escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# Zero-width and other characters that show nothing but that `str.isspace` calls letters or signs.
_UNSEEN: Final = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u200b\u200c\u200d\u200e\u200f"
_UNSEEN_TOO: Final = "\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069"
_UNSEEN_REST: Final = "\u2800\u3164\ufe0e\ufe0f\ufeff\uffa0"
_INVISIBLE: Final = frozenset(_UNSEEN + _UNSEEN_TOO + _UNSEEN_REST)


def is_blank(text: str) -> bool:
    """Whether a reader would see nothing: empty, spaces (also U+3000) and zero-width characters only."""
    return all(character.isspace() or character in _INVISIBLE or character < " " for character in text)


def measure_escaped(text: str) -> int:
    """The length of a text that is escaped already."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
