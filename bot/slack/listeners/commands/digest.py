"""`/digest`: the latest edition, help, what is saved, or a search. Only the reader sees the answer."""

from __future__ import annotations

import re
from typing import Any

from slack_bolt import Ack, App

from bot.model import Message
from bot.slack.ports import Desk, Reader
from bot.slack.requests import reader_of
from bot.slack.services import Services
from bot.text.normalise import fold

ANY_COMMAND = re.compile(r"^/")
"""A team may rename the command in its manifest; Slack sends us only our own."""

HELP = frozenset({"help", "?", "帮助", "-h", "--help"})
SAVED = frozenset({"saved", "收藏", "已收藏"})


def register(app: App, services: Services) -> None:
    """Register the command."""

    @app.command(ANY_COMMAND)
    def digest(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        # By response_url the answer also reaches direct messages and channels that the bot is not in.
        back = services.response_url(body)
        text = str(body.get("text") or "")
        reader = reader_of(body)
        services.work.start(
            lambda: back.send(answer(services.desk, reader, text)), feature="command digest", teller=back
        )


def answer(desk: Desk, reader: Reader, text: str) -> Message:
    """What the words after `/digest` ask for. Full-width letters and hidden characters are read as meant."""
    word = fold(text).strip().casefold()
    if not word:
        return desk.latest(reader)
    if word in HELP:
        return desk.help(reader)
    if word in SAVED:
        return desk.saved(reader)
    return desk.search(reader, text)
