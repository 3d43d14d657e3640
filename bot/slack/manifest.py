"""The app manifest: what a workspace's administrator agrees to, each scope with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bot.model import Language
from bot.render import actions

NAME = "digest-bot"
COMMAND = "/digest"
EVENTS_PATH = "/slack/events"

SCOPES: Mapping[str, str] = MappingProxyType(
    {
        "chat:write": "post the digest and its updates in the channels the bot was invited to",
        "commands": "offer /digest, the message shortcut and the search shortcut",
        "channels:read": "find a public channel by its name, and see who may see a message before linking to it",
        "groups:read": "the same in the private channels the bot was invited to",
        "channels:history": "look whether a post whose answer was lost has arrived, and count replies in threads",
        "groups:history": "the same in the private channels the bot was invited to",
        "app_mentions:read": "answer a mention of the bot in its thread",
        "reactions:read": "count the reactions under an entry",
    }
)
"""Bot scope to the reason for it. Eight is the most that this project asks for."""

BOT_EVENTS = (
    "app_home_opened",
    "app_mention",
    "member_joined_channel",
    "message.channels",
    "message.groups",
    "reaction_added",
    "reaction_removed",
)

APP_TOKEN_SCOPE = "connections:write"  # noqa: S105  a scope's name
"""The scope of the app-level token that Socket Mode needs; it is chosen in the app's settings, not in the manifest."""

_WORDS: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {
        Language.ZH: {
            "app": "把每天的导读发到频道，一条只发一次；中英文都能查回来。",
            "command": "今天的导读，或查以前的导读",
            "usage": "[词语 | today | saved | help]",
            "save": "收藏导读",
            "save_text": "把这条导读收进应用主页",
            "search": "搜索导读",
            "search_text": "用中文或英文查以前的导读",
        },
        Language.EN: {
            "app": "Posts the daily digest entry by entry, each once, and finds it again in Chinese and English.",
            "command": "Today's digest, or a search in past ones",
            "usage": "[words | today | saved | help]",
            "save": "Save entry",
            "save_text": "Keep this entry in the app's Home",
            "search": "Search digests",
            "search_text": "Find past entries in Chinese or English",
        },
    }
)


def manifest(http_url: str | None = None, *, language: Language = Language.EN) -> dict[str, Any]:
    """The manifest of an app in Socket Mode, or of one served at `http_url` (`https://host`, without a path).

    An app is of one kind or the other. Print it with `json.dumps(..., ensure_ascii=True)`: Slack's command line reads
    the file in the locale's encoding.
    """
    words = _WORDS[language]
    request_url = None if http_url is None else http_url.rstrip("/") + EVENTS_PATH
    command: dict[str, Any] = {
        "command": COMMAND,
        "description": words["command"],
        "usage_hint": words["usage"],
        "should_escape": False,
    }
    subscriptions: dict[str, Any] = {"bot_events": list(BOT_EVENTS)}
    interactivity: dict[str, Any] = {"is_enabled": True}
    if request_url is not None:
        for part, key in ((command, "url"), (subscriptions, "request_url"), (interactivity, "request_url")):
            part[key] = request_url
    return {
        "display_information": {"name": NAME, "description": words["app"]},
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": False,
                "messages_tab_read_only_enabled": True,
            },
            "bot_user": {"display_name": NAME, "always_online": True},
            "slash_commands": [command],
            "shortcuts": [
                {
                    "type": "message",
                    "callback_id": actions.SAVE_SHORTCUT,
                    "name": words["save"],
                    "description": words["save_text"],
                },
                {
                    "type": "global",
                    "callback_id": actions.SEARCH_SHORTCUT,
                    "name": words["search"],
                    "description": words["search_text"],
                },
            ],
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "event_subscriptions": subscriptions,
            "interactivity": interactivity,
            "org_deploy_enabled": False,
            "socket_mode_enabled": request_url is None,
            "token_rotation_enabled": False,
        },
    }
