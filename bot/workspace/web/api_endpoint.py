"""`/api/<method>`: the Web API over HTTP, with rate limits, faults on demand, and the log of what was received."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.workspace.api.call import decode
from bot.workspace.api.registry import Registry
from bot.workspace.core import Workspace
from bot.workspace.errors import SlackError
from bot.workspace.faults import Fault, FaultKind
from bot.workspace.web.transports import Cut, Transports, until_gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer as Slack would give it, before a fault gets at it."""

    body: dict[str, Any]
    status: int = 200
    retry_after: int | None = None

    @property
    def content(self) -> bytes:
        """The body as sent."""
        return json.dumps(self.body, ensure_ascii=False, separators=(",", ":")).encode()


class ApiEndpoint:
    """Answers calls of the Web API."""

    def __init__(self, workspace: Workspace, transports: Transports) -> None:
        self._workspace = workspace
        self._registry = Registry(workspace)
        self._transports = transports

    async def __call__(self, request: Request) -> Response:
        """One call, from its bytes to its answer or what a fault makes of it."""
        method = request.path_params["method"]
        began = self._workspace.clock()
        body = await request.body()
        try:
            arguments = decode(request.headers.get("content-type", ""), body, request.scope["query_string"])
        except SlackError as problem:
            return self._response(Answer(body=problem.body()))
        channel = self._channel(arguments)
        fault = self._workspace.faults.pick(method, channel)
        if fault is not None and not fault.kind.is_carried_out:
            answer, is_accepted = Answer(body={}), False
        else:
            answer = self._answer(method, arguments, _token(request, arguments), channel)
            is_accepted = bool(answer.body.get("ok"))
        response = self._response(answer) if fault is None else self._spoiled(fault, answer)
        self._workspace.log.add(
            method=method,
            channel=channel,
            at=began,
            seconds=self._workspace.clock() - began,
            status=None if isinstance(response, Cut) else response.status_code,
            error=answer.body.get("error"),
            accepted=is_accepted,
            fault=None if fault is None else fault.kind.value,
            ts=answer.body.get("ts") if is_accepted else None,
            retry_after=_retry_after(fault, answer),
        )
        if fault is not None:
            await _delay(fault, request)
        return response

    def _channel(self, arguments: Mapping[str, Any]) -> str | None:
        """The ID of the channel that a call means, for limits and faults."""
        reference = arguments.get("channel")
        if not isinstance(reference, str):
            return None
        named = self._workspace.store.channel_named(reference.removeprefix("#")) if reference else None
        return named.id if named else reference

    def _answer(self, method: str, arguments: Mapping[str, Any], token: str | None, channel: str | None) -> Answer:
        wait = self._workspace.limits.admit(method, self._registry.tier(method), channel)
        if wait is not None:
            return Answer(body={"ok": False, "error": "ratelimited"}, status=429, retry_after=wait)
        try:
            return Answer(body=self._registry.answer(method, arguments, token))
        except SlackError as problem:
            return Answer(body=problem.body())

    def _response(self, answer: Answer) -> Response:
        scopes = self._workspace.store.app.scopes
        headers = {
            "x-slack-req-id": f"{self._workspace.clock():.6f}".replace(".", ""),
            "x-oauth-scopes": ",".join(sorted(scopes)) if scopes is not None else "",
            "cache-control": "private, no-cache, no-store, must-revalidate",
        }
        if answer.retry_after is not None:
            headers["retry-after"] = str(answer.retry_after)
        return Response(answer.content, answer.status, headers=headers, media_type="application/json; charset=utf-8")

    def _spoiled(self, fault: Fault, answer: Answer) -> Response:  # noqa: PLR0911 - one case a kind
        """What the caller gets instead of the answer."""
        match fault.kind:
            case FaultKind.SLOW:
                return self._response(answer)
            case FaultKind.RESET_BEFORE | FaultKind.RESET_AFTER:
                return Cut(self._transports, reset=True)
            case FaultKind.TRUNCATE_AFTER:
                return Cut(self._transports, reset=False, part=answer.content)
            case FaultKind.RESET_MIDWAY:
                return Cut(self._transports, reset=True, part=answer.content)
            case FaultKind.STATUS_BEFORE | FaultKind.STATUS_AFTER:
                return Response(fault.body, fault.status, media_type="text/html")
            case FaultKind.NOT_JSON_BEFORE | FaultKind.NOT_JSON_AFTER:
                return Response(fault.body, 200, media_type="text/html")
            case FaultKind.RATE_LIMITED:
                wait = max(1, round(fault.seconds))
                return self._response(Answer(body={"ok": False, "error": "ratelimited"}, status=429, retry_after=wait))
            case FaultKind.ERROR | FaultKind.ERROR_AFTER:
                return self._response(Answer(body={"ok": False, "error": fault.error}))
            case _:
                return Cut(self._transports, reset=False)


async def _delay(fault: Fault, request: Request) -> None:
    if fault.kind in {FaultKind.HANG_BEFORE, FaultKind.HANG_AFTER}:
        await until_gone(request.receive, fault.seconds)
    elif fault.kind is FaultKind.SLOW:
        await asyncio.sleep(fault.seconds)


def _retry_after(fault: Fault | None, answer: Answer) -> int | None:
    if fault is not None and fault.kind is FaultKind.RATE_LIMITED:
        return max(1, round(fault.seconds))
    return answer.retry_after


def _token(request: Request, arguments: Mapping[str, Any]) -> str | None:
    """The bearer token of the header, else the `token` argument."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return token.strip()
    value = arguments.get("token")
    return value if isinstance(value, str) else None
