"""The message shortcut that keeps an entry: it costs no line in the channel."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from bot.render import actions
from bot.slack.requests import reader_of
from bot.slack.services import Services, tell


def register(app: App, services: Services) -> None:
    """Register the shortcut."""

    @app.message_shortcut(actions.SAVE_SHORTCUT)
    def save(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        back = services.response_url(body)
        reader = reader_of(body)
        channel_id, ts = str(body["channel"]["id"]), str(body["message_ts"])
        services.work.start(
            lambda: tell(back, services.desk.keep_message(reader, channel_id=channel_id, ts=ts)),
            feature="save message",
            teller=back,
        )
