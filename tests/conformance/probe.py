"""The probe's own small client and vocabulary. It shares nothing with the workspace nor with the bot."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


class Unmet(AssertionError):
    """The workspace answered something else than Slack would."""


class NotTried(Exception):
    """The check needs something that was not given (a second token, a person)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def error(self) -> str | None:
        return self.body.get("error") if isinstance(self.body, dict) else "(no JSON object)"


class Probe:
    """One base URL (`.../api/`) with its tokens. Makes one channel of its own for all checks."""

    def __init__(
        self,
        base: str,
        token: str,
        *,
        user_token: str | None = None,
        app_token: str | None = None,
        channel: str | None = None,
        page: bool = False,
    ) -> None:
        self.base = base.rstrip("/") + "/"
        self.token = token
        self.page = page
        self._user_token = user_token
        self._app_token = app_token
        self._channel = channel
        self._stamp = f"{int(time.time() * 1000):x}"

    @property
    def user_token(self) -> str:
        if self._user_token is None:
            raise NotTried("needs --user-token")
        return self._user_token

    @property
    def app_token(self) -> str:
        if self._app_token is None:
            raise NotTried("needs --app-token")
        return self._app_token

    @property
    def site(self) -> str:
        """The address without `api/`, for a person's actions on a page like ours."""
        if not self.page:
            raise NotTried("needs a person at the keyboard")
        return self.base.removesuffix("api/")

    @property
    def channel(self) -> str:
        """A public channel in which the bot is a member."""
        if self._channel is None:
            self._channel = self.ok("conversations.create", name=f"probe-{self._stamp}")["channel"]["id"]
        return self._channel

    def name(self, what: str) -> str:
        return f"{what}-{self._stamp}"

    def call(self, method: str, *, token: str | None = "", as_json: bool = False, **arguments: Any) -> Reply:
        """One call, as form or as JSON. `token` None sends none, "" sends the bot's."""
        headers = {}
        bearer = self.token if token == "" else token
        if bearer is not None:
            headers["Authorization"] = f"Bearer {bearer}"
        given = {name: value for name, value in arguments.items() if value is not None}
        if as_json:
            data = json.dumps(given).encode()
            headers["Content-Type"] = "application/json; charset=utf-8"
        else:
            flat = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}
            data = urllib.parse.urlencode(flat).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        return send(urllib.request.Request(self.base + method, data=data, headers=headers, method="POST"))

    def ok(self, method: str, **arguments: Any) -> Any:
        """The body of a call that must succeed."""
        reply = self.call(method, **arguments)
        if not (isinstance(reply.body, dict) and reply.body.get("ok")):
            raise Unmet(f"{method} failed: {reply.error}")
        return reply.body

    def refused(self, method: str, *errors: str, **arguments: Any) -> Any:
        """The body of a call that must be refused with one of these codes, over HTTP 200."""
        reply = self.call(method, **arguments)
        expect(reply.status, 200, f"HTTP status of {method}")
        if reply.error not in errors:
            raise Unmet(f"{method}: expected {' or '.join(errors)}, got {reply.error or 'ok'}")
        return reply.body

    def post(self, text: str, **more: Any) -> str:
        """A new message in the probe's channel; its ts."""
        return str(self.ok("chat.postMessage", channel=self.channel, text=text, **more)["ts"])

    def act(self, path: str, **body: Any) -> Any:
        """A person's action on the page of a local workspace."""
        request = urllib.request.Request(
            f"{self.site}_page/{path}",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            method="POST",
        )
        return send(request).body


Check = Callable[[Probe], None]


def send(request: urllib.request.Request) -> Reply:
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            status, headers, raw = answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as refusal:
        with refusal:
            status, headers, raw = refusal.code, dict(refusal.headers), refusal.read()
    try:
        body = json.loads(raw)
    except ValueError:
        body = raw.decode(errors="replace")
    return Reply(status=status, headers=headers, body=body)


def expect(found: Any, wanted: Any, what: str) -> None:
    if found != wanted:
        raise Unmet(f"{what}: expected {wanted!r}, got {found!r}")


def demand(truth: object, what: str) -> None:
    if not truth:
        raise Unmet(what)
