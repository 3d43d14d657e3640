"""Replies in the thread of an entry are counted; deleted ones are forgotten."""

from __future__ import annotations

from typing import Any

from slack_bolt import App

from bot.slack.requests import reader_of
from bot.slack.services import Services

_COUNTED = frozenset({None, "thread_broadcast", "file_share", "me_message"})
"""Subtypes that are somebody's words. `message_changed` comes for unfurls and replies as well, and says nothing new."""


def register(app: App, services: Services) -> None:
    """Register the event."""

    @app.event("message")
    def message(body: dict[str, Any]) -> None:
        event, reader = body["event"], reader_of(body)
        subtype = event.get("subtype")
        if subtype == "message_deleted":
            services.discussion.forget_reply(reader.team_id, str(event["channel"]), str(event["deleted_ts"]))
            return
        thread_ts = event.get("thread_ts")
        if subtype in _COUNTED and thread_ts and not event.get("bot_id"):
            services.discussion.count_reply(
                reader.team_id, str(event["channel"]), str(event["ts"]), str(thread_ts), reader.user_id
            )
