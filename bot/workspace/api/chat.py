"""`chat.*`: posting, updating, deleting."""

from __future__ import annotations

from typing import Any

from bot.workspace.api.call import Call, Method
from bot.workspace.api.content import (
    LONGEST_TEXT,
    LONGEST_UPDATE,
    accept_metadata,
    has_rich_text,
    written,
)
from bot.workspace.errors import SlackError
from bot.workspace.messages import UNSHOWN
from bot.workspace.model import Channel, Json, Message
from bot.workspace.presenting import permalink, present
from bot.workspace.timestamps import show

MEMBERS_ONLY_WITHOUT = "chat:write.public"


def methods() -> dict[str, Method]:
    """The methods of this family."""
    return {
        "chat.postMessage": Method(handler=post_message, tier=5),
        "chat.postEphemeral": Method(handler=post_ephemeral, tier=4),
        "chat.update": Method(handler=update, tier=3),
        "chat.delete": Method(handler=delete, tier=3),
        "chat.getPermalink": Method(handler=get_permalink, tier=5),
    }


def post_message(call: Call) -> Json:
    """Post a message to a channel or a thread."""
    call.scope("chat:write")
    workspace = call.workspace
    channel = _writable(call)
    content = written(call)
    warnings = {}
    text = content.get("text", "")
    if len(text) > LONGEST_TEXT:
        content["text"] = text[:LONGEST_TEXT]
        warnings = {"warning": "message_truncated", "response_metadata": {"warnings": ["message_truncated"]}}
    if not text:
        content["text"] = UNSHOWN
    metadata = call.structure("metadata", "invalid_metadata_format")
    if metadata:
        if call.identity.kind != "bot":
            raise SlackError("metadata_must_be_sent_from_app")
        content["metadata"] = accept_metadata(metadata)
    thread_ts = call.text("thread_ts")
    thread = workspace.messages.parent(channel, thread_ts) if thread_ts else None
    message = workspace.messages.post(
        channel,
        call.user,
        content,
        thread=thread,
        broadcast=call.flag("reply_broadcast"),
    )
    return {
        "ok": True,
        "channel": channel.id,
        "ts": show(message.ts),
        "message": present(workspace.store, message, with_metadata=True),
        **warnings,
    }


def post_ephemeral(call: Call) -> Json:
    """Show a message to one member of a channel."""
    call.scope("chat:write")
    workspace = call.workspace
    channel = _writable(call)
    reader = workspace.store.users.get(call.required("user"))
    if reader is None or reader.id not in channel.members:
        raise SlackError("user_not_in_channel")
    content = written(call)
    if len(content.get("text", "")) > LONGEST_TEXT:
        raise SlackError("msg_too_long")
    thread_ts = call.text("thread_ts")
    thread = workspace.messages.parent(channel, thread_ts) if thread_ts else None
    message = workspace.messages.post_ephemeral(channel, call.user, reader, content, thread=thread)
    return {"ok": True, "message_ts": show(message.ts)}


def update(call: Call) -> Json:
    """Parts that are not named stay: text alone leaves the blocks, `blocks=[]` takes them away."""
    call.scope("chat:write")
    workspace = call.workspace
    channel, message = _own(call, "cant_update_message")
    if channel.is_archived:
        raise SlackError("is_inactive")
    content = _changed(call)
    text = content.get("text", "")
    if len(text) > LONGEST_UPDATE:
        raise SlackError("msg_too_long")
    if content.get("blocks") and has_rich_text(message.document) and not has_rich_text(content):
        raise SlackError("block_mismatch")
    if "blocks" in content and "text" not in content:
        content["text"] = UNSHOWN
    metadata = call.structure("metadata", "invalid_metadata_format")
    if metadata is not None:
        content["metadata"] = accept_metadata(metadata) if metadata else None
    changed = workspace.messages.change(message, content, editor=call.user)
    return {
        "ok": True,
        "channel": channel.id,
        "ts": show(changed.ts),
        "text": changed.document["text"],
        "message": present(workspace.store, changed, with_metadata=True),
    }


def _changed(call: Call) -> dict[str, Any]:
    """Like `written`, but empty blocks with a text are a request to remove them."""
    emptied = call.structure("blocks", "invalid_blocks_format") == [] and bool(call.text("text"))
    content = written(call)
    if emptied:
        content["blocks"] = None
    return content


def delete(call: Call) -> Json:
    """Delete a message of one's own."""
    call.scope("chat:write")
    channel, message = _own(call, "cant_delete_message")
    call.workspace.messages.delete(message)
    return {"ok": True, "channel": channel.id, "ts": show(message.ts)}


def get_permalink(call: Call) -> Json:
    """Give the address of a message."""
    workspace = call.workspace
    channel = workspace.channel(call.required("channel"), call.user)
    message = workspace.messages.get(channel, call.required("message_ts"))
    return {"ok": True, "channel": channel.id, "permalink": permalink(workspace.url, message)}


def _writable(call: Call) -> Channel:
    """Raises `channel_not_found`, `is_archived`, `not_in_channel`, and what the channel refuses with."""
    workspace = call.workspace
    channel = workspace.channel_to_post(call.required("channel"), call.user)
    if channel.is_archived:
        raise SlackError("is_archived")
    if call.user.id not in channel.members and not _may_post_unjoined(call):
        raise SlackError("not_in_channel")
    if channel.refusal is not None and call.identity.kind == "bot":
        raise SlackError(channel.refusal)
    return channel


def _may_post_unjoined(call: Call) -> bool:
    scopes = call.workspace.store.app.scopes
    return call.identity.kind == "bot" and scopes is not None and MEMBERS_ONLY_WITHOUT in scopes


def _own(call: Call, refusal: str) -> tuple[Channel, Message]:
    channel = call.workspace.channel(call.required("channel"), call.user)
    message = call.workspace.messages.get(channel, call.required("ts"))
    if message.user != call.user.id:
        raise SlackError(refusal)
    return channel, message
