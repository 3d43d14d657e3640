"""Buttons, selects, inputs and modals: what a person does with the interactive parts of messages and views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.workspace import answers, payloads
from bot.workspace.blocks.layout import interactive
from bot.workspace.errors import SlackError
from bot.workspace.interactions import NOT_DONE, Person, Refused
from bot.workspace.model import Json, Message, View
from bot.workspace.timestamps import micros, show

_VALUES = {
    "users_select": "selected_user",
    "conversations_select": "selected_conversation",
    "channels_select": "selected_channel",
    "multi_users_select": "selected_users",
    "multi_conversations_select": "selected_conversations",
    "multi_channels_select": "selected_channels",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "datetimepicker": "selected_date_time",
    "rich_text_input": "rich_text_value",
}
_ONE_OPTION = frozenset({"static_select", "external_select", "radio_buttons", "overflow"})
_SEVERAL_OPTIONS = frozenset({"checkboxes", "multi_static_select", "multi_external_select"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Act:
    """What a person did: which element, what she chose or typed there, and what stands in the other inputs."""

    block_id: str
    action_id: str
    value: Any = None
    state: Mapping[str, Any] = field(default_factory=dict)


async def act_on_message(  # noqa: PLR0917 - where, which element, what
    person: Person,
    channel_id: str,
    ts: str,
    block_id: str,
    action_id: str,
    value: Any = None,
    state: Mapping[str, Any] | None = None,
) -> None:
    """Works one element of a message: `value` is what was chosen or typed, `state` what stands in other inputs."""
    act = _Act(block_id=block_id, action_id=action_id, value=value, state=state or {})
    workspace = person.workspace
    channel = person.channel(channel_id)
    message = _shown(person, channel_id, ts)
    element = _element(message.document.get("blocks", ()), act.block_id, act.action_id)
    secret = workspace.tickets.response_url(person.user.id, channel.id, message.ts)
    url = answers.url_of(workspace, "actions", secret)
    action = _action(person, act, element)
    await person.ask(
        payloads.message_action(workspace, person.user, channel, message, action=action, state=act.state, url=url)
    )


async def act_on_view(  # noqa: PLR0917 - where, which element, what
    person: Person,
    view_id: str,
    block_id: str,
    action_id: str,
    value: Any = None,
    state: Mapping[str, Any] | None = None,
) -> None:
    """Works one element of a modal or the Home tab: like `act_on_message`."""
    act = _Act(block_id=block_id, action_id=action_id, value=value, state=state or {})
    view = _own_view(person, view_id)
    element = _element(view.document["blocks"], act.block_id, act.action_id)
    action = _action(person, act, element)
    entered = {name: dict(each) for name, each in act.state.items()}
    if element["type"] != "button":
        entered.setdefault(act.block_id, {})[act.action_id] = _state_of(element, act.value)
    view = person.workspace.modals.keep_state(view, entered)
    await person.ask(payloads.view_action(person.workspace, person.user, view, action))


async def submit(person: Person, view_id: str, state: Mapping[str, Any]) -> None:
    """Submits a modal and does what the app's `response_action` says. Raises `Refused("view_errors")` with `errors`."""
    modals = person.workspace.modals
    view = modals.keep_state(_own_view(person, view_id), state)
    missing = _missing(view)
    if missing:
        raise Refused("view_errors", "Please complete this required field.", errors=missing)
    reply = await person.ask(payloads.view_submission(person.workspace, person.user, view))
    action = reply.get("response_action") if isinstance(reply, dict) else None
    try:
        match action:
            case None:
                modals.close(view)
            case "clear":
                modals.close(view, whole_stack=True)
            case "errors":
                raise Refused("view_errors", "The app found mistakes.", errors=reply.get("errors", {}))
            case "update":
                modals.update(view, reply.get("view"))
            case "push":
                modals.open(person.user, reply.get("view"), push_on=view)
            case _:
                raise Refused("invalid_response_action", NOT_DONE)
    except SlackError as problem:
        raise Refused(problem.code, NOT_DONE, **problem.extra) from problem


async def close(person: Person, view_id: str) -> None:
    """Closes a modal with its X or Cancel; the app hears of it if the view asked for that."""
    view = _own_view(person, view_id)
    is_cleared = bool(view.document.get("clear_on_close"))
    for closed in person.workspace.modals.close(view, whole_stack=is_cleared):
        if closed.document.get("notify_on_close"):
            await person.ask(payloads.view_closed(person.workspace, person.user, closed, is_cleared=is_cleared))


def _shown(person: Person, channel_id: str, ts: str) -> Message:
    channel = person.channel(channel_id)
    try:
        ephemeral = person.workspace.messages.ephemeral(channel, micros(ts))
    except ValueError as problem:
        raise SlackError("message_not_found") from problem
    if ephemeral is not None and ephemeral.only_for == person.user.id:
        return ephemeral
    return person.workspace.messages.get(channel, ts)


def _own_view(person: Person, view_id: str) -> View:
    view = person.workspace.modals.find(view_id)
    if view.user != person.user.id:
        raise SlackError("not_found")
    return view


def _element(blocks: Any, block_id: str, action_id: str) -> Json:
    for block in blocks:
        if block.get("block_id") == block_id:
            for _, element in interactive(block):
                if element.get("action_id") == action_id:
                    return element
    raise SlackError("action_not_found")


def _action(person: Person, act: _Act, element: Json) -> Json:
    action = {
        "action_id": element["action_id"],
        "block_id": act.block_id,
        "type": element["type"],
        "action_ts": show(int(person.workspace.clock() * 1_000_000)),
    }
    if element["type"] == "button":
        action |= {"text": element["text"], **({"value": element["value"]} if "value" in element else {})}
    elif element["type"] in {"icon_button", "feedback_buttons", "workflow_button"}:
        action |= {"value": act.value}
    else:
        action |= {name: each for name, each in _state_of(element, act.value).items() if name != "type"}
        if "placeholder" in element:
            action["placeholder"] = element["placeholder"]
    return action


def _state_of(element: Json, value: Any) -> Json:
    """What `state.values` holds for an element after this choice. Raises `invalid_option` for a choice not on offer."""
    kind = element["type"]
    if kind in _ONE_OPTION:
        return {"type": kind, "selected_option": None if value is None else _option(element, value)}
    if kind in _SEVERAL_OPTIONS:
        return {"type": kind, "selected_options": [_option(element, each) for each in value or ()]}
    return {"type": kind, _VALUES.get(kind, "value"): value}


def _option(element: Json, value: Any) -> Json:
    wanted = value.get("value") if isinstance(value, dict) else value
    offered = [
        *element.get("options", ()),
        *(each for group in element.get("option_groups", ()) for each in group["options"]),
    ]
    for each in offered:
        if each["value"] == wanted:
            return dict(each)
    if element["type"] == "external_select" and isinstance(value, dict):
        return value
    raise SlackError("invalid_option")


def _missing(view: View) -> dict[str, str]:
    """Required inputs without a value: Slack's client does not let such a modal go."""
    missing = {}
    for block in view.document["blocks"]:
        if block["type"] != "input" or block.get("optional"):
            continue
        entered = view.state.get(block["block_id"], {}).get(block["element"]["action_id"], {})
        values = [each for name, each in entered.items() if name != "type"]
        if not any(each not in (None, "", []) for each in values):
            missing[block["block_id"]] = "Please complete this required field."
    return missing
