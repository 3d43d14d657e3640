"""Looking for a message of ours, by the id in its metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from bot.delivery.values import Absent, CannotLook, Found, Look
from bot.errors import SlackUnavailable
from bot.model import Channel
from bot.slack.asking import PAGE, Refused, pages
from bot.slack.poster import EVENT_TYPE

CLOCK_SKEW = timedelta(hours=1)
"""How far our clock may have been ahead of Slack's when the message was sent: an hour of a channel is a page or two."""
LOOK_AGAIN = timedelta(seconds=30)

_NEEDS_A_PERSON = frozenset(
    {
        "missing_scope",
        "not_in_channel",
        "channel_not_found",
        "thread_not_found",
        "no_permission",
        "access_denied",
    }
)


class SlackHistory:
    """`bot.delivery.ports.History` over slack_sdk."""

    def __init__(self, client: WebClient, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """`client` may retry: it only reads."""
        self._client = client
        self._now = now

    def find(self, channel: Channel, *, key: str, oldest: datetime, thread_ts: str | None = None) -> Look:
        """Look through every page of the channel (or the thread) since `oldest`. Raises nothing."""
        since = f"{(min(oldest, self._now()) - CLOCK_SKEW).timestamp():.6f}"
        method = "conversations.history"
        call: Callable[..., SlackResponse] = self._client.conversations_history
        arguments: dict[str, Any] = {"channel": channel.channel_id, "oldest": since}
        if thread_ts is not None:
            method, call = "conversations.replies", self._client.conversations_replies
            arguments["ts"] = thread_ts
        try:
            for page in pages(method, call, **arguments, inclusive=True, limit=PAGE, include_all_metadata=True):
                for message in page["messages"]:
                    if _carries(message, key):
                        return Found(ts=str(message["ts"]))
        except Refused as refused:
            return self._refusal(refused)
        except (SlackUnavailable, KeyError, TypeError) as error:
            return CannotLook(reason=str(error), retry_at=self._now() + LOOK_AGAIN)
        return Absent()

    def _refusal(self, refused: Refused) -> CannotLook:
        if refused.code in _NEEDS_A_PERSON:
            return CannotLook(reason=refused.code)
        wait = LOOK_AGAIN if refused.retry_after is None else timedelta(seconds=refused.retry_after)
        return CannotLook(reason=refused.code, retry_at=self._now() + wait)


def _carries(message: Mapping[str, Any], key: str) -> bool:
    found = message.get("metadata") or {}
    return found.get("event_type") == EVENT_TYPE and (found.get("event_payload") or {}).get("id") == key
