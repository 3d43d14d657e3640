"""`rich_text` blocks. Source: docs.slack.dev rich text block; empty texts and sections are refused."""

from __future__ import annotations

from collections.abc import Mapping

from bot.workspace.blocks.schema import (
    Check,
    Field,
    anything,
    boolean,
    by_type,
    integer,
    items,
    may,
    need,
    one_of,
    shape,
    string,
)

_STYLE = shape({name: may(boolean) for name in ("bold", "italic", "strike", "code", "underline")})
_MENTION_STYLE = shape(
    {
        name: may(boolean)
        for name in ("bold", "italic", "strike", "highlight", "client_highlight", "unlink", "underline")
    }
)
_TYPE: Mapping[str, Field] = {"type": need(string())}

_INLINE: Mapping[str, Check] = {
    "text": shape({**_TYPE, "text": need(string()), "style": may(_STYLE)}),
    "link": shape(
        {
            **_TYPE,
            "url": need(string(3000)),
            "text": may(string(None, 0)),
            "unsafe": may(boolean),
            "style": may(_STYLE),
        }
    ),
    "emoji": shape(
        {
            **_TYPE,
            "name": need(string()),
            "unicode": may(string()),
            "skin_tone": may(integer(1, 6)),
            "style": may(_MENTION_STYLE),
        }
    ),
    "user": shape({**_TYPE, "user_id": need(string()), "style": may(_MENTION_STYLE)}),
    "usergroup": shape({**_TYPE, "usergroup_id": need(string()), "style": may(_MENTION_STYLE)}),
    "channel": shape({**_TYPE, "channel_id": need(string()), "style": may(_MENTION_STYLE)}),
    "team": shape({**_TYPE, "team_id": need(string()), "style": may(_MENTION_STYLE)}),
    "broadcast": shape({**_TYPE, "range": need(one_of("here", "channel", "everyone")), "style": may(_MENTION_STYLE)}),
    "color": shape({**_TYPE, "value": need(string()), "style": may(_STYLE)}),
    "date": shape(
        {
            **_TYPE,
            "timestamp": need(integer(0)),
            "format": need(string()),
            "url": may(string(3000)),
            "fallback": may(string()),
            "style": may(_STYLE),
        }
    ),
    "citation": anything,
}
_PARTS = items(by_type(_INLINE), least=1)
_VERBATIM = items(by_type({"text": _INLINE["text"], "link": _INLINE["link"]}), least=1)
SECTION = shape({**_TYPE, "elements": need(_PARTS)})

RICH_TEXT_ELEMENTS: Mapping[str, Check] = {
    "rich_text_section": SECTION,
    "rich_text_list": shape(
        {
            **_TYPE,
            "style": need(one_of("bullet", "ordered")),
            "elements": need(items(by_type({"rich_text_section": SECTION}), least=1)),
            "indent": may(integer(0, 8)),
            "offset": may(integer(0)),
            "border": may(integer(0, 1)),
        }
    ),
    "rich_text_preformatted": shape(
        {**_TYPE, "elements": need(_VERBATIM), "border": may(integer(0, 1)), "language": may(string())}
    ),
    "rich_text_quote": shape({**_TYPE, "elements": need(_PARTS), "border": may(integer(0, 1))}),
}
RICH_TEXT = shape(
    {
        **_TYPE,
        "block_id": may(string(255)),
        "elements": need(items(by_type(RICH_TEXT_ELEMENTS), least=1)),
    }
)
