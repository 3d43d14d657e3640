"""Socket Mode: open connections, envelopes out, acknowledgements in. Source: docs.slack.dev using-socket-mode."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable
from typing import Any

from bot.workspace.errors import SlackError

MOST_CONNECTIONS = 10
CONNECTION_SECONDS = 18_000

Sender = Callable[[str | None], None]


class NotDelivered(Exception):
    """Nobody took the envelope; `reason` is Slack's word for it (`timeout`, `connection_failed`)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Connection:
    """One open WebSocket. `outbox` holds texts to send; None asks the writer to close."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.outbox: asyncio.Queue[str | None] = asyncio.Queue()
        self.waiting: dict[str, asyncio.Future[Any]] = {}
        self.is_retiring = False

    def send(self, document: dict[str, Any]) -> None:
        """Queue a document for sending."""
        self.outbox.put_nowait(json.dumps(document, ensure_ascii=False))


class Sockets:
    """Every open connection of the app. An envelope goes to one of them in turn; any of them may get it."""

    def __init__(self, host: str, app_id: str) -> None:
        self._host = host
        self._app_id = app_id
        self._tickets: set[str] = set()
        self._connections: list[Connection] = []
        self._turn = 0
        self._numbers = 0
        self.refuse_tickets = 0
        self.refuse_links = 0

    @property
    def count(self) -> int:
        """How many connections are open and not on their way out."""
        return sum(not each.is_retiring for each in self._connections)

    def ticket(self) -> str:
        """A ticket for one connection. Raises `internal_error` while tickets are refused on demand."""
        if self.refuse_tickets:
            self.refuse_tickets -= 1
            raise SlackError("internal_error")
        ticket = secrets.token_hex(16)
        self._tickets.add(ticket)
        return ticket

    def redeem(self, ticket: str) -> bool:
        """True once for a ticket that was given out."""
        if self.refuse_links:
            self.refuse_links -= 1
            return False
        if ticket not in self._tickets:
            return False
        self._tickets.remove(ticket)
        return True

    def open(self) -> Connection:
        """A new connection, greeted with `hello`, or with `disconnect` if there are ten already."""
        self._numbers += 1
        connection = Connection(self._numbers)
        if self.count >= MOST_CONNECTIONS:
            self._dismiss(connection, "too_many_websockets")
            return connection
        self._connections.append(connection)
        connection.send(
            {
                "type": "hello",
                "num_connections": self.count,
                "debug_info": {
                    "host": self._host,
                    "build_number": 1,
                    "approximate_connection_time": CONNECTION_SECONDS,
                },
                "connection_info": {"app_id": self._app_id},
            }
        )
        return connection

    def closed(self, connection: Connection) -> None:
        """Forgets it; envelopes that it did not acknowledge are undelivered."""
        if connection in self._connections:
            self._connections.remove(connection)
        for future in connection.waiting.values():
            if not future.done():
                future.set_exception(NotDelivered("connection_failed"))

    def received(self, connection: Connection, text: str) -> None:
        """An acknowledgement. Unknown, late and malformed ones are ignored, as Slack ignores them."""
        try:
            document = json.loads(text)
        except ValueError:
            return
        if not isinstance(document, dict):
            return
        future = connection.waiting.pop(str(document.get("envelope_id")), None)
        if future is not None and not future.done():
            future.set_result(document.get("payload"))

    async def deliver(self, kind: str, payload: dict[str, Any], wait: float, **more: Any) -> Any:
        """Sends one envelope and returns the payload of its acknowledgement. Raises `NotDelivered`."""
        ready = [each for each in self._connections if not each.is_retiring]
        if not ready:
            raise NotDelivered("connection_failed")
        self._turn += 1
        connection = ready[self._turn % len(ready)]
        envelope = f"{secrets.token_hex(4)}-{secrets.token_hex(2)}-{secrets.token_hex(6)}"
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        connection.waiting[envelope] = future
        connection.send(
            {
                "envelope_id": envelope,
                "type": kind,
                "payload": payload,
                "accepts_response_payload": kind != "events_api",
                **more,
            }
        )
        try:
            return await asyncio.wait_for(future, wait)
        except TimeoutError as problem:
            raise NotDelivered("timeout") from problem
        finally:
            connection.waiting.pop(envelope, None)

    def refresh(self, reason: str = "refresh_requested") -> None:
        """Asks every connection to come back (`warning`, `refresh_requested`, `link_disabled`)."""
        for connection in tuple(self._connections):
            if reason == "warning":
                connection.send({"type": "disconnect", "reason": reason, "debug_info": {"host": self._host}})
            else:
                self._dismiss(connection, reason)

    def drop(self) -> None:
        """Closes every connection without a word."""
        for connection in tuple(self._connections):
            connection.is_retiring = True
            connection.outbox.put_nowait(None)

    def _dismiss(self, connection: Connection, reason: str) -> None:
        connection.is_retiring = True
        connection.send({"type": "disconnect", "reason": reason, "debug_info": {"host": self._host}})
        connection.outbox.put_nowait(None)
