"""Opening an entry, keeping it, and the way to sharing it."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from bot.render import actions
from bot.slack.ports import Said
from bot.slack.requests import entry_id_of, is_ephemeral, reader_of, surface, view_id_of
from bot.slack.services import Services, tell

GONE = Said(key="entry_gone", values={})


def register(app: App, services: Services) -> None:
    """Register the clicks on entries."""

    @app.action(actions.ENTRY_OPEN)
    def open_entry(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        services.work.run(lambda: _open(services, body), feature="open entry", teller=services.teller(body))

    @app.action(actions.ENTRY_SHARE)
    def open_share_form(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        services.work.run(lambda: _ask_for_comment(services, body), feature="share", teller=services.teller(body))

    @app.action(actions.ENTRY_SAVE)
    def save(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        services.work.start(lambda: _keep(services, body, saved=True), feature="save", teller=services.teller(body))

    @app.action(actions.ENTRY_UNSAVE)
    def unsave(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        services.work.start(lambda: _keep(services, body, saved=False), feature="unsave", teller=services.teller(body))

    @app.action(actions.ENTRY_THREAD)
    def follow_link(ack: Ack) -> None:
        ack()


def _open(services: Services, body: dict[str, Any]) -> None:
    entry_id = entry_id_of(body)
    view = None if entry_id is None else services.desk.entry(reader_of(body), entry_id)
    if view is None:
        _say(services, body, GONE)
    else:
        services.open_view(body, view)


def _ask_for_comment(services: Services, body: dict[str, Any]) -> None:
    entry_id = entry_id_of(body)
    view = None if entry_id is None else services.desk.share_form(reader_of(body), entry_id)
    if view is None:
        _say(services, body, GONE)
    else:
        services.open_view(body, view)


def _keep(services: Services, body: dict[str, Any], *, saved: bool) -> None:
    """Save or take out, then show the place of the click as it is now."""
    entry_id = entry_id_of(body)
    reader = reader_of(body)
    said = GONE if entry_id is None else services.desk.keep(reader, entry_id, saved=saved)
    place, view_id = surface(body), view_id_of(body)
    if place == "home":
        services.publish_home(reader)
    elif place == "modal" and view_id is not None and entry_id is not None and said.key != GONE.key:
        shown = services.desk.entry(reader, entry_id)
        if shown is not None:
            services.view(body, view_id).show(shown)
    elif place == "message" and not saved:
        services.response_url(body).send(services.desk.saved(reader), replace=is_ephemeral(body))
    else:
        _say(services, body, said)


def _say(services: Services, body: dict[str, Any], said: Said) -> None:
    back = services.teller(body)
    if back is not None:
        tell(back, said)
