"""Clicks."""

from __future__ import annotations

import re

from slack_bolt import Ack, App

from bot.slack.listeners.actions import entry, search
from bot.slack.services import Services


def register(app: App, services: Services) -> None:
    """Register the clicks; those of no interest (a button that is a link, one of an older version) are acked."""
    entry.register(app, services)
    search.register(app, services)

    @app.action(re.compile(""))
    def anything_else(ack: Ack) -> None:
        ack()
