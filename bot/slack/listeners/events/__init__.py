"""What happens in the workspace. Bolt acks every event by itself, before its listener runs."""

from __future__ import annotations

from slack_bolt import App

from bot.slack.listeners.events import home, joined, mention, reactions, replies
from bot.slack.services import Services


def register(app: App, services: Services) -> None:
    """Register the events."""
    for feature in (home, joined, mention, reactions, replies):
        feature.register(app, services)
