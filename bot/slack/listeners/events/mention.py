"""`@digest-bot vllm rocm`: answered in that thread, where everybody sees it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from slack_bolt import App

from bot.slack.requests import reader_of
from bot.slack.services import Services

_MENTION = re.compile(r"<@[UW][A-Z0-9]+(?:\|[^>]*)?>")


def register(app: App, services: Services) -> None:
    """Register the event."""

    @app.event("app_mention")
    def mentioned(body: dict[str, Any]) -> None:
        event = body["event"]
        if event.get("bot_id") or event.get("subtype") or not event.get("user"):
            # Another bot's words, or an edit of words that were answered already: answering could go round for ever.
            return
        channel_id, thread_ts = str(event["channel"]), str(event.get("thread_ts") or event["ts"])
        # By (channel, ts) rather than by event_id alone: one message is answered once, however often it is told.
        event_id = f"mention:{channel_id}:{event['ts']}"
        text = _MENTION.sub(" ", str(event.get("text") or "")).strip()
        reader = replace(reader_of(body), public=True)
        services.work.start(
            lambda: services.sharing.answer_mention(
                reader, text, event_id=event_id, channel_id=channel_id, thread_ts=thread_ts
            ),
            feature="mention",
            teller=services.whisper(body, channel_id, thread_ts),
        )
