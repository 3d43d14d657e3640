"""The search modal: the answer appears under its field."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from bot.render import actions
from bot.slack.listeners.actions.search import show_results
from bot.slack.requests import reader_of, view_id_of, view_state
from bot.slack.services import Services


def register(app: App, services: Services) -> None:
    """Register the form."""

    @app.view(actions.SEARCH_VIEW)
    def submitted(ack: Ack, body: dict[str, Any]) -> None:
        query = view_state(body, actions.SEARCH_BLOCK, actions.SEARCH_INPUT)
        # An empty ack would close the modal; the search itself may take longer than an ack.
        ack(response_action="update", view=services.desk.search_form(reader_of(body), query=query))
        view_id = view_id_of(body)
        if view_id is not None:
            show_results(services, body, view_id, query)
