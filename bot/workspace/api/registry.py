"""All methods by name, and the way a call goes: token, kind of token, rate, handler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.workspace.api import chat, conversations, history, people, reactions, views
from bot.workspace.api.call import Call, Method
from bot.workspace.core import Workspace
from bot.workspace.errors import SlackError
from bot.workspace.model import Identity, Json

_NOBODY = Identity(kind="app", token="", user=None)


class Registry:
    """The Web API of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._methods: Mapping[str, Method] = {
            **chat.methods(),
            **conversations.methods(),
            **history.methods(),
            **people.methods(),
            **reactions.methods(),
            **views.methods(),
        }

    def tier(self, method: str) -> int:
        """The rate tier of a method; unknown ones count as tier 4."""
        known = self._methods.get(method)
        return known.tier if known else 4

    def answer(self, method: str, arguments: Mapping[str, Any], token: str | None) -> Json:
        """The body of the answer. Raises `SlackError` for a refusal."""
        if method == "api.test":
            return _api_test(arguments)
        if method == "blocks.validate":
            return views.validate(self._call(method, arguments, _NOBODY))
        known = self._methods.get(method)
        if known is None:
            raise SlackError("unknown_method", req_method=method)
        identity = self._identity(token)
        if identity.kind not in known.tokens:
            raise SlackError("not_allowed_token_type")
        return known.handler(self._call(method, arguments, identity))

    def _identity(self, token: str | None) -> Identity:
        if not token:
            raise SlackError("not_authed")
        return self._workspace.store.identity(token)

    def _call(self, method: str, arguments: Mapping[str, Any], identity: Identity) -> Call:
        return Call(workspace=self._workspace, method=method, arguments=arguments, identity=identity)


def _api_test(arguments: Mapping[str, Any]) -> Json:
    args = {name: value for name, value in arguments.items() if name != "token"}
    if "error" in args:
        raise SlackError(str(args["error"]), args=args)
    return {"ok": True, "args": args}
