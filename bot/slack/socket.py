"""The Socket Mode connection: opened once, kept by slack_sdk through refreshes and drops, closed on demand."""

from __future__ import annotations

import logging

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk.errors import SlackApiError

from bot.errors import SlackUnavailable
from bot.log import get_logger
from bot.slack.asking import refusal
from bot.slack.client import reading_client

log = get_logger(__name__)

CONCURRENCY = 24
"""Envelopes worked on at the same time. Each waits here for its ack, so this bounds simultaneous commands."""
PING_SECONDS = 10.0

_ADVICE = {
    "invalid_auth": "SLACK_APP_TOKEN is not accepted: make one with the scope connections:write in the app's settings",
    "not_allowed_token_type": "SLACK_APP_TOKEN must be the app-level token, which begins with xapp-",
    "missing_scope": "the app-level token lacks the scope connections:write",
    "socket_mode_disabled": "Socket Mode is off in the app's settings",
    "forbidden_team": "the workspace does not allow this app",
}


class Socket:
    """One Socket Mode connection. Lost connections are opened again by slack_sdk's monitor every few seconds."""

    def __init__(self, *, app: App, app_token: str, api_url: str | None = None) -> None:
        client = reading_client(None, api_url=api_url)
        self._handler = SocketModeHandler(
            app,
            app_token,
            logger=logging.getLogger("slack_sdk.socket_mode"),
            web_client=client,
            proxy=client.proxy,
            ping_interval=PING_SECONDS,
            receive_buffer_size=16 * 1024,
            concurrency=CONCURRENCY,
        )
        if client.base_url.startswith("http://"):
            # Only a local workspace speaks plain HTTP, and no proxy reaches it. slack_sdk takes the environment's.
            self._handler.client.proxy = None

    def connect(self) -> None:
        """Open the connection. Raises `SlackUnavailable`, with what to do where the app token is refused."""
        try:
            self._handler.connect()  # type: ignore[no-untyped-call]
        except SlackApiError as error:
            refused = refusal("apps.connections.open", error)
            advice = _ADVICE.get(refused.code)
            raise SlackUnavailable(f"{refused}: {advice}" if advice else str(refused)) from error
        except Exception as error:
            # slack_sdk raises bare exceptions of many kinds from its WebSocket handshake.
            raise SlackUnavailable(f"no Socket Mode connection: {type(error).__name__}: {error}") from error
        log.info("socket_connected", session=self._handler.client.session_id())

    def is_connected(self) -> bool:
        """Whether a connection is open at this moment; false for the second or two of a reconnect."""
        return bool(self._handler.client.is_connected())

    def close(self) -> None:
        """Close the connection and end its threads. Idempotent."""
        self._handler.close()  # type: ignore[no-untyped-call]
