"""Health, readiness, metrics, and Slack over HTTP. Everything it serves is handed in as a callable."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable

import uvicorn
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from bot.errors import PortInUse
from bot.web import EVERYWHERE, LOOPBACK, Check, Checks, Dispatch

CHECK_SECONDS = 3.0
HEAD_SECONDS = 10.0
"""How long a connection may stay without a whole request head: each open one takes a file from the rest of the bot."""
BODY_SECONDS = 10.0
"""How long a body may take. Slack gives a request up after three seconds."""
BODY_LIMIT = 1_000_000
"""Bytes of a request from Slack; its largest payloads (a view of 250 kB, form-encoded) stay below."""


def build_web(
    *,
    checks: Checks,
    exposition: Callable[[], bytes] | None = None,
    dispatch: Dispatch | None = None,
    threads: int = 40,
) -> Starlette:
    """The application: `/healthz` always, `/readyz` over `checks`, `/metrics` and `/slack/events` where handed in.

    `threads` bounds the requests from Slack that are worked on at the same time; each holds one until it is acked.
    """
    routes = [
        Route("/healthz", _alive, methods=["GET"]),
        Route("/readyz", _Readiness(checks).answer, methods=["GET"]),
    ]
    if exposition is not None:
        routes.append(Route("/metrics", _metrics(exposition), methods=["GET"]))
    if dispatch is not None:
        routes.append(Route("/slack/events", _Slack(dispatch, threads).answer, methods=["POST"]))
    return Starlette(routes=routes)


async def _alive(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


class _Readiness:
    """Runs every check in its own thread and gives up on one that hangs: a hung database is not ready."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks

    async def answer(self, _request: Request) -> Response:
        found = await asyncio.gather(*(self._one(check) for check in self._checks.values()))
        results = dict(zip(self._checks, found, strict=True))
        ready = all(check.ok for check in found)
        detail = {name: {"ok": check.ok, "detail": check.detail} for name, check in results.items()}
        return JSONResponse({"ready": ready, "checks": detail}, status_code=200 if ready else 503)

    async def _one(self, check: Callable[[], Check]) -> Check:
        try:
            return await asyncio.wait_for(
                to_thread.run_sync(check, abandon_on_cancel=True, limiter=CapacityLimiter(1)), CHECK_SECONDS
            )
        except TimeoutError:
            return Check(ok=False, detail=f"no answer within {CHECK_SECONDS:g} seconds")
        except Exception as error:  # noqa: BLE001  whatever a check raises, the answer is "not ready" with the reason
            return Check(ok=False, detail=f"{type(error).__name__}: {error}")


def _metrics(exposition: Callable[[], bytes]) -> Callable[[Request], Response]:
    # Starlette runs a plain function in its thread pool: counting in the database must not stop the event loop.
    def answer(_request: Request) -> Response:
        return Response(exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return answer


class _Slack:
    """Bolt in a thread: its own Starlette adapter would hold the event loop until the listener acks."""

    def __init__(self, dispatch: Dispatch, threads: int) -> None:
        self._dispatch = dispatch
        self._limiter = CapacityLimiter(threads)

    async def answer(self, request: Request) -> Response:
        try:
            body = await _body(request)
        except _NotRead as problem:
            return PlainTextResponse(f"{problem}\n", status_code=problem.status)
        status, headers, text = await to_thread.run_sync(
            self._dispatch, body, dict(request.headers), limiter=self._limiter
        )
        return Response(text, status_code=status, headers=dict(headers))


class _NotRead(Exception):
    """The body of a request did not come whole. `status` is for whoever sent it, and is still there."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


async def _body(request: Request) -> bytes:
    """The body as it came. Raises `_NotRead`."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > BODY_LIMIT:
                    raise _NotRead(413, "too large")
    except TimeoutError as problem:
        raise _NotRead(408, "too slow") from problem
    except (ClientDisconnect, asyncio.CancelledError) as problem:
        # Whoever asked has gone, or the server stops: no fault of ours that the log should show.
        raise _NotRead(400, "not whole") from problem
    return bytes(body)


class _Hurried(H11Protocol):
    """Hangs up on whoever connects and does not ask, or begins to ask and does not end."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look_again(seen=None)

    def _look_again(self, seen: RequestResponseCycle | None) -> None:
        self.loop.call_later(HEAD_SECONDS, self._look, seen)

    def _look(self, seen: RequestResponseCycle | None) -> None:
        """Close the connection if nothing was asked since the last look, and nothing is being answered."""
        if self.transport.is_closing():
            return
        if self.cycle is seen and (seen is None or seen.response_complete):
            self.transport.close()
            return
        self._look_again(self.cycle)


class _Uvicorn(uvicorn.Server):
    """Tells when it is up, or that it will never be."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.settled = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets=sockets)
        finally:
            self.settled.set()


class Server:
    """A web server in a thread of its own."""

    def __init__(self, *, app: Starlette, listening: socket.socket) -> None:
        self._socket = listening
        self.host, self.port = listening.getsockname()[:2]
        self._server = _Uvicorn(
            uvicorn.Config(
                app,
                http=_Hurried,
                log_config=None,
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=3,
                server_header=False,
            )
        )
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)

    @property
    def url(self) -> str:
        """Where it answers; the port is the real one, also when 0 was asked for."""
        host = LOOPBACK if self.host == EVERYWHERE else self.host
        return f"http://{host}:{self.port}"

    def _run(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._server.settled.set()

    def start(self) -> None:
        """Return when requests are answered."""
        self._thread.start()
        self._server.settled.wait()

    def is_running(self) -> bool:
        """Whether the server's thread lives and answers."""
        return self._thread.is_alive() and self._server.started

    def stop(self, timeout: float = 5.0) -> None:
        """Finish the requests in hand and stop; after `timeout` seconds leave the thread behind. Idempotent."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(timeout)
        self._socket.close()


def serve(app: Starlette, *, host: str = LOOPBACK, port: int = 0) -> Server:
    """Start a server. Port 0 takes a free one. Raises `PortInUse` where something else listens."""
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise PortInUse(
            f"cannot listen on {host}:{port} ({error.strerror}): stop what holds it, or choose another PORT or --host"
        ) from error
    server = Server(app=app, listening=listening)
    server.start()
    return server
