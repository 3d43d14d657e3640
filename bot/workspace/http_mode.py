"""HTTP mode: events, commands and interactivity as signed POSTs. Source: docs.slack.dev Events API."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from bot.workspace.errors import WorkspaceError
from bot.workspace.sockets import NotDelivered


class Reply(NamedTuple):
    """What the app answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """`X-Slack-Signature`: HMAC-SHA256 over `v0:<timestamp>:<body>`."""
    base = f"v0:{timestamp}:".encode() + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


async def post(
    url: str, secret: str, kind: str, payload: dict[str, Any], *, now: float, wait: float, headers: Mapping[str, str]
) -> Any:
    """The payload of the app's answer to one delivery.

    Raises `NotDelivered` unless it answered 200 within `wait` seconds.
    """
    if kind == "events_api":
        body, content = json.dumps(payload, ensure_ascii=False).encode(), "application/json"
    elif kind == "slash_commands":
        body, content = urllib.parse.urlencode(payload).encode(), "application/x-www-form-urlencoded"
    else:
        form = urllib.parse.urlencode({"payload": json.dumps(payload, ensure_ascii=False)})
        body, content = form.encode(), "application/x-www-form-urlencoded"
    reply = await _send(url, secret, body, content, now=now, wait=wait, headers=headers)
    if reply.status != HTTPStatus.OK:
        stop = reply.headers.get("X-Slack-No-Retry") == "1"
        raise NotDelivered("no_retry" if stop else "http_error")
    if not reply.body.strip():
        return None
    try:
        return json.loads(reply.body)
    except ValueError:
        return {"text": reply.body.decode(errors="replace")}


async def verify_url(url: str, secret: str, token: str, *, now: float, wait: float) -> None:
    """The challenge that a request URL must answer before it is accepted. Raises `WorkspaceError` if it does not."""
    challenge = hashlib.sha256(f"{url}{now}".encode()).hexdigest()
    body = json.dumps({"type": "url_verification", "token": token, "challenge": challenge}).encode()
    reply = await _send(url, secret, body, "application/json", now=now, wait=wait, headers={})
    if reply.status != HTTPStatus.OK or challenge.encode() not in reply.body:
        raise WorkspaceError(f"{url} did not answer the challenge (status {reply.status})")


async def _send(
    url: str, secret: str, body: bytes, content: str, *, now: float, wait: float, headers: Mapping[str, str]
) -> Reply:
    timestamp = int(now)
    request = urllib.request.Request(  # noqa: S310 - the URL is the operator's own
        url,
        data=body,
        headers={
            "Content-Type": content,
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "X-Slack-Request-Timestamp": str(timestamp),
            "X-Slack-Signature": signature(secret, timestamp, body),
            **headers,
        },
        method="POST",
    )
    try:
        return await asyncio.to_thread(_exchange, request, wait)
    except TimeoutError as problem:
        raise NotDelivered("http_timeout") from problem
    except OSError as problem:
        timed_out = isinstance(getattr(problem, "reason", None), TimeoutError)
        raise NotDelivered("http_timeout" if timed_out else "connection_failed") from problem


def _exchange(request: urllib.request.Request, wait: float) -> Reply:
    try:
        with urllib.request.urlopen(request, timeout=wait) as answer:  # noqa: S310
            return Reply(answer.status, dict(answer.headers), answer.read())
    except urllib.error.HTTPError as refusal:
        with refusal:
            return Reply(refusal.code, dict(refusal.headers), refusal.read())
