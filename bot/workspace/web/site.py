"""All routes of the workspace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from bot.workspace.core import Workspace
from bot.workspace.web.api_endpoint import ApiEndpoint
from bot.workspace.web.control import Control
from bot.workspace.web.guard import Endpoint, is_local
from bot.workspace.web.hooks import ResponseUrls
from bot.workspace.web.links import Link
from bot.workspace.web.page_api import PageApi
from bot.workspace.web.transports import Transports

_PAGE = Path(__file__).parent.parent / "page"


def build_site(workspace: Workspace, transports: Transports) -> Starlette:
    """The ASGI application of one workspace."""
    hooks = ResponseUrls(workspace)
    return Starlette(
        routes=[
            Route("/api/{method}", _endpoint(ApiEndpoint(workspace, transports)), methods=["GET", "POST"]),
            *(
                Route(f"/{kind}/{{team}}/{{secret}}", _endpoint(hooks), methods=["POST"])
                for kind in ("commands", "actions", "app")
            ),
            WebSocketRoute("/link/", _socket(Link(workspace))),
            *PageApi(workspace).routes(),
            *Control(workspace).routes(),
            Route("/", _page),
            Route("/archives/{channel}", _page),
            Route("/archives/{channel}/{message}", _page),
            Mount("/page", StaticFiles(directory=_PAGE, check_dir=False)),
        ]
    )


def _endpoint(target: Endpoint) -> Endpoint:
    """A plain function: Starlette takes an object with `__call__` for a whole ASGI application."""

    async def call(request: Request) -> Response:
        if not is_local(request):
            # Local tokens are no secret: a page of another site must not use them through a browser.
            return PlainTextResponse("Only for this machine.", 403)
        try:
            return await target(request)
        except ClientDisconnect:
            return PlainTextResponse("The body did not come whole.", 400)

    return call


def _socket(target: Link) -> Callable[[WebSocket], Awaitable[None]]:
    async def call(socket: WebSocket) -> None:
        await target(socket)

    return call


async def _page(_: Request) -> Response:
    page = _PAGE / "index.html"
    if not page.exists():
        return PlainTextResponse("The workspace is running; its page is not installed.")
    return FileResponse(page)
