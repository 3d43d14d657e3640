"""Names and IDs, who may see what, and the address of a message."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from slack_sdk import WebClient

from bot.slack.asking import PAGE, Refused, ask, pages
from bot.slack.memory import Remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the bot is, in which workspace."""

    team_id: str
    team: str
    url: str
    """The workspace's address, with a slash at its end."""
    bot_id: str
    bot_user_id: str


class Directory:
    """Asks Slack once and remembers. All methods raise `SlackUnavailable` unless they say otherwise."""

    def __init__(self, client: WebClient, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._identity: Identity | None = None
        self._lock = threading.Lock()
        self._public = Remembered(self._is_public, otherwise=False, monotonic=monotonic)
        self._channels_of: Remembered[str, frozenset[str]] = Remembered(
            self._find_channels_of, otherwise=frozenset(), monotonic=monotonic
        )

    def identity(self) -> Identity:
        """The bot's identity by `auth.test`, asked once. Raises `Refused` where the token is not accepted."""
        with self._lock:
            if self._identity is None:
                found = ask("auth.test", self._client.auth_test)
                self._identity = Identity(
                    team_id=found["team_id"],
                    team=str(found.get("team", "")),
                    url=str(found["url"]).rstrip("/") + "/",
                    bot_id=str(found.get("bot_id", "")),
                    bot_user_id=found["user_id"],
                )
            return self._identity

    def check_token(self) -> None:
        """Ask `auth.test` afresh: returns where the token is accepted, raises `Refused` where it is not."""
        ask("auth.test", self._client.auth_test)

    def channel_id(self, name: str) -> str | None:
        """The ID of a channel by its name (`#general` or `general`), or None where the bot sees no such channel."""
        wanted = name.removeprefix("#")
        for page in pages(
            "conversations.list",
            self._client.conversations_list,
            types="public_channel,private_channel",
            exclude_archived=True,
            limit=PAGE,
        ):
            for channel in page["channels"]:
                if channel.get("name") == wanted:
                    return str(channel["id"])
        return None

    def is_member(self, channel_id: str) -> bool:
        """Whether the bot is in the channel; a channel that it cannot see counts as no."""
        try:
            found = ask("conversations.info", self._client.conversations_info, channel=channel_id)
        except Refused as refused:
            if refused.code == "channel_not_found":
                return False
            raise
        return bool(found["channel"].get("is_member"))

    def may_see(self, *, user_id: str | None, channel_id: str) -> bool:
        """Whether this person (None: everybody) can open a message of the channel. In doubt no; raises nothing."""
        if user_id is not None and self.is_in(user_id=user_id, channel_id=channel_id):
            return True
        return self._public.get(channel_id)

    def is_in(self, *, user_id: str, channel_id: str) -> bool:
        """Whether this person is a member of the channel. In doubt no; raises nothing."""
        return channel_id in self._channels_of.get(user_id)

    def permalink(self, channel_id: str, ts: str, thread_ts: str | None = None) -> str:
        """The address of a message, computed: `chat.getPermalink` would be one call for each hit of a search."""
        address = f"{self.identity().url}archives/{channel_id}/p{ts.replace('.', '')}"
        if thread_ts is None or thread_ts == ts:
            return address
        return f"{address}?thread_ts={thread_ts}&cid={channel_id}"

    def _is_public(self, channel_id: str) -> bool:
        channel = ask("conversations.info", self._client.conversations_info, channel=channel_id)["channel"]
        return bool(channel.get("is_channel")) and not channel.get("is_private")

    def _find_channels_of(self, user_id: str) -> frozenset[str]:
        """One question for all the person's channels; of private ones Slack names only those the bot is in as well."""
        listing = pages(
            "users.conversations",
            self._client.users_conversations,
            user=user_id,
            types="public_channel,private_channel",
            exclude_archived=False,
            limit=PAGE,
        )
        return frozenset(str(channel["id"]) for page in listing for channel in page["channels"])
