"""What an app may do, from its manifest (schema v0.5 / 2.0)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.workspace import ids
from bot.workspace.model import App, Command, Shortcut

DEFAULT_MANIFEST: Mapping[str, Any] = {
    "display_information": {"name": "digest-bot"},
    "features": {
        "app_home": {"home_tab_enabled": True, "messages_tab_enabled": True},
        "bot_user": {"display_name": "digest-bot", "always_online": True},
        "slash_commands": [
            {"command": "/digest", "description": "Look up the digest", "usage_hint": "[words | help]"},
        ],
        "shortcuts": [
            {
                "type": "message",
                "callback_id": "entry_save",
                "name": "Save entry",
                "description": "Keep this entry in your own list",
            },
            {
                "type": "global",
                "callback_id": "search_digests",
                "name": "Search digests",
                "description": "Find an entry of any past digest",
            },
        ],
    },
    "settings": {
        "event_subscriptions": {
            "bot_events": [
                "app_home_opened",
                "app_mention",
                "member_joined_channel",
                "message.channels",
                "message.groups",
                "message.im",
                "reaction_added",
                "reaction_removed",
            ]
        },
        "interactivity": {"is_enabled": True},
        "socket_mode_enabled": True,
    },
}


def first_app(team_name: str, name: str) -> App:
    """The app as the default manifest describes it; all IDs follow from the names."""
    blank = App(
        id=ids.derive("A", team_name, name),
        name=name,
        bot_id=ids.derive("B", team_name, name),
        bot_user_id=ids.derive("U", team_name, name),
        verification_token=f"verification-local-{name}",
        signing_secret=f"signing-local-{name}",
        commands=(),
        shortcuts=(),
        events=frozenset(),
    )
    return apply_manifest(blank, DEFAULT_MANIFEST)


def apply_manifest(app: App, manifest: Mapping[str, Any]) -> App:
    """The app with what this manifest names. Without a list of scopes it may do everything."""
    features = manifest.get("features", {})
    settings = manifest.get("settings", {})
    subscriptions = settings.get("event_subscriptions", {})
    scopes = manifest.get("oauth_config", {}).get("scopes", {}).get("bot")
    return replace(
        app,
        commands=tuple(
            Command(
                command=each["command"],
                description=each.get("description", ""),
                usage_hint=each.get("usage_hint", ""),
                should_escape=each.get("should_escape", False),
            )
            for each in features.get("slash_commands", ())
        ),
        shortcuts=tuple(
            Shortcut(
                type=each["type"],
                callback_id=each["callback_id"],
                name=each["name"],
                description=each.get("description", ""),
            )
            for each in features.get("shortcuts", ())
        ),
        events=frozenset(subscriptions.get("bot_events", ())),
        home_enabled=features.get("app_home", {}).get("home_tab_enabled", False),
        scopes=None if scopes is None else frozenset(scopes),
    )
