"""`reactions.*`."""

from __future__ import annotations

import re

from bot.workspace.api.call import Call, Method
from bot.workspace.errors import SlackError
from bot.workspace.model import Json, Message
from bot.workspace.presenting import permalink, present
from bot.workspace.timestamps import micros

# Names of Slack's own emoji and of a team's; letters of any script.
_NAME = re.compile(r"[\w+'-]{1,100}(::skin-tone-[2-6])?")


def methods() -> dict[str, Method]:
    """The methods of this family."""
    return {
        "reactions.add": Method(handler=add, tier=3),
        "reactions.remove": Method(handler=remove, tier=2),
        "reactions.get": Method(handler=get, tier=3),
    }


def add(call: Call) -> Json:
    """React to a message."""
    call.scope("reactions:write")
    message = _message(call)
    call.workspace.messages.react(message, call.user, emoji_name(call.required("name")))
    return {"ok": True}


def remove(call: Call) -> Json:
    """Take a reaction of one's own back."""
    call.scope("reactions:write")
    message = _message(call)
    call.workspace.messages.unreact(message, call.user, emoji_name(call.required("name")))
    return {"ok": True}


def get(call: Call) -> Json:
    """Give a message with its reactions."""
    call.scope("reactions:read")
    message = _message(call, to_write=False)
    workspace = call.workspace
    document = present(workspace.store, message)
    document["permalink"] = permalink(workspace.url, message)
    return {"ok": True, "type": "message", "channel": message.channel, "message": document}


def emoji_name(text: str) -> str:
    """Raises `invalid_name`."""
    name = text.strip(":")
    if _NAME.fullmatch(name) is None:
        raise SlackError("invalid_name")
    return name


def _message(call: Call, *, to_write: bool = True) -> Message:
    reference, timestamp = call.text("channel"), call.text("timestamp")
    if not reference or not timestamp:
        raise SlackError("no_item_specified")
    channel = call.workspace.channel(reference, call.user)
    try:
        micros(timestamp)
    except ValueError as problem:
        raise SlackError("bad_timestamp") from problem
    if to_write and channel.is_archived:
        raise SlackError("is_archived")
    if call.identity.kind == "bot" and call.user.id not in channel.members:
        raise SlackError("not_in_channel")
    return call.workspace.messages.get(channel, timestamp)
