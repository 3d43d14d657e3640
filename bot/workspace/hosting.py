"""The thread in which a workspace serves: one event loop, one loopback socket, and a way in for other threads."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

import uvicorn
from starlette.applications import Starlette

from bot.workspace.errors import WorkspaceError
from bot.workspace.web.transports import Transports

Result = TypeVar("Result")
_START_SECONDS = 30.0


def loopback(host: str) -> str:
    """The address to listen on. Raises `WorkspaceError` for anything but this machine."""
    name = "127.0.0.1" if host == "localhost" else host
    try:
        address = ipaddress.ip_address(name)
    except ValueError as problem:
        raise WorkspaceError(f"not an address of this machine: {host}") from problem
    if not address.is_loopback:
        raise WorkspaceError(f"the workspace listens on loopback only, not on {host}")
    return str(address)


def listen(address: str, port: int) -> socket.socket:
    """A bound socket. Raises `WorkspaceError` if the port is taken."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
    except OSError as problem:
        listener.close()
        raise WorkspaceError(f"port {port} on {address} cannot be used: {problem.strerror}") from problem
    return listener


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self._told = asyncio.Event()

    async def main_loop(self) -> None:
        """Like uvicorn's, but ends at once when it is told to, and not at its next tick."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._told.wait(), 1.0)

    def finish(self) -> None:
        """Ends the server. For its own event loop."""
        self.should_exit = True
        self._told.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


class Hosting:
    """A site that is being served. Raises `WorkspaceError` if it does not start.

    `furnish` is called in the event loop before the first request is let in; what it raises is raised here.
    """

    def __init__(
        self, site: Starlette, transports: Transports, listener: socket.socket, furnish: Callable[[], None]
    ) -> None:
        config = uvicorn.Config(
            site,
            http=transports.protocol(),
            ws="websockets-sansio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
            ws_ping_interval=10.0,
            ws_ping_timeout=30.0,
        )
        self._server = _Server(config)
        self._listener = listener
        self._furnish = furnish
        self._problem: Exception | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._serve, name="local-workspace", daemon=True)
        self._thread.start()
        if not self._server.ready.wait(_START_SECONDS):
            raise WorkspaceError("the workspace did not start")
        if self._problem is not None:
            self._thread.join()
            raise self._problem

    def _serve(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            runner.run(self._furnish_and_serve())

    async def _furnish_and_serve(self) -> None:
        try:
            self._furnish()
        except Exception as problem:  # noqa: BLE001 - whoever waits in the other thread raises it
            self._problem = problem
            self._listener.close()
            self._server.ready.set()
            return
        await self._server.serve(sockets=[self._listener])

    def call(self, action: Callable[[], Result]) -> Result:
        """Runs an action in the event loop, where alone the workspace may be touched; returns what it returns."""

        async def run() -> Result:
            return action()

        return self.wait(run())

    def wait(self, awaitable: Awaitable[Result]) -> Result:
        """Awaits something in the event loop, from another thread."""

        async def run() -> Result:
            return await awaitable

        if self._loop is None:
            raise WorkspaceError("the workspace is not running")
        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    def stop(self) -> None:
        """Returns when the server is down."""
        self.call(self._server.finish)
        self._thread.join()
