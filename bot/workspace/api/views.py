"""`views.*` and `blocks.validate`."""

from __future__ import annotations

from typing import Any

from bot.workspace.api.call import Call, Method
from bot.workspace.blocks.layout import check_blocks
from bot.workspace.blocks.schema import Problem
from bot.workspace.blocks.views import check_view
from bot.workspace.errors import SlackError, bad_arguments
from bot.workspace.model import Json

_BOT = frozenset({"bot"})


def methods() -> dict[str, Method]:
    """The methods of this family."""
    return {
        "views.open": Method(handler=open_view, tier=4, tokens=_BOT),
        "views.push": Method(handler=push_view, tier=4, tokens=_BOT),
        "views.update": Method(handler=update_view, tier=4, tokens=_BOT),
        "views.publish": Method(handler=publish_view, tier=4, tokens=_BOT),
    }


def open_view(call: Call) -> Json:
    """Open a modal in answer to a trigger."""
    workspace = call.workspace
    view = _view(call)
    trigger = workspace.tickets.exchange(call.required("trigger_id"))
    user = workspace.store.users[trigger.user]
    return _answer(call, workspace.modals.open(user, view))


def push_view(call: Call) -> Json:
    """Lay a modal on top of the one in which the trigger was made."""
    workspace = call.workspace
    view = _view(call)
    trigger = workspace.tickets.exchange(call.required("trigger_id"))
    if trigger.view_id is None:
        raise SlackError("not_found")
    below = workspace.modals.find(trigger.view_id)
    user = workspace.store.users[trigger.user]
    return _answer(call, workspace.modals.open(user, view, push_on=below))


def update_view(call: Call) -> Json:
    """Replace an open view."""
    modals = call.workspace.modals
    view = _view(call)
    known = modals.find(call.text("view_id"), call.text("external_id"))
    return _answer(call, modals.update(known, view, expected=call.text("hash")))


def publish_view(call: Call) -> Json:
    """Set a person's Home tab."""
    workspace = call.workspace
    view = _view(call)
    user = workspace.store.users.get(call.required("user_id"))
    if user is None or user.is_bot:
        raise bad_arguments("invalid `user_id` [json-pointer:/user_id]")
    return _answer(call, workspace.modals.publish(user, view, expected=call.text("hash")))


def validate(arguments: Call) -> Json:
    """`blocks.validate`: needs no token."""
    given = [name for name in ("blocks", "message", "view") if arguments.arguments.get(name) is not None]
    if len(given) != 1:
        message = "must provide exactly one of `blocks`, `view`, or `message`"
        raise SlackError("invalid_arguments", response_metadata={"messages": [message]})
    kind = given[0]
    document = arguments.structure(kind, "invalid_arguments")
    problems = _problems(kind, document)
    if problems:
        raise SlackError(
            f"invalid_{kind}",
            errors=[
                {"code": "failed_constraint", "message": each.message, "pointer": each.pointer} for each in problems
            ],
        )
    return {"ok": True}


def _problems(kind: str, document: Any) -> tuple[Problem, ...]:
    if kind == "view":
        return check_view(document)
    if kind == "message":
        blocks = document.get("blocks", []) if isinstance(document, dict) else None
        found = check_blocks(blocks, "message") if blocks is not None else ()
        return tuple(Problem(pointer=f"/blocks{each.pointer}", message=each.message) for each in found)
    return check_blocks(document, "message")


def _view(call: Call) -> Any:
    view = call.structure("view", "invalid_arguments")
    if view is None:
        raise bad_arguments("missing required field: view")
    return view


def _answer(call: Call, view: Any) -> Json:
    return {"ok": True, "view": call.workspace.modals.present(view)}
