"""Interactive elements and where each may stand. Source: Block Kit reference, as slack_sdk 3.48 has it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.workspace.blocks.objects import (
    CONFIRM,
    DISPATCH,
    FILTER,
    ID,
    OPTION_GROUPS,
    SLACK_FILE,
    STYLE,
    URL,
    WORKFLOW,
    choices,
    option,
    options,
    plain,
)
from bot.workspace.blocks.schema import (
    Check,
    Field,
    Findings,
    anything,
    boolean,
    either,
    integer,
    items,
    may,
    need,
    one_of,
    shape,
    string,
)

_BASE: Mapping[str, Field] = {"type": need(string()), "action_id": may(ID)}
_ASKS: Mapping[str, Field] = {**_BASE, "confirm": may(CONFIRM), "focus_on_load": may(boolean)}
_SELECT: Mapping[str, Field] = {**_ASKS, "placeholder": may(plain(150))}
_INPUT: Mapping[str, Field] = {
    **_BASE,
    "placeholder": may(plain(150)),
    "focus_on_load": may(boolean),
    "dispatch_action_config": may(DISPATCH),
}
_SEVERAL: Mapping[str, Field] = {"max_selected_items": may(integer(1))}


def _matches(pattern: str, what: str) -> Check:
    def check(found: Findings, at: str, value: Any) -> None:
        if not isinstance(value, str) or re.fullmatch(pattern, value, re.ASCII) is None:
            found.add(at, f"must be a valid {what}")

    return check


_DATE = _matches(r"\d{4}-\d{2}-\d{2}", "date")
_TIME = _matches(r"([01]\d|2[0-3]):[0-5]\d", "time")
_FEEDBACK = shape({"text": need(plain(75)), "value": need(string(2000)), "accessibility_label": may(string(75))})

BUTTON = shape(
    {
        **_BASE,
        "text": need(plain(75)),
        "url": may(URL),
        "value": may(string(2000)),
        "style": may(STYLE),
        "confirm": may(CONFIRM),
        "accessibility_label": may(string(75)),
        "agent_prompt": may(string(4000)),
    }
)
IMAGE = shape(
    {
        "type": need(string()),
        "alt_text": need(string(2000)),
        "image_url": may(URL),
        "slack_file": may(SLACK_FILE),
    },
    also=either("image_url", "slack_file"),
)
OVERFLOW = shape({**_BASE, "options": need(options(5, with_url=True)), "confirm": may(CONFIRM)})

SELECTS: Mapping[str, Check] = {
    "static_select": shape(
        {**_SELECT, "options": may(options(100)), "option_groups": may(OPTION_GROUPS), "initial_option": may(option())},
        also=choices,
    ),
    "external_select": shape({**_SELECT, "initial_option": may(option()), "min_query_length": may(integer(0))}),
    "users_select": shape({**_SELECT, "initial_user": may(string())}),
    "conversations_select": shape(
        {
            **_SELECT,
            "initial_conversation": may(string()),
            "default_to_current_conversation": may(boolean),
            "response_url_enabled": may(boolean),
            "filter": may(FILTER),
        }
    ),
    "channels_select": shape({**_SELECT, "initial_channel": may(string()), "response_url_enabled": may(boolean)}),
}
MULTI_SELECTS: Mapping[str, Check] = {
    "multi_static_select": shape(
        {
            **_SELECT,
            **_SEVERAL,
            "options": may(options(100)),
            "option_groups": may(OPTION_GROUPS),
            "initial_options": may(options(100)),
        },
        also=choices,
    ),
    "multi_external_select": shape(
        {**_SELECT, **_SEVERAL, "initial_options": may(options(100)), "min_query_length": may(integer(0))}
    ),
    "multi_users_select": shape({**_SELECT, **_SEVERAL, "initial_users": may(items(string()))}),
    "multi_conversations_select": shape(
        {
            **_SELECT,
            **_SEVERAL,
            "initial_conversations": may(items(string())),
            "default_to_current_conversation": may(boolean),
            "filter": may(FILTER),
        }
    ),
    "multi_channels_select": shape({**_SELECT, **_SEVERAL, "initial_channels": may(items(string()))}),
}
CHOOSERS: Mapping[str, Check] = {
    "checkboxes": shape(
        {
            **_ASKS,
            "options": need(options(10, marked=True)),
            "initial_options": may(options(10, marked=True)),
        },
        also=lambda found, at, value: choices(found, at, {**value, "option_groups": None}),
    ),
    "radio_buttons": shape(
        {
            **_ASKS,
            "options": need(options(10, marked=True)),
            "initial_option": may(option(marked=True)),
        },
        also=lambda found, at, value: choices(found, at, {**value, "option_groups": None}),
    ),
    "datepicker": shape({**_SELECT, "initial_date": may(_DATE)}),
    "timepicker": shape({**_SELECT, "initial_time": may(_TIME), "timezone": may(string())}),
}
DATE_TIME = shape({**_ASKS, "initial_date_time": may(integer(1_000_000_000, 9_999_999_999))})
WORKFLOW_BUTTON = shape(
    {
        **_BASE,
        "text": need(plain(75)),
        "workflow": need(WORKFLOW),
        "style": may(STYLE),
        "accessibility_label": may(string(75)),
    }
)
TYPED: Mapping[str, Check] = {
    "plain_text_input": shape(
        {
            **_INPUT,
            "initial_value": may(string(3000, 0)),
            "multiline": may(boolean),
            "min_length": may(integer(0, 3000)),
            "max_length": may(integer(1, 3000)),
        }
    ),
    "email_text_input": shape({**_INPUT, "initial_value": may(string())}),
    "url_text_input": shape({**_INPUT, "initial_value": may(string())}),
    "number_input": shape(
        {
            **_INPUT,
            "is_decimal_allowed": need(boolean),
            "initial_value": may(string()),
            "min_value": may(string()),
            "max_value": may(string()),
        }
    ),
    "rich_text_input": shape(
        {
            **_INPUT,
            "initial_value": may(anything),
            "min_lines": may(integer(1, 100)),
            "max_lines": may(integer(1, 100)),
        }
    ),
    "file_input": shape(
        {**_BASE, "filetypes": may(items(string())), "max_files": may(integer(1, 10))},
    ),
}

IN_ACTIONS: Mapping[str, Check] = {
    "button": BUTTON,
    "overflow": OVERFLOW,
    "datetimepicker": DATE_TIME,
    "workflow_button": WORKFLOW_BUTTON,
    "rich_text_input": TYPED["rich_text_input"],
    **CHOOSERS,
    **SELECTS,
    **MULTI_SELECTS,
}
IN_SECTION: Mapping[str, Check] = {
    "button": BUTTON,
    "image": IMAGE,
    "overflow": OVERFLOW,
    "workflow_button": WORKFLOW_BUTTON,
    **CHOOSERS,
    **SELECTS,
    **MULTI_SELECTS,
}
IN_INPUT: Mapping[str, Check] = {
    "datetimepicker": DATE_TIME,
    **TYPED,
    **CHOOSERS,
    **SELECTS,
    **MULTI_SELECTS,
}
IN_CONTEXT_ACTIONS: Mapping[str, Check] = {
    "feedback_buttons": shape({**_BASE, "positive_button": need(_FEEDBACK), "negative_button": need(_FEEDBACK)}),
    "icon_button": shape(
        {
            **_BASE,
            "icon": need(one_of("trash")),
            "text": need(plain(75)),
            "value": may(string(2000)),
            "confirm": may(CONFIRM),
            "accessibility_label": may(string(75)),
            "visible_to_user_ids": may(items(string(), most=10)),
        }
    ),
}
INTERACTIVE = frozenset({*IN_ACTIONS, *IN_INPUT, *IN_CONTEXT_ACTIONS})
