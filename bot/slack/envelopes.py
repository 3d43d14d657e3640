"""Socket Mode envelopes: each goes to Bolt in a thread, and what the listener acked goes back by its id."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from http import HTTPStatus
from typing import Any

from slack_bolt import App, BoltRequest, BoltResponse

from bot.log import get_logger

log = get_logger(__name__)


class Envelopes:
    """Dispatches envelopes to a Bolt app."""

    def __init__(self, app: App, executor: Executor) -> None:
        self._app = app
        self._executor = executor

    def take(self, envelope: Mapping[str, Any], send: Callable[[str], None]) -> None:
        """Work on the envelope in the pool. Returns at once."""
        if is_own_echo(envelope):
            send(json.dumps({"envelope_id": envelope["envelope_id"]}))
            return
        try:
            self._executor.submit(self._work, envelope, send)
        except RuntimeError:  # the pool is closed: the program stops, and Slack delivers again
            log.info("envelope_refused_while_stopping")

    def _work(self, envelope: Mapping[str, Any], send: Callable[[str], None]) -> None:
        try:
            response = self._app.dispatch(
                BoltRequest(mode="socket_mode", body=envelope.get("payload") or {}, headers=_headers(envelope))
            )
            answer = ack(envelope, response)
            if answer is not None:
                send(json.dumps(answer))
        except Exception:  # the edge of a thread: an error here would vanish with its Future
            log.exception("envelope_failed", kind=envelope.get("type"))


def is_own_echo(envelope: Mapping[str, Any]) -> bool:
    """Whether the envelope tells of what a bot has said or changed, which no listener takes up.

    In the morning each message of ours comes back like this: Bolt would spend as long on it as posting has taken.
    """
    event = (envelope.get("payload") or {}).get("event") or {}
    if envelope.get("type") != "events_api" or event.get("type") != "message":
        return False
    return event.get("subtype") in {None, "bot_message"} and bool(event.get("bot_id"))


def ack(envelope: Mapping[str, Any], response: BoltResponse) -> dict[str, Any] | None:
    """What goes back for Bolt's answer; None to let Slack deliver again (or tell the person that it took too long)."""
    answer: dict[str, Any] = {"envelope_id": envelope["envelope_id"]}
    if response.status == HTTPStatus.NOT_FOUND and envelope.get("type") == "events_api":
        return answer  # an event that nobody listens to will have no listener the next time either
    if response.status != HTTPStatus.OK:
        return None
    if response.body:
        is_json = response.headers.get("content-type", [""])[0].startswith("application/json")
        answer["payload"] = json.loads(response.body) if is_json else {"text": response.body}
    return answer


def _headers(envelope: Mapping[str, Any]) -> dict[str, str | Sequence[str]]:
    """The headers that HTTP would carry for a repeated delivery."""
    pairs = (("x-slack-retry-num", "retry_attempt"), ("x-slack-retry-reason", "retry_reason"))
    return {name: str(envelope[key]) for name, key in pairs if envelope.get(key) is not None}
