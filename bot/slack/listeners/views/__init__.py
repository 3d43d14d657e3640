"""Forms that were submitted."""

from __future__ import annotations

from slack_bolt import App

from bot.slack.listeners.views import search, share
from bot.slack.services import Services


def register(app: App, services: Services) -> None:
    """Register the forms."""
    search.register(app, services)
    share.register(app, services)
