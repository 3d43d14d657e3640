"""The Home tab, made fresh each time somebody opens it."""

from __future__ import annotations

from typing import Any

from slack_bolt import App

from bot.slack.requests import reader_of
from bot.slack.services import Services


def register(app: App, services: Services) -> None:
    """Register the event."""

    @app.event("app_home_opened")
    def opened(body: dict[str, Any]) -> None:
        if body["event"].get("tab") != "home":
            return
        reader = reader_of(body)
        services.work.start(lambda: services.publish_home(reader), feature="home", teller=None)
