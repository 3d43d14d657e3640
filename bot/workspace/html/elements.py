"""Interactive elements: buttons, menus, inputs.

Controls are the browser's own where it has one, so keyboards and screen readers know them already.
What the page needs to send a click back stands in `data-` attributes; nothing here is a script.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from bot.workspace.html import rich_text
from bot.workspace.html.markup import (
    EMPTY,
    Html,
    Json,
    element,
    join,
    language,
    raw_text,
    safe_href,
    text,
)
from bot.workspace.html.objects import confirm_data, options_of, plain

_INPUT_TYPES = {
    "plain_text_input": "text",
    "email_text_input": "email",
    "url_text_input": "url",
    "number_input": "number",
    "datepicker": "date",
    "timepicker": "time",
    "datetimepicker": "datetime-local",
}
_PEOPLE_AND_CHANNELS = ("users", "channels", "conversations")


def render_element(item: Json, *, label: str = "") -> Html:
    """Return one block element; `label` names an element that carries no words of its own."""
    kind = str(item.get("type", ""))
    drawer = _DRAWERS.get(kind)
    if drawer is not None:
        return drawer(item, label)
    if kind == "image":
        return image_box(item)
    return rich_text.unknown("element", kind)


def _hooks(item: Json) -> dict[str, str | int | bool | None]:
    return {
        "data-action-id": str(item.get("action_id", "")),
        "data-type": str(item.get("type", "")),
        "data-confirm": confirm_data(item),
    }


def _button(item: Json, _label: str) -> Html:
    label = plain(item.get("text"))
    style = item.get("style")
    css = f"btn btn-{style}" if style in ("primary", "danger") else "btn"
    attributes = _hooks(item) | {
        "class": css,
        "data-value": str(item["value"]) if "value" in item else None,
        "aria-label": str(item["accessibility_label"]) if item.get("accessibility_label") else None,
        "lang": language(label),
    }
    href = safe_href(item.get("url"))
    if href is not None:
        target = {"href": href, "target": "_blank", "rel": "noopener noreferrer"}
        return element("a", attributes | target, text(label))
    return element("button", attributes | {"type": "button"}, text(label))


def _feedback_buttons(item: Json, _label: str) -> Html:
    both = (item.get(f"{side}_button") or {} for side in ("positive", "negative"))
    shared = {"action_id": item.get("action_id", ""), "type": "feedback_buttons"}
    return join(_button({**button, **shared}, "") for button in both)


def _select(item: Json, label: str) -> Html:
    """Draw a menu of which one option is taken; an `external_select` has no source here and is disabled."""
    kind = str(item.get("type", ""))
    placeholder = plain(item.get("placeholder")) or "Select an option"
    chosen = _initial_value(item)
    source = kind.partition("_")[0]
    head = element(
        "option",
        {"value": "", "disabled": True, "hidden": True, "selected": chosen is None},
        text(placeholder),
    )
    attributes = _hooks(item) | {
        "class": "select",
        "aria-label": label or placeholder,
        "data-source": source if source in _PEOPLE_AND_CHANNELS else None,
        "data-chosen": chosen,
        "disabled": kind == "external_select",
        "lang": language(placeholder),
    }
    groups = item.get("option_groups")
    if groups:
        body = join(
            element(
                "optgroup",
                {"label": plain(group.get("label"))},
                *(_option(option, chosen) for option in group.get("options") or []),
            )
            for group in groups
        )
    else:
        body = join(_option(option, chosen) for option in options_of(item))
    return element("select", attributes, head, body)


def _initial_value(item: Json) -> str | None:
    initial = item.get("initial_option")
    if isinstance(initial, dict):
        return str(initial.get("value", ""))
    for key in ("initial_user", "initial_channel", "initial_conversation"):
        if item.get(key):
            return str(item[key])
    return None


def _option(option: Json, chosen: str | None) -> Html:
    label, value = plain(option.get("text")), str(option.get("value", ""))
    return element("option", {"value": value, "selected": value == chosen, "lang": language(label)}, text(label))


def _multi_select(item: Json, label: str) -> Html:
    """Draw several of many as check boxes: a native multiple list needs a modifier key."""
    placeholder = plain(item.get("placeholder")) or "Select options"
    summary = element("summary", {"class": "select"}, text(placeholder))
    kind = str(item.get("type", "")).removeprefix("multi_").partition("_")[0]
    attributes = _hooks(item) | {
        "class": "multi",
        "data-source": kind if kind in _PEOPLE_AND_CHANNELS else None,
    }
    group = {"class": "multi-options", "role": "group", "aria-label": label or placeholder}
    return element(
        "details", attributes, summary, element("div", group, *_choices(item, "checkbox", "initial_options"))
    )


def _choice_group(item: Json, label: str) -> Html:
    kind = "checkbox" if item.get("type") == "checkboxes" else "radio"
    initial = "initial_options" if kind == "checkbox" else "initial_option"
    role = "group" if kind == "checkbox" else "radiogroup"
    attributes = _hooks(item) | {"class": "choices", "role": role, "aria-label": label or "Options"}
    return element("div", attributes, *_choices(item, kind, initial))


def _choices(item: Json, kind: str, initial: str) -> list[Html]:
    given = item.get(initial)
    taken = given if isinstance(given, list) else [given] if given else []
    values = {str(option.get("value", "")) for option in taken}
    return [_choice(option, kind, str(item.get("action_id", "")), values) for option in options_of(item)]


def _choice(option: Json, kind: str, name: str, values: set[str]) -> Html:
    label, value = plain(option.get("text")), str(option.get("value", ""))
    box = element("input", {"type": kind, "name": name, "value": value, "checked": value in values})
    description = plain(option.get("description"))
    note = element("span", {"class": "choice-note"}, text(description)) if description else EMPTY
    words = element("span", {"class": "choice-text", "lang": language(label)}, text(label), note)
    return element("label", {"class": "choice"}, box, words)


def _overflow(item: Json, _label: str) -> Html:
    summary = element("summary", {"class": "btn btn-overflow", "aria-label": "More options"}, text("⋯"))
    options = (
        element(
            "button",
            {
                "type": "button",
                "role": "menuitem",
                "class": "menu-item",
                "data-option": str(option.get("value", "")),
            },
            text(plain(option.get("text"))),
        )
        for option in options_of(item)
    )
    menu = element("div", {"class": "menu", "role": "menu"}, *options)
    return element("details", _hooks(item) | {"class": "overflow"}, summary, menu)


def _text_input(item: Json, label: str) -> Html:
    kind = str(item.get("type", ""))
    config = item.get("dispatch_action_config")
    triggers = config.get("trigger_actions_on") if isinstance(config, dict) else None
    placeholder = plain(item.get("placeholder"))
    initial = _initial_text(item)
    attributes = _hooks(item) | {
        "class": "field",
        "placeholder": placeholder or None,
        "aria-label": label or placeholder or None,
        "data-triggers": " ".join(map(str, triggers)) if triggers else None,
        "minlength": item.get("min_length"),
        "maxlength": item.get("max_length"),
        "lang": language(placeholder),
        "autocomplete": "off",
    }
    if item.get("multiline") or kind == "rich_text_input":
        return element("textarea", attributes | {"rows": 4}, raw_text(initial))
    only_whole = kind == "number_input" and not item.get("is_decimal_allowed")
    bounds = {
        "min": item.get("min_value"),
        "max": item.get("max_value"),
        "step": None if kind != "number_input" else "1" if only_whole else "any",
    }
    return element("input", attributes | bounds | {"type": _INPUT_TYPES[kind], "value": initial or None})


def _initial_text(item: Json) -> str:
    moment = item.get("initial_date_time")
    if isinstance(moment, int):
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M")
    for key in ("initial_value", "initial_date", "initial_time"):
        if isinstance(item.get(key), str):
            return str(item[key])
    return ""


def image_box(item: Json) -> Html:
    """Return the words of an image: pages of ours load nothing from elsewhere."""
    alt = str(item.get("alt_text", ""))
    attributes = {"class": "image-box", "role": "img", "aria-label": alt or "Image", "lang": language(alt)}
    return element("span", attributes, text(alt or "Image"))


_DRAWERS: dict[str, Callable[[Json, str], Html]] = {
    "button": _button,
    "workflow_button": _button,
    "icon_button": _button,
    "feedback_buttons": _feedback_buttons,
    "overflow": _overflow,
    "checkboxes": _choice_group,
    "radio_buttons": _choice_group,
    "rich_text_input": _text_input,
    **dict.fromkeys(_INPUT_TYPES, _text_input),
    **dict.fromkeys(
        ("static_select", "external_select", "users_select", "channels_select", "conversations_select"),
        _select,
    ),
    **dict.fromkeys(
        ("multi_static_select", "multi_users_select", "multi_channels_select", "multi_conversations_select"),
        _multi_select,
    ),
}
