"""Interactivity payloads. Shapes: slackapi/bolt-python scenario tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.workspace.core import Workspace
from bot.workspace.model import Channel, Json, Message, User, View
from bot.workspace.presenting import present
from bot.workspace.timestamps import show


def channel_name(channel: Channel) -> str:
    """What payloads call the channel: direct and private ones do not tell their names."""
    return {"channel": channel.name, "group": "privategroup", "im": "directmessage"}[channel.kind]


def slash_command(workspace: Workspace, user: User, channel: Channel, *, command: str, text: str, url: str) -> Json:
    """A typed command."""
    app, team = workspace.store.app, workspace.store.team
    return {
        "token": app.verification_token,
        "team_id": team.id,
        "team_domain": team.domain,
        "channel_id": channel.id,
        "channel_name": channel_name(channel),
        "user_id": user.id,
        "user_name": user.name,
        "command": command,
        "text": text,
        "api_app_id": app.id,
        "is_enterprise_install": "false",
        "response_url": url,
        "trigger_id": workspace.tickets.trigger(user.id),
    }


def _interaction(workspace: Workspace, kind: str, user: User, *, view_id: str | None = None) -> Json:
    app, team = workspace.store.app, workspace.store.team
    return {
        "type": kind,
        "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": team.id},
        "api_app_id": app.id,
        "token": app.verification_token,
        "team": {"id": team.id, "domain": team.domain},
        "enterprise": None,
        "is_enterprise_install": False,
        "trigger_id": workspace.tickets.trigger(user.id, view_id),
    }


def message_action(
    workspace: Workspace,
    user: User,
    channel: Channel,
    message: Message,
    *,
    action: Json,
    state: Mapping[str, Any],
    url: str,
) -> Json:
    """`block_actions` from a message, ephemeral or not."""
    is_ephemeral = message.only_for is not None
    container: Json = {
        "type": "message",
        "message_ts": show(message.ts),
        "channel_id": channel.id,
        "is_ephemeral": is_ephemeral,
    }
    if message.thread_ts is not None:
        container["thread_ts"] = show(message.thread_ts)
    payload = {
        **_interaction(workspace, "block_actions", user),
        "container": container,
        "channel": {"id": channel.id, "name": channel_name(channel)},
        "state": {"values": dict(state)},
        "response_url": url,
        "actions": [action],
    }
    if not is_ephemeral:
        # Slack does not tell the app what an ephemeral message said.
        payload["message"] = present(workspace.store, message)
    return payload


def view_action(workspace: Workspace, user: User, view: View, action: Json) -> Json:
    """`block_actions` from a modal or the Home tab."""
    return {
        **_interaction(workspace, "block_actions", user, view_id=view.id),
        "container": {"type": "view", "view_id": view.id},
        "view": workspace.modals.present(view),
        "actions": [action],
    }


def view_submission(workspace: Workspace, user: User, view: View) -> Json:
    """A submitted modal."""
    return {
        **_interaction(workspace, "view_submission", user, view_id=view.id),
        "view": workspace.modals.present(view),
        "response_urls": [],
    }


def view_closed(workspace: Workspace, user: User, view: View, *, is_cleared: bool) -> Json:
    """A modal closed without submission."""
    payload = _interaction(workspace, "view_closed", user)
    del payload["trigger_id"]
    return {**payload, "view": workspace.modals.present(view), "is_cleared": is_cleared}


def global_shortcut(workspace: Workspace, user: User, callback_id: str) -> Json:
    """A shortcut chosen from the menu."""
    return {
        **_interaction(workspace, "shortcut", user),
        "callback_id": callback_id,
        "action_ts": show(int(workspace.clock() * 1_000_000)),
    }


def message_shortcut(
    workspace: Workspace, user: User, channel: Channel, message: Message, *, callback_id: str, url: str
) -> Json:
    """A shortcut chosen on a message."""
    return {
        **_interaction(workspace, "message_action", user),
        "callback_id": callback_id,
        "action_ts": show(int(workspace.clock() * 1_000_000)),
        "message_ts": show(message.ts),
        "channel": {"id": channel.id, "name": channel_name(channel)},
        "message": present(workspace.store, message),
        "response_url": url,
    }
