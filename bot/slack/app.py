"""The Bolt app: made here, filled by the listeners."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from slack_bolt import App
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient

from bot.slack.directory import Identity
from bot.slack.pool import DaemonPool
from bot.slack.work import Failures, Teller

__all__ = ["App", "build_app", "close_app"]
# App is exported too: whoever wires the parts names its type without importing Slack's libraries.

ACK_THREADS = 32
"""Listeners only ack, read a row or open a view here. Bolt's own five let the sixth slow command time out."""


def build_app(
    *,
    identity: Callable[[], Identity],
    token: str,
    client: WebClient,
    failures: Failures,
    teller: Callable[[dict[str, Any]], Teller | None],
) -> App:
    """A Bolt app without listeners. Makes no request: the token is checked by whoever calls `Directory.identity`.

    It believes every request: over HTTP, `bot.slack.http` asks for the signature before. `client` gives base URL and
    time-outs. `teller` finds out from a request's body how to reach the person behind it.
    """
    logger = logging.getLogger("slack_bolt")
    quiet = _OneWarningLess()
    logger.addFilter(quiet)
    try:
        app = App(
            name="digest-bot",
            logger=logger,
            client=client,
            authorize=_authorize(identity, token),
            token_verification_enabled=False,
            # Bolt reads the body before it asks whose it is, and logs a refused one whole.
            request_verification_enabled=False,
            ignoring_self_events_enabled=True,
            attaching_function_token_enabled=False,
            attaching_conversation_kwargs_enabled=False,
            listener_executor=DaemonPool(ACK_THREADS, name="slack-ack"),
        )
    finally:
        logger.removeFilter(quiet)

    @app.error
    def report(error: Exception, body: dict[str, Any]) -> None:
        failures.report(error, feature=_feature(body), teller=teller(body))

    return app


def close_app(app: App, timeout: float = 3.0) -> None:
    """End the app's threads; what runs has `timeout` seconds to end."""
    pool = app.listener_runner.listener_executor
    if isinstance(pool, DaemonPool):
        pool.shutdown(cancel_futures=True, timeout=timeout)


def _authorize(identity: Callable[[], Identity], token: str) -> Callable[..., AuthorizeResult]:
    # Bolt's single-team way asks auth.test in the first request, before its ack; ours is known from the start.
    def authorize(**_context: Any) -> AuthorizeResult:
        known = identity()
        return AuthorizeResult(
            enterprise_id=None,
            team_id=known.team_id,
            bot_id=known.bot_id,
            bot_user_id=known.bot_user_id,
            bot_token=token,
        )

    return authorize


def _feature(body: dict[str, Any]) -> str:
    """A name for the log: the kind of request and its listener, nothing that a person wrote."""
    if "command" in body:
        return f"command {body['command']}"
    if "event" in body:
        return f"event {body['event'].get('type')}"
    actions = body.get("actions") or [{}]
    return f"{body.get('type')} {actions[0].get('action_id') or body.get('callback_id') or ''}".strip()


class _OneWarningLess(logging.Filter):
    """Bolt reads SLACK_BOT_TOKEN by itself and then warns that it goes unused. It does: `authorize` gives the token."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        return "`token` will be unused" not in text and "SLACK_BOT_TOKEN env variable" not in text
