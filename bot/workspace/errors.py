"""Refusals: Slack's own error codes travel as one exception."""

from __future__ import annotations

from typing import Any


class SlackError(Exception):
    """A method refuses. `code` is Slack's error code, `extra` goes beside it into the answer."""

    def __init__(self, code: str, /, **extra: Any) -> None:
        super().__init__(code)
        self.code = code
        self.extra = extra

    def body(self) -> dict[str, Any]:
        """The answer's body."""
        return {"ok": False, "error": self.code, **self.extra}


class WorkspaceError(Exception):
    """The workspace itself cannot do what its operator asked (wrong host, unknown name, broken store)."""


def bad_arguments(*messages: str) -> SlackError:
    """`invalid_arguments` with the details where Slack puts them."""
    return SlackError("invalid_arguments", response_metadata={"messages": [f"[ERROR] {text}" for text in messages]})
