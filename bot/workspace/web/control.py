"""`/_control/...`: the operator's door for faults, the log, set-up and sockets, from any process on this machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.workspace import ids
from bot.workspace.core import Workspace
from bot.workspace.errors import WorkspaceError
from bot.workspace.faults import fault_from
from bot.workspace.setup import Setup
from bot.workspace.web.guard import body_of, guarded


class Control:
    """The endpoints, and the set-up behind them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._setup = Setup(workspace)

    def routes(self) -> list[Route]:
        """Every route of the operator's door."""
        return [
            Route("/_control/state", guarded(self.state)),
            Route("/_control/faults", guarded(self.faults), methods=["GET", "POST", "DELETE"]),
            Route("/_control/faults/{number:int}", guarded(self.remove_fault), methods=["DELETE"]),
            Route("/_control/seed", guarded(self.seed), methods=["POST"]),
            Route("/_control/log", guarded(self.log), methods=["GET", "DELETE"]),
            Route("/_control/socket", guarded(self.socket), methods=["POST"]),
            Route("/_control/install", guarded(self.install), methods=["POST"]),
            Route("/_control/channel", guarded(self.channel), methods=["POST"]),
            Route("/_control/user", guarded(self.user), methods=["POST"]),
            Route("/_control/token", guarded(self.token), methods=["POST"]),
            Route("/_control/rate_limits", guarded(self.rate_limits), methods=["POST"]),
        ]

    async def state(self, _: Request) -> Response:
        """Tokens, IDs and counts: what another process needs to begin."""
        store = self._workspace.store
        return JSONResponse(
            {
                "ok": True,
                "url": self._workspace.url,
                "api_url": f"{self._workspace.url}/api/",
                "team_id": store.team.id,
                "app_id": store.app.id,
                "bot_user_id": store.app.bot_user_id,
                "bot_token": ids.bot_token(store.bot_user.name),
                "app_token": ids.app_token(store.bot_user.name),
                "signing_secret": store.app.signing_secret,
                "user_tokens": {
                    each.name: ids.user_token(each.name) for each in store.users.values() if not each.is_bot
                },
                "channels": {each.name: each.id for each in store.channels.values()},
                "connections": self._workspace.sockets.count,
            }
        )

    async def faults(self, request: Request) -> Response:
        """GET lists, POST arms one, DELETE disarms all."""
        faults = self._workspace.faults
        if request.method == "DELETE":
            faults.clear()
            return JSONResponse({"ok": True})
        if request.method == "GET":
            return JSONResponse({"ok": True, "faults": faults.listed()})
        return JSONResponse({"ok": True, "id": faults.add(fault_from(await body_of(request)))})

    async def remove_fault(self, request: Request) -> Response:
        """Disarm one."""
        self._workspace.faults.remove(request.path_params["number"])
        return JSONResponse({"ok": True})

    async def seed(self, request: Request) -> Response:
        """`seed`: start the dice anew."""
        body: Any = await body_of(request)
        self._workspace.faults.seed(int(body["seed"]))
        return JSONResponse({"ok": True})

    async def log(self, request: Request) -> Response:
        """GET the calls (`after`, `method`), DELETE them."""
        log = self._workspace.log
        if request.method == "DELETE":
            log.clear()
            return JSONResponse({"ok": True})
        after = int(request.query_params.get("after", "0"))
        method = request.query_params.get("method")
        return JSONResponse({"ok": True, "entries": log.listed(after=after, method=method)})

    async def socket(self, request: Request) -> Response:
        """`action`: drop, warning, refresh_requested, link_disabled, refuse (the next `count` links or `tickets`)."""
        body: Any = await body_of(request)
        sockets = self._workspace.sockets
        match body["action"]:
            case "drop":
                sockets.drop()
            case "warning" | "refresh_requested" | "link_disabled" as reason:
                sockets.refresh(reason)
            case "refuse":
                sockets.refuse_links = int(body.get("count", 1))
                sockets.refuse_tickets = int(body.get("tickets", 0))
            case other:
                raise WorkspaceError(f"no such action: {other}")
        return JSONResponse({"ok": True})

    async def install(self, request: Request) -> Response:
        """`manifest`, and for HTTP mode `request_url` (and `signing_secret`)."""
        body: Any = await body_of(request)
        app = await self._setup.install(
            body.get("manifest"),
            request_url=body.get("request_url"),
            signing_secret=body.get("signing_secret"),
            is_verified=body.get("verify", True),
        )
        return JSONResponse({"ok": True, "app_id": app.id})

    async def channel(self, request: Request) -> Response:
        """Makes or changes a channel: `name`, `private`, `members`, `without`, `archived`, `refusal`, `topic`."""
        body: Any = await body_of(request)
        channel = self._setup.channel(body["name"], private=bool(body.get("private")))
        for name in body.get("members", ()):
            channel = self._setup.add_member(channel.name, name)
        for name in body.get("without", ()):
            channel = self._setup.remove_member(channel.name, name)
        changes = {
            field: body[name]
            for name, field in (("archived", "is_archived"), ("refusal", "refusal"), ("topic", "topic"))
            if name in body
        }
        if changes:
            channel = self._workspace.store.put_channel(replace(channel, **changes))
        self._workspace.news.channels()
        return JSONResponse({"ok": True, "channel": channel.id})

    async def user(self, request: Request) -> Response:
        """`name`: a person, made if new."""
        body: Any = await body_of(request)
        user = self._workspace.store.add_person(body["name"])
        return JSONResponse({"ok": True, "user": user.id, "token": ids.user_token(user.name)})

    async def token(self, request: Request) -> Response:
        """`token`, and `error` with which it is refused from now on (null heals it)."""
        body: Any = await body_of(request)
        self._workspace.store.set_token_fault(body["token"], body.get("error"))
        return JSONResponse({"ok": True})

    async def rate_limits(self, request: Request) -> Response:
        """`on`, and `posts_a_minute` for the workspace as a whole (null: none)."""
        body: Any = await body_of(request)
        self._workspace.limits.is_on = bool(body["on"])
        self._workspace.limits.posts_a_minute = body.get("posts_a_minute")
        return JSONResponse({"ok": True})
