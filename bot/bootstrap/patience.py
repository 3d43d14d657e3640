"""Waiting at start for what is only away: Slack out of reach, or a database that is not up yet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import structlog

from bot.errors import SlackUnavailable, StorageRefused, StorageUnavailable
from bot.slack.backoff import Backoff

_log = structlog.get_logger("bot.bootstrap")

T = TypeVar("T")


def once_possible(make: Callable[[], T], *, wait: Callable[[float], object] | None = None) -> T:
    """Call `make` until nothing it needs is away, with growing pauses; each cause is logged once.

    Whatever waiting does not help (a refused token or password, an old schema, a wrong configuration) goes on as the
    error it is.
    """
    pause = wait or threading.Event().wait
    backoff, told = Backoff(), ""
    while True:
        try:
            made = make()
        except StorageRefused:
            raise
        except (SlackUnavailable, StorageUnavailable) as error:
            if str(error) != told:
                told = str(error)
                _log.warning("waiting_to_start", reason=told)
            pause(max(backoff.next(), float(getattr(error, "retry_after", None) or 0.0)))
        else:
            if told:
                _log.info("waited_enough_to_start")
            return made
