"""The page's and the operator's doors open only to this machine, also against pages of other sites in its browser."""

from __future__ import annotations

import urllib.parse
from collections.abc import Awaitable, Callable

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from bot.workspace.errors import SlackError, WorkspaceError
from bot.workspace.interactions import Refused

Endpoint = Callable[[Request], Awaitable[Response]]

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})


def is_local(request: Request) -> bool:
    """False if the request was aimed at another name (DNS rebinding) or comes from another site's page."""
    host = urllib.parse.urlsplit(f"//{request.headers.get('host', '')}")
    if host.hostname not in LOOPBACK:
        return False
    origin = request.headers.get("origin")
    return origin is None or urllib.parse.urlsplit(origin).netloc == request.headers.get("host")


def guarded(endpoint: Endpoint) -> Endpoint:
    """Answers refusals as `{ok: false, error, message}` with HTTP 200, and strangers with 403."""

    async def call(request: Request) -> Response:
        if not is_local(request):
            return JSONResponse({"ok": False, "error": "not_local", "message": "Only for this machine."}, 403)
        try:
            return await endpoint(request)
        except Refused as problem:
            return JSONResponse({"ok": False, "error": problem.code, "message": problem.message, **problem.extra})
        except SlackError as problem:
            return JSONResponse({**problem.body(), "message": problem.code.replace("_", " ")})
        except WorkspaceError as problem:
            return JSONResponse({"ok": False, "error": "bad_request", "message": str(problem)}, 400)
        except KeyError as problem:
            name = str(problem.args[0]) if problem.args else ""
            return JSONResponse({"ok": False, "error": "missing_argument", "message": f"missing: {name}"}, 400)

    return call


async def body_of(request: Request) -> dict[str, object]:
    """The JSON object of a request. Raises `WorkspaceError` for anything else."""
    try:
        document = await request.json()
    except (ValueError, RecursionError) as problem:
        raise WorkspaceError("the body is no JSON") from problem
    except ClientDisconnect as problem:
        raise WorkspaceError("the body did not come whole") from problem
    if not isinstance(document, dict):
        raise WorkspaceError("the body is no JSON object")
    return document
