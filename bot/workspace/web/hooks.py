"""Response URLs: `/commands/<team>/<secret>`, `/actions/...`, `/app/...`."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.workspace import answers
from bot.workspace.api.call import decode
from bot.workspace.core import Workspace
from bot.workspace.errors import SlackError

_GONE = frozenset({"used_url", "expired_url", "invalid_url"})


class ResponseUrls:
    """Takes the app's answers."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def __call__(self, request: Request) -> Response:
        """Carry out one answer."""
        if request.path_params["team"] != self._workspace.store.team.id:
            return JSONResponse({"ok": False, "error": "team_not_found"}, 404)
        try:
            body = await request.body()
            arguments = decode(request.headers.get("content-type", ""), body, b"")
            answers.take(self._workspace, request.path_params["secret"], _document(arguments))
        except SlackError as problem:
            status = 404 if problem.code in _GONE else 400
            return JSONResponse(problem.body(), status)
        return JSONResponse({"ok": True})


def _document(arguments: dict[str, Any]) -> dict[str, Any]:
    """A form may carry the whole message as JSON in `payload`."""
    if "payload" not in arguments:
        return arguments
    try:
        document = json.loads(arguments["payload"])
    except (TypeError, ValueError, RecursionError) as problem:
        raise SlackError("invalid_payload") from problem
    if not isinstance(document, dict):
        raise SlackError("invalid_payload")
    return document
