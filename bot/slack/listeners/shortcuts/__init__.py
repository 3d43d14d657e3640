"""Shortcuts: one in a message's own menu, one that is offered everywhere."""

from __future__ import annotations

from slack_bolt import App

from bot.slack.listeners.shortcuts import save, search
from bot.slack.services import Services


def register(app: App, services: Services) -> None:
    """Register the shortcuts."""
    save.register(app, services)
    search.register(app, services)
