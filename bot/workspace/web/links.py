"""`/link/`: the WebSocket of Socket Mode."""

from __future__ import annotations

import asyncio

from starlette.websockets import WebSocket, WebSocketDisconnect

from bot.workspace.core import Workspace
from bot.workspace.sockets import Connection

_REFUSED = 1008
_RESTART = 1012


class Link:
    """Takes the app's WebSockets."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def __call__(self, socket: WebSocket) -> None:
        """One link, from its ticket to its end."""
        sockets = self._workspace.sockets
        if not sockets.redeem(socket.query_params.get("ticket", "")):
            await socket.close(_REFUSED)
            return
        await socket.accept()
        connection = sockets.open()
        writer = asyncio.create_task(_write(socket, connection))
        try:
            while True:
                sockets.received(connection, await socket.receive_text())
        except (WebSocketDisconnect, KeyError):
            # A KeyError is Starlette's way to say: a binary frame, which Slack does not take either.
            return
        finally:
            writer.cancel()
            sockets.closed(connection)


async def _write(socket: WebSocket, connection: Connection) -> None:
    while True:
        text = await connection.outbox.get()
        try:
            if text is None:
                await socket.close(_RESTART)
                return
            await socket.send_text(text)
        except (WebSocketDisconnect, RuntimeError):
            # The client went first; the reader sees it and cleans up.
            return
