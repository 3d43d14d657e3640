"""One call of the Web API: its arguments as the methods want them, and how bodies are decoded."""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.workspace.core import Workspace
from bot.workspace.errors import SlackError, bad_arguments
from bot.workspace.model import Identity, Json, User


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that is authenticated. Arguments come as text from a form and as any JSON from a JSON body."""

    workspace: Workspace
    method: str
    arguments: Mapping[str, Any]
    identity: Identity

    @property
    def user(self) -> User:
        """The user whom the token acts for. Raises `not_allowed_token_type` for an app-level token."""
        if self.identity.user is None:
            raise SlackError("not_allowed_token_type")
        return self.identity.user

    def text(self, name: str) -> str | None:
        """An argument as text; None if it was not given."""
        value = self.arguments.get(name)
        if value is None:
            return None
        return value if isinstance(value, str) else json.dumps(value)

    def required(self, name: str, error: str | None = None) -> str:
        """Raises `error` (by default `invalid_arguments`, with the name) if it is missing or empty."""
        value = self.text(name)
        if not value:
            raise SlackError(error) if error else bad_arguments(f"missing required field: {name}")
        return value

    def flag(self, name: str) -> bool:
        """An argument that is true or false, in any of the spellings that clients use."""
        value = self.arguments.get(name)
        if value is None:
            return False
        return value in (True, 1) or str(value).lower() in {"1", "true"}

    def number(self, name: str, default: int, *, most: int, error: str = "invalid_limit") -> int:
        """A whole number from 1 to `most`; 0 and absence mean the default."""
        value = self.arguments.get(name)
        if value is None or value == "":
            return default
        try:
            number = int(value)
        except (TypeError, ValueError) as problem:
            raise SlackError(error) from problem
        if number < 0 or number > most:
            raise SlackError(error)
        return number or default

    def structure(self, name: str, error: str) -> Any:
        """An object or list, also where it comes as JSON text. Raises `error` if the text is no JSON."""
        value = self.arguments.get(name)
        if not isinstance(value, str):
            return value
        if not value.strip():
            return None
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as problem:
            raise SlackError(error) from problem

    def scope(self, *alternatives: str) -> None:
        """Raises `missing_scope` unless the app was given one of these (an app without a list was given all)."""
        scopes = self.workspace.store.app.scopes
        if self.identity.kind == "bot" and scopes is not None and scopes.isdisjoint(alternatives):
            raise SlackError("missing_scope", needed=",".join(alternatives), provided=",".join(sorted(scopes)))


_ARGUMENT = re.compile(r"\w{1,100}", re.ASCII)
"""Slack tells no number: a name is refused that is very long or has anything but letters, digits and `_`."""

Handler = Callable[[Call], Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method: who handles it, its rate tier (5: special), and the kinds of token that may call it."""

    handler: Handler
    tier: int
    tokens: frozenset[str] = frozenset({"bot", "user"})


def decode(content_type: str, body: bytes, query: bytes) -> dict[str, Any]:
    """The arguments of a request.

    Raises `invalid_json`, `json_not_object`, `invalid_post_type`, `invalid_form_data`, `invalid_arg_name`.
    """
    arguments = _decoded(content_type, body, query)
    if not all(map(_ARGUMENT.fullmatch, arguments)):
        raise SlackError("invalid_arg_name")
    return arguments


def _decoded(content_type: str, body: bytes, query: bytes) -> dict[str, Any]:
    arguments: dict[str, Any] = dict(urllib.parse.parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    kind = content_type.partition(";")[0].strip().lower()
    if not body:
        return arguments
    if kind == "application/json":
        try:
            document = json.loads(body)
        except (ValueError, RecursionError) as problem:
            raise SlackError("invalid_json") from problem
        if not isinstance(document, dict):
            raise SlackError("json_not_object")
        return arguments | document
    if kind in {"application/x-www-form-urlencoded", ""}:
        try:
            return arguments | dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
        except UnicodeDecodeError as problem:
            raise SlackError("invalid_form_data") from problem
    raise SlackError("invalid_post_type")
