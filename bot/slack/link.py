"""One WebSocket of Socket Mode, read by a thread of its own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import orjson
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from bot.log import get_logger

log = get_logger(__name__)

RETIRED_SECONDS = 5.0
"""How long a replaced link is still read: what Slack sent down it before is not lost."""

Take: TypeAlias = Callable[[Mapping[str, Any], Callable[[str], None]], None]
"""Takes an envelope, and the function that sends its ack. Returns at once."""


class Link:
    """Reads until it breaks, is told to go and then is replaced, or is closed."""

    def __init__(self, connection: ClientConnection, *, take: Take, changed: Callable[[Link], None]) -> None:
        """`changed` is called, from the link's thread, when one of the flags below has changed."""
        self._connection = connection
        self._take = take
        self._changed = changed
        self.name = str(connection.id)[:8]
        self.greeted = threading.Event()
        self.reason = "closed"
        self.is_over = False
        self._told_to_go = False
        self._retired_at: float | None = None
        self.thread = threading.Thread(target=self._read, name=f"slack-link-{self.name}", daemon=True)

    @property
    def is_open(self) -> bool:
        """Whether Slack has said hello and the connection stands."""
        return self.greeted.is_set() and not self.is_over

    @property
    def is_fresh(self) -> bool:
        """Whether it will do: neither over nor told to go."""
        return not self.is_over and not self._told_to_go

    def start(self) -> None:
        """Begin to read."""
        self.thread.start()

    def retire(self) -> None:
        """Read on for a few seconds, then close."""
        self._retired_at = time.monotonic()

    def close(self) -> None:
        """Close now. Idempotent."""
        self._connection.close()

    def send(self, text: str) -> None:
        """Send an ack. An ack that cannot leave is only logged: Slack will deliver the request again."""
        try:
            self._connection.send(text)
        except ConnectionClosed:
            log.info("ack_lost", link=self.name)

    def _read(self) -> None:
        try:
            while not self._is_due_to_close():
                try:
                    raw = self._connection.recv(timeout=1.0, decode=False)
                except TimeoutError:
                    continue
                self._handle(raw)
        except ConnectionClosed as closed:
            self.reason = str(closed.rcvd.code) if closed.rcvd else "broken"
        finally:
            self._connection.close()
            self.is_over = True
            # Who waits for the greeting need not wait for a link that ended without one.
            self.greeted.set()
            self._changed(self)

    def _is_due_to_close(self) -> bool:
        return self._retired_at is not None and time.monotonic() - self._retired_at > RETIRED_SECONDS

    def _handle(self, raw: bytes) -> None:
        try:
            message = _read_json(raw)
            kind = message.get("type")
        except (ValueError, AttributeError, RecursionError):
            log.warning("socket_message_unreadable", link=self.name, size=len(raw))
            return
        if kind == "hello":
            self.greeted.set()
            self._changed(self)
        elif kind == "disconnect":
            self._told_to_go = True
            self.reason = str(message.get("reason") or "disconnect")
            self._changed(self)
        elif message.get("envelope_id"):
            self._take(message, self.send)


def _read_json(raw: bytes) -> Any:
    """Raises ValueError."""
    try:
        return orjson.loads(raw)
    except ValueError:
        return json.loads(raw)  # half of a surrogate pair, escaped: JSON to Slack, and no text to orjson
