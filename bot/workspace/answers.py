"""What comes back from the app for one interaction: an acknowledgement's payload or a POST to a response URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.workspace.api.call import Call
from bot.workspace.api.content import written
from bot.workspace.core import Workspace
from bot.workspace.errors import SlackError
from bot.workspace.messages import UNSHOWN
from bot.workspace.model import Channel, Identity, Message
from bot.workspace.tickets import ResponseUrl

_NOBODY = Identity(kind="bot", token="", user=None)


def url_of(workspace: Workspace, kind: str, secret: str) -> str:
    """`<url>/commands/<team>/<secret>` or `<url>/actions/...`, as at hooks.slack.com."""
    return f"{workspace.url}/{kind}/{workspace.store.team.id}/{secret}"


def take(workspace: Workspace, secret: str, document: Mapping[str, Any]) -> None:
    """A POST to a response URL. Raises what `Tickets.use` raises and the codes for bad content.

    It works in every channel in which the person acted, whether the bot is a member or not.
    """
    answer(workspace, workspace.tickets.use(secret), secret, document)


def answer(workspace: Workspace, url: ResponseUrl, secret: str, document: Mapping[str, Any]) -> None:
    """Carries out one answer: a new message (ephemeral by default), or a change to the one that `original` means."""
    channel = workspace.store.channels[url.channel]
    original = _original(workspace, channel, url.original)
    if document.get("delete_original"):
        if original is not None:
            workspace.messages.delete(original)
        return
    content = _content(workspace, document)
    if document.get("replace_original") and original is not None:
        changes = {"blocks": None, "attachments": None, **content}
        workspace.messages.change(original, changes, editor=None)
        return
    bot = workspace.store.bot_user
    thread = None
    if document.get("thread_ts"):
        thread = workspace.messages.parent(channel, str(document["thread_ts"]))
    elif original is not None and original.thread_ts is not None:
        thread = workspace.store.rooms[channel.id].get(original.thread_ts)
    if document.get("response_type") == "in_channel":
        message = workspace.messages.post(channel, bot, content, thread=thread)
    else:
        reader = workspace.store.users[url.user]
        message = workspace.messages.post_ephemeral(channel, bot, reader, content, thread=thread)
    if url.original is None:
        workspace.tickets.remember_original(secret, message.ts)


def _content(workspace: Workspace, document: Mapping[str, Any]) -> dict[str, Any]:
    call = Call(workspace=workspace, method="response_url", arguments=document, identity=_NOBODY)
    content = written(call)
    if not content.get("text"):
        content["text"] = UNSHOWN
    return content


def _original(workspace: Workspace, channel: Channel, ts: int | None) -> Message | None:
    if ts is None:
        return None
    return workspace.messages.ephemeral(channel, ts) or workspace.store.rooms[channel.id].get(ts)


def is_message(payload: Any) -> bool:
    """True if the payload of an acknowledgement says something, and is not only a sign of life."""
    return isinstance(payload, dict) and any(payload.get(name) for name in ("text", "blocks", "attachments"))


def quietly(workspace: Workspace, url: ResponseUrl, secret: str, payload: Any) -> str | None:
    """Carries out an acknowledgement's payload; returns the error code if Slack would not show it."""
    if not is_message(payload):
        return None
    try:
        answer(workspace, url, secret, payload)
    except SlackError as problem:
        return problem.code
    return None
