"""The operator's door from another process: the same words as `LocalWorkspace`, over `/_control/...`."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bot.workspace.errors import WorkspaceError
from bot.workspace.faults import Fault

_SECONDS = 30.0


class RemoteWorkspace:
    """A workspace that runs elsewhere on this machine. Raises `WorkspaceError` if it is away or refuses."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    @property
    def api_url(self) -> str:
        """What `SLACK_API_URL` and `WebClient(base_url=...)` take."""
        return f"{self.url}/api/"

    def state(self) -> dict[str, Any]:
        """Tokens, IDs of channels by name, and how many links are open."""
        return self._ask("state")

    def add_fault(self, fault: Fault) -> int:
        """Arm a fault; returns its number."""
        return int(self._ask("faults", {**asdict(fault), "kind": fault.kind.value})["id"])

    def clear_faults(self) -> None:
        """Disarm every fault."""
        self._ask("faults", method="DELETE")

    def seed_faults(self, seed: int) -> None:
        """Start the dice of the faults anew."""
        self._ask("seed", {"seed": seed})

    def calls(self, *, after: int = 0, method: str | None = None) -> list[dict[str, Any]]:
        """The Web API calls received so far."""
        query = {"after": str(after), **({"method": method} if method else {})}
        entries: list[dict[str, Any]] = self._ask(f"log?{urllib.parse.urlencode(query)}")["entries"]
        return entries

    def drop_sockets(self) -> None:
        """Close every Socket Mode connection without a word."""
        self._ask("socket", {"action": "drop"})

    def refresh_sockets(self, reason: str = "refresh_requested") -> None:
        """Ask every connection to come back (`warning` leaves it open)."""
        self._ask("socket", {"action": reason})

    def refuse_links(self, count: int) -> None:
        """The next `count` WebSocket connections are refused."""
        self._ask("socket", {"action": "refuse", "count": count})

    def create_channel(self, name: str, *, private: bool = False, with_bot: bool = True) -> str:
        """The ID of the channel of this name, made if new, with all people and the bot in it."""
        members = [self.state()["bot_user_id"]] if with_bot else []
        return str(self._ask("channel", {"name": name, "private": private, "members": members})["channel"])

    def change_channel(self, name: str, **changes: Any) -> None:
        """Sets `archived`, `topic`, `refusal`, `members` to add or `without`."""
        self._ask("channel", {"name": name, **changes})

    def refuse_token(self, token: str, code: str | None) -> None:
        """From now on calls with the token fail with `code`; None heals it."""
        self._ask("token", {"token": token, "error": code})

    def set_rate_limits(self, *, on: bool, posts_a_minute: int | None = None) -> None:
        """Slack's pace on or off, and a ceiling for the workspace as a whole."""
        self._ask("rate_limits", {"on": on, "posts_a_minute": posts_a_minute})

    def type(self, user: str, channel: str, text: str, *, thread_ts: str | None = None) -> dict[str, Any]:
        """A person types a message or a command; returns what the page would be answered."""
        body = {"user": user, "channel": channel, "text": text, "thread_ts": thread_ts}
        return self._send(f"{self.url}/_page/message", body, None)

    def _ask(self, path: str, body: Mapping[str, Any] | None = None, method: str | None = None) -> dict[str, Any]:
        answer = self._send(f"{self.url}/_control/{path}", body, method)
        if not answer.get("ok"):
            raise WorkspaceError(str(answer.get("message", answer.get("error"))))
        return answer

    def _send(self, url: str, body: Mapping[str, Any] | None, method: str | None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(url, data=data, headers=headers, method=method)  # noqa: S310 - our own
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - loopback
                document: dict[str, Any] = json.load(answer)
        except urllib.error.HTTPError as refusal:
            with refusal:
                document = json.load(refusal)
        except OSError as problem:
            raise WorkspaceError(f"no workspace answers at {self.url}: {problem}") from problem
        return document
