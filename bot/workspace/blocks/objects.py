"""Composition objects: texts, options, confirmations. Limits: Block Kit reference, as slack_sdk 3.48 has them."""

from __future__ import annotations

from typing import Any

from bot.workspace.blocks.schema import (
    Check,
    Findings,
    anything,
    boolean,
    by_type,
    either,
    items,
    may,
    need,
    one_of,
    shape,
    string,
)

TEXT = 3000
URL = string(3000)
ID = string(255)


def plain(most: int = TEXT) -> Check:
    """A `plain_text` object."""
    return by_type({"plain_text": shape({"type": need(string()), "text": need(string(most)), "emoji": may(boolean)})})


def text(most: int = TEXT) -> Check:
    """`plain_text` or `mrkdwn`."""
    return by_type(
        {
            "plain_text": shape({"type": need(string()), "text": need(string(most)), "emoji": may(boolean)}),
            "mrkdwn": shape({"type": need(string()), "text": need(string(most)), "verbatim": may(boolean)}),
        }
    )


STYLE = one_of("primary", "danger")
CONFIRM = shape(
    {
        "title": need(plain(100)),
        "text": need(text(300)),
        "confirm": need(plain(30)),
        "deny": need(plain(30)),
        "style": may(STYLE),
    }
)


def option(*, marked: bool = False, with_url: bool = False) -> Check:
    """`marked` texts (mrkdwn) are for check boxes and radio buttons, `with_url` is for overflow menus."""
    label = text(75) if marked else plain(75)
    fields = {
        "text": need(label),
        "value": need(string(150)),
        "description": may(label),
    }
    if with_url:
        fields["url"] = may(URL)
    return shape(fields)


def options(most: int, *, marked: bool = False, with_url: bool = False) -> Check:
    """One to `most` options."""
    return items(option(marked=marked, with_url=with_url), least=1, most=most)


OPTION_GROUPS = items(shape({"label": need(plain(75)), "options": need(options(100))}), least=1, most=100)
DISPATCH = shape(
    {"trigger_actions_on": may(items(one_of("on_enter_pressed", "on_character_entered"), least=1, most=2))}
)
FILTER = shape(
    {
        "include": may(items(one_of("im", "mpim", "private", "public"), least=1)),
        "exclude_external_shared_channels": may(boolean),
        "exclude_bot_users": may(boolean),
    }
)
SLACK_FILE = shape({"id": may(string()), "url": may(URL)}, also=either("id", "url"))
WORKFLOW = shape({"trigger": need(anything)})


def choices(found: Findings, at: str, value: Any) -> None:
    """A select takes `options` or `option_groups`, and an initial choice that is one of them, word for word."""
    either("options", "option_groups")(found, at, value)
    known = value.get("options") or [each for group in value.get("option_groups") or () for each in group["options"]]
    chosen = [value["initial_option"]] if value.get("initial_option") else value.get("initial_options") or []
    for each in chosen:
        if all((each["value"], each["text"]["text"]) != (other["value"], other["text"]["text"]) for other in known):
            name = "initial_option" if value.get("initial_option") else "initial_options"
            found.add(f"{at}/{name}", "must be found in options or option_groups")
