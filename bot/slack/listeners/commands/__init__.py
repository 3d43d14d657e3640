"""Slash commands."""

from __future__ import annotations

from slack_bolt import App

from bot.slack.listeners.commands import digest
from bot.slack.services import Services


def register(app: App, services: Services) -> None:
    """Register the commands."""
    digest.register(app, services)
