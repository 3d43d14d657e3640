"""Somebody invited the bot: what waited for that goes out at once instead of at the next try."""

from __future__ import annotations

from typing import Any

from slack_bolt import App

from bot.slack.requests import reader_of
from bot.slack.services import Services


def register(app: App, services: Services) -> None:
    """Register the event."""

    @app.event("member_joined_channel")
    def joined(body: dict[str, Any]) -> None:
        event = body["event"]
        if event.get("user") == services.identity().bot_user_id:
            services.membership.joined(team_id=reader_of(body).team_id, channel_id=str(event["channel"]))
