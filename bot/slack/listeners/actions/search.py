"""Turning the page of a search, and the search field of the Home tab."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from bot.render import actions
from bot.slack.reply import View
from bot.slack.requests import chosen, is_ephemeral, reader_of, surface, view_id_of, view_state
from bot.slack.services import Services


def register(app: App, services: Services) -> None:
    """Register the clicks on searches."""

    @app.action(actions.SEARCH_NEXT)
    def next_page(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        services.work.start(lambda: _turn(services, body), feature="next page", teller=services.teller(body))

    @app.action(actions.HOME_SEARCH)
    def home_search(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        services.work.run(lambda: _from_home(services, body), feature="search", teller=services.teller(body))

    @app.action(actions.SEARCH_INPUT)
    def search_again(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        view_id = view_id_of(body)
        if view_id is not None:
            show_results(services, body, services.view(body, view_id), chosen(body))


def _turn(services: Services, body: dict[str, Any]) -> None:
    reader = reader_of(body)
    page = services.desk.page(reader, chosen(body))
    view_id = view_id_of(body)
    if surface(body) == "modal" and view_id is not None:
        query = view_state(body, actions.SEARCH_BLOCK, actions.SEARCH_INPUT)
        services.view(body, view_id).show(services.desk.search_form(reader, query=query, answer=page))
    else:
        # A page that everybody sees (a mention's answer) is left as it is: one reader's click is not everybody's.
        services.response_url(body).send(page, replace=is_ephemeral(body))


def _from_home(services: Services, body: dict[str, Any]) -> None:
    query = chosen(body)
    # The modal opens before the search begins: the trigger would not wait for it.
    view_id = services.open_view(body, services.desk.search_form(reader_of(body), query=query))
    show_results(services, body, services.view(body, view_id), query)


def show_results(services: Services, body: dict[str, Any], view: View, query: str) -> None:
    """Search, and show the answer in the search modal once it is there. Returns at once."""
    reader = reader_of(body)

    def search() -> None:
        view.show(services.desk.search_form(reader, query=query, answer=services.desk.search(reader, query)))

    services.work.start(search, feature="search", teller=view)
