"""The global shortcut "Search digests"."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from bot.render import actions
from bot.slack.requests import reader_of
from bot.slack.services import Services


def register(app: App, services: Services) -> None:
    """Register the shortcut."""

    @app.global_shortcut(actions.SEARCH_SHORTCUT)
    def search(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        services.work.run(lambda: _open(services, body), feature="search shortcut", teller=services.teller(body))


def _open(services: Services, body: dict[str, Any]) -> None:
    services.open_view(body, services.desk.search_form(reader_of(body)))
