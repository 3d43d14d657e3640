"""Socket Mode: one connection that Slack's requests come through, replaced without a gap when Slack asks for it.

Not slack_sdk's own client: after a connection that breaks without a close frame that one spins on the dead socket for
40 seconds before it notices, and while it replaces a connection it can send no ack for up to 3 seconds.
Here a new link is open before the old one is let go, and an ack leaves through the link its request came by.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack

from slack_bolt import App
from websockets.exceptions import InvalidHandshake, InvalidURI, WebSocketException
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as open_websocket

from bot.errors import SlackUnavailable
from bot.log import get_logger
from bot.slack.asking import Refused, ask
from bot.slack.backoff import Backoff
from bot.slack.client import reading_client
from bot.slack.envelopes import Envelopes
from bot.slack.link import Link
from bot.slack.pool import DaemonPool

log = get_logger(__name__)

CONCURRENCY = 32
"""Requests whose ack is awaited at the same time."""
OPEN_SECONDS = 10.0
PING_SECONDS = 10.0
LARGEST = 4 * 1024 * 1024

_ADVICE = {
    "invalid_auth": "SLACK_APP_TOKEN is not accepted: make one with the scope connections:write in the app's settings",
    "not_authed": "SLACK_APP_TOKEN is empty",
    "not_allowed_token_type": "SLACK_APP_TOKEN must be the app-level token, which begins with xapp-",
    "missing_scope": "the app-level token lacks the scope connections:write",
    "token_revoked": "the app-level token was revoked: make a new one in the app's settings",
    "account_inactive": "the app was uninstalled",
}


class Socket:
    """The Socket Mode side of one app. Methods may be called from any thread."""

    def __init__(self, *, app: App, app_token: str, api_url: str | None = None) -> None:
        self._client = reading_client(None, api_url=api_url)
        self._app_token = app_token
        self._pool = DaemonPool(CONCURRENCY, name="slack-socket")
        self._envelopes = Envelopes(app, self._pool)
        self._changed = threading.Condition()
        self._links: list[Link] = []
        self._closing = False
        self._problem: str | None = "not started"
        self._keeper = threading.Thread(target=self._keep, name="slack-socket-keeper", daemon=True)

    def connect(self) -> None:
        """Open the connection, and keep it open from now on. Idempotent.

        Raises `SlackUnavailable` with what to do where the app token is refused. Where Slack is only out of reach, the
        program goes on: the connection is tried again in the background, and `problem` says why it is not there.
        """
        if self._keeper.is_alive():
            return
        try:
            self._open()
        except Refused as refused:
            if refused.retry_after is None and refused.code in _ADVICE:
                raise SlackUnavailable(f"{refused}: {_ADVICE[refused.code]}") from refused
            self._fail(refused)
        except SlackUnavailable as error:
            self._fail(error)
        self._keeper.start()

    def is_connected(self) -> bool:
        """Whether requests can come in at this moment."""
        with self._changed:
            return any(link.is_open for link in self._links)

    @property
    def problem(self) -> str | None:
        """Why there is no connection, for a person; None while there is one."""
        with self._changed:
            return None if any(link.is_open for link in self._links) else self._problem

    def close(self, timeout: float = 3.0) -> None:
        """Close the connection and finish the acks in hand, within about `timeout` seconds. Idempotent."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            links = list(self._links)
        for link in links:
            link.close()
        for thread in (self._keeper, *(link.thread for link in links)):
            if thread.is_alive():
                thread.join(timeout)
        self._pool.shutdown(cancel_futures=True, timeout=timeout)

    # --- the keeper's thread ---

    def _keep(self) -> None:
        """Open a link whenever there is no fresh one."""
        backoff = Backoff()
        while self._wait_until_needed():
            try:
                self._open()
            except SlackUnavailable as error:
                self._fail(error)
                pause = error.retry_after if isinstance(error, Refused) else None
                self._pause(backoff.next() if pause is None else pause)
            else:
                backoff.reset()

    def _wait_until_needed(self) -> bool:
        """Block until a link is needed; False when the socket is being closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing or not any(link.is_fresh for link in self._links))
            return not self._closing

    def _pause(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closing, seconds)

    def _open(self) -> None:
        """Add a link. Raises `SlackUnavailable`."""
        connection = self._handshake()
        link = Link(connection, take=self._envelopes.take, changed=self._notice)
        with self._changed:
            if self._closing:
                connection.close()
                return
            older = list(self._links)
            self._links.append(link)
        link.start()
        if not link.greeted.wait(OPEN_SECONDS) or not link.is_open:
            link.close()
            raise SlackUnavailable("Slack opened a connection and did not say hello")
        for each in older:
            each.retire()
        with self._changed:
            self._problem = None
        log.info("socket_connected", link=link.name)

    def _handshake(self) -> ClientConnection:
        url = str(ask("apps.connections.open", self._client.apps_connections_open, app_token=self._app_token)["url"])
        try:
            opened = open_websocket(
                url,
                # Plain ws is a local workspace, which no proxy reaches.
                proxy=None if url.startswith("ws://") else True,
                open_timeout=OPEN_SECONDS,
                ping_interval=PING_SECONDS,
                ping_timeout=PING_SECONDS,
                close_timeout=1,
                max_size=LARGEST,
                # Every message of ours comes back as an event: inflating it costs more than it saves.
                compression=None,
            )
            # Entered as websockets 17 wants it; leaving it means to close, which the link does.
            return ExitStack().enter_context(opened)
        except (WebSocketException, InvalidHandshake, InvalidURI, OSError, ValueError) as error:
            raise SlackUnavailable(f"no Socket Mode connection: {type(error).__name__}") from error

    def _notice(self, link: Link) -> None:
        """A link greeted, was told to go, or ended."""
        with self._changed:
            if link.is_over and link in self._links:
                self._links.remove(link)
                if not self._closing:
                    self._problem = f"connection lost ({link.reason})"
                    log.info("socket_lost", link=link.name, reason=link.reason)
            self._changed.notify_all()

    def _fail(self, error: SlackUnavailable) -> None:
        """Remember why there is no connection; a cause that goes on is logged once."""
        text = str(error)
        with self._changed:
            known, self._problem = self._problem, text
        if known != text:
            log.warning("socket_unavailable", reason=text)
