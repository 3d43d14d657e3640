"""The only way to write messages of ours to Slack. Each call is one request, and its end is an `Answer`."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from bot.delivery.values import Answer, AnswerKind
from bot.model import Channel, Message
from bot.slack.answers import answer_of
from bot.slack.deadline import PunctualClient

EVENT_TYPE = "digest_delivery"
"""The type of our message metadata; its payload is `{"id": key}` and nothing that must not be read by everybody."""


class SlackPoster:
    """`bot.delivery.ports.Poster` over slack_sdk."""

    def __init__(self, client: PunctualClient, *, observe: Callable[[float], None] | None = None) -> None:
        """`client` must come from `posting_client`. `observe` is given the seconds that each post took."""
        if client.retry_handlers:
            raise ValueError("a posting client must not retry: it would post twice")
        self._client = client
        self._observe = observe or (lambda _seconds: None)

    def post(
        self,
        channel: Channel,
        message: Message,
        *,
        key: str,
        thread_ts: str | None = None,
        until: datetime | None = None,
    ) -> Answer:
        """Post once, not after `until`, with `key` in the metadata, unfurls off, never broadcast from a thread."""
        arguments: dict[str, Any] = {
            "channel": channel.channel_id,
            "text": message.text,
            "blocks": list(message.blocks),
            "metadata": metadata(key),
            "unfurl_links": False,
            "unfurl_media": False,
        }
        if thread_ts is not None:
            arguments["thread_ts"] = thread_ts
        begun = time.perf_counter()
        with self._client.leaving_before(until):
            answer = answer_of(lambda: self._client.chat_postMessage(**arguments))
        self._observe(time.perf_counter() - begun)
        if answer.kind is AnswerKind.OK and answer.ts is None:
            return Answer(kind=AnswerKind.NOT_JSON, status=answer.status, detail="ok without a ts")
        return answer

    def update(
        self,
        channel: Channel,
        ts: str,
        message: Message,
        *,
        key: str | None = None,
        until: datetime | None = None,
    ) -> Answer:
        """Change a message of ours, not after `until`. Without `key`, Slack keeps the metadata that it has."""
        arguments: dict[str, Any] = {
            "channel": channel.channel_id,
            "ts": ts,
            "text": message.text,
            "blocks": list(message.blocks),
        }
        if key is not None:
            arguments["metadata"] = metadata(key)
        with self._client.leaving_before(until):
            return answer_of(lambda: self._client.chat_update(**arguments))

    def check(self, team_id: str) -> Answer:  # noqa: ARG002  one token, one workspace
        """Ask whether the token is good."""
        return answer_of(self._client.auth_test)


def metadata(key: str) -> dict[str, Any]:
    """The metadata by which a message of ours is found again."""
    return {"event_type": EVENT_TYPE, "event_payload": {"id": key}}
