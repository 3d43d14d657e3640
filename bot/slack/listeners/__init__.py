"""Bolt's listeners, by kind, one feature a file. Each acks first; what takes time happens after the ack."""

from __future__ import annotations

from slack_bolt import App

from bot.slack.listeners import actions, commands, events, shortcuts, views
from bot.slack.services import Services


def register(app: App, services: Services) -> None:
    """Register every listener. Called once per app."""
    for kind in (commands, actions, shortcuts, events, views):
        kind.register(app, services)
