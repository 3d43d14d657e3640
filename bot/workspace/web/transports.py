"""Reaching below HTTP: uvicorn's connection protocol, so that a connection can be dropped or reset on demand."""

from __future__ import annotations

import asyncio
import socket
import struct
import weakref
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol


class Transports:
    """Open connections by the address of their client."""

    def __init__(self) -> None:
        self._open: weakref.WeakValueDictionary[tuple[str, int], asyncio.Transport] = weakref.WeakValueDictionary()

    def protocol(self) -> type[H11Protocol]:
        """A connection protocol for uvicorn that enters its connections here."""
        known = self._open

        class Tracked(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                peer = transport.get_extra_info("peername")
                known[peer[0], peer[1]] = transport
                super().connection_made(transport)

        return Tracked

    def cut(self, scope: Scope, *, reset: bool) -> None:
        """Ends a request's connection now: with a TCP reset, or in an orderly way with what was already sent."""
        transport = self._open.get(tuple(scope["client"]))
        if transport is None:
            return
        if reset:
            handle: socket.socket = transport.get_extra_info("socket")
            handle.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        else:
            transport.close()


class Cut(Response):
    """No answer: the connection ends. With `part`, the head and half of the body are sent first."""

    def __init__(self, transports: Transports, *, reset: bool, part: bytes | None = None) -> None:
        super().__init__(content=part or b"", media_type="application/json")
        self._transports = transports
        self._reset = reset
        self._part = part

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the part, if there is one, and end the connection."""
        if self._part is not None:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            half = self._part[: len(self._part) // 2]
            await send({"type": "http.response.body", "body": half, "more_body": True})
        self._transports.cut(scope, reset=self._reset)
        await until_gone(receive)


async def until_gone(receive: Receive, seconds: float | None = None) -> None:
    """Waits until the client is gone, at most `seconds`."""

    async def wait() -> None:
        message: Any = {}
        while message.get("type") != "http.disconnect":
            message = await receive()

    try:
        await asyncio.wait_for(wait(), seconds)
    except TimeoutError:
        return
