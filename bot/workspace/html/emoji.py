"""A small table of emoji by their short names; any other name stays readable as `:name:`."""

from __future__ import annotations

import re

BY_NAME = {
    "+1": "👍", "thumbsup": "👍", "-1": "👎", "thumbsdown": "👎", "heart": "❤️", "tada": "🎉",
    "eyes": "👀", "white_check_mark": "✅", "heavy_check_mark": "✔️", "x": "❌",
    "warning": "⚠️", "rocket": "🚀", "fire": "🔥", "pray": "🙏", "raised_hands": "🙌",
    "clap": "👏", "wave": "👋", "ok_hand": "👌", "muscle": "💪", "bulb": "💡",
    "thinking_face": "🤔", "smile": "😄", "grinning": "😀", "joy": "😂", "wink": "😉",
    "sob": "😭", "confused": "😕", "bookmark": "🔖", "memo": "📝", "books": "📚", "book": "📖",
    "newspaper": "📰", "mag": "🔍", "link": "🔗", "calendar": "📆", "date": "📅", "clock9": "🕘",
    "hourglass": "⌛", "bell": "🔔", "mega": "📣", "star": "⭐", "sparkles": "✨", "zap": "⚡",
    "100": "💯", "bug": "🐛", "wrench": "🔧", "gear": "⚙️", "package": "📦", "lock": "🔒",
    "key": "🔑", "question": "❓", "exclamation": "❗", "point_right": "👉",
    "arrow_right": "➡️", "speech_balloon": "💬", "robot_face": "🤖", "coffee": "☕",
    "inbox_tray": "📥", "pushpin": "📌",
}  # fmt: skip

SHORTCODE = re.compile(r":([^\s:<>`]{1,80}?)(::skin-tone-[2-6])?:")


def glyph(name: str, unicode: object = None) -> str:
    """Return the characters to show: from `unicode` (`1f468-200d-1f469`), from the table, or `:name:`."""
    if isinstance(unicode, str):
        try:
            return "".join(chr(int(point, 16)) for point in unicode.split("-"))
        except (ValueError, OverflowError):
            pass  # a malformed code is not worth losing the message for: fall back to the name
    return BY_NAME.get(name, f":{name}:")


def replace_shortcodes(value: str) -> str:
    """Return `value` with the short names that the table knows replaced; all others stay as typed."""
    return SHORTCODE.sub(lambda found: BY_NAME.get(found[1], found[0]), value)
