"""Reactions under an entry are counted."""

from __future__ import annotations

from typing import Any

from slack_bolt import App

from bot.slack.requests import reader_of
from bot.slack.services import Services


def register(app: App, services: Services) -> None:
    """Register the events."""

    @app.event("reaction_added")
    def added(body: dict[str, Any]) -> None:
        _count(services, body, present=True)

    @app.event("reaction_removed")
    def removed(body: dict[str, Any]) -> None:
        _count(services, body, present=False)


def _count(services: Services, body: dict[str, Any], *, present: bool) -> None:
    event = body["event"]
    item = event.get("item") or {}
    if item.get("type") != "message":
        return
    act = services.discussion.count_reaction if present else services.discussion.forget_reaction
    reader = reader_of(body)
    act(reader.team_id, str(item["channel"]), str(item["ts"]), reader.user_id, str(event["reaction"]))
