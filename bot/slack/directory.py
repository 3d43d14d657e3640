"""Names and IDs, who may see what, and the address of a message."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from slack_sdk import WebClient

from bot.errors import SlackUnavailable
from bot.slack.asking import PAGE, PAGES, Refused, ask, pages
from bot.slack.memory import Remembered

REST_SECONDS = 12.0
"""How long a listing that lacks a name is trusted, for each page after the first: a quarter of what Slack allows."""


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
        self._monotonic = monotonic
        self._listing = threading.Lock()
        self._walk: tuple[str, dict[str, str]] | None = None
        self._list_at = 0.0
        self._listed: dict[str, str] = {}
        self._list_again_at = 0.0
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

    def channel_ids(self, names: Collection[str]) -> dict[str, str]:
        """The IDs of channels by their names (`#general` or `general`), by one walk; names that it does not see lack.

        A large workspace has hundreds of pages, and Slack lets twenty of them be read in a minute: a walk that is told
        to wait goes on where it was told so, at a later call, and until then `Refused` says how long. A walk that found
        not every name is not begun anew at once: the longer it was, the later.
        """
        with self._listing:
            wanted = {name: name.removeprefix("#") for name in names}
            now = self._monotonic()
            if now < self._list_at:
                raise Refused("conversations.list", "ratelimited", status=429, retry_after=self._list_at - now)
            complete = self._walk is None and bool(self._listed)
            known = set(wanted.values()) <= self._listed.keys()
            if not (complete and (known or now < self._list_again_at)):
                self._list(now)
            return {name: self._listed[bare] for name, bare in wanted.items() if bare in self._listed}

    def _list(self, now: float) -> None:
        """Walk on through the channels, from the beginning or from where Slack asked for a pause."""
        cursor, found = self._walk or ("", {})
        for page_number in range(PAGES):
            try:
                page = ask(
                    "conversations.list",
                    self._client.conversations_list,
                    types="public_channel,private_channel",
                    exclude_archived=True,
                    limit=PAGE,
                    **({"cursor": cursor} if cursor else {}),
                )
            except Refused as refused:
                # A cursor that is no longer good is not asked for again.
                self._walk = (cursor, found) if refused.retry_after is not None else None
                self._list_at = now + (refused.retry_after or 0.0)
                raise
            found |= {str(one.get("name")): str(one["id"]) for one in page["channels"]}
            cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                self._walk, self._listed = None, found
                self._list_again_at = now + REST_SECONDS * (max(page_number, len(found) // PAGE))
                return
        self._walk = None
        raise SlackUnavailable(f"Slack has more than {PAGES} pages of conversations.list: the rest was not read")

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
        if thread_ts is None or thread_ts == ts:
            return f"{self.identity().url}archives/{channel_id}/p{ts.replace('.', '')}"
        return self.thread_link(channel_id, ts, thread_ts)

    def thread_link(self, channel_id: str, ts: str, thread_ts: str | None = None) -> str:
        """The same with the thread open beside it, also where nobody has replied yet."""
        address = f"{self.identity().url}archives/{channel_id}/p{ts.replace('.', '')}"
        return f"{address}?thread_ts={thread_ts or ts}&cid={channel_id}"

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
