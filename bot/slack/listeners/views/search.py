"""The search modal: the answer appears under its field."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from bot.render import actions
from bot.slack.listeners.actions.search import show_results
from bot.slack.requests import reader_of, view_state
from bot.slack.services import Services

WITH_ACK_SECONDS = 1.0
"""How long the ack waits for the answer; Slack waits for three."""


def register(app: App, services: Services) -> None:
    """Register the form."""

    @app.view(actions.SEARCH_VIEW)
    def submitted(ack: Ack, body: dict[str, Any]) -> None:
        query = view_state(body, actions.SEARCH_BLOCK, actions.SEARCH_INPUT)
        back = services.submitted_view(body)
        show_results(services, body, back, query)
        # An empty ack would close the modal. Mostly the answer is there at once and goes with it.
        view = back.for_ack(WITH_ACK_SECONDS) or services.desk.search_form(reader_of(body), query=query)
        ack(response_action="update", view=dict(view))
