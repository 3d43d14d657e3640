"""Furnishing the workspace: the operator's own changes, which no token is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.workspace import http_mode
from bot.workspace.core import Workspace
from bot.workspace.errors import SlackError, WorkspaceError
from bot.workspace.manifest import apply_manifest
from bot.workspace.model import App, Channel, User
from bot.workspace.sockets import NotDelivered


class Setup:
    """Channels, members and the app, by name."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def channel(self, name: str, *, private: bool = False) -> Channel:
        """The channel of this name, made if new, with every person in it. The app is not a member until added."""
        store = self._workspace.store
        name = name.removeprefix("#")
        known = store.channel_named(name)
        if known is not None:
            return known
        people = [user for user in store.users.values() if not user.is_bot]
        try:
            made = store.create_channel(name, private=private, creator=people[0], now=self._workspace.clock())
        except SlackError as refused:
            raise WorkspaceError(f"a channel cannot be called {name!r}: {refused}") from refused
        made = store.put_channel(replace(made, members=tuple(user.id for user in people)))
        self._workspace.news.channels()
        return made

    def channel_with(self, name: str, *, private: bool = False, with_bot: bool = True) -> Channel:
        """As `channel`, with the app's bot in it unless told otherwise."""
        made = self.channel(name, private=private)
        return self.add_member(made.name, self._workspace.store.app.bot_user_id) if with_bot else made

    def describe(self, manifest: Mapping[str, Any]) -> None:
        """Make the app what its manifest says; how it is reached stays."""
        store = self._workspace.store
        store.put_app(apply_manifest(store.app, manifest))

    def add_member(self, channel: str, user: str) -> Channel:
        """Makes a user a member, as if invited by the channel's creator."""
        found, member = self._channel(channel), self._user(user)
        return self._workspace.join(found, member, inviter=self._workspace.store.users.get(found.creator))

    def remove_member(self, channel: str, user: str) -> Channel:
        """Take a user out of a channel."""
        return self._workspace.leave(self._channel(channel), self._user(user))

    async def install(
        self,
        manifest: Mapping[str, Any] | None,
        *,
        request_url: str | None = None,
        signing_secret: str | None = None,
        is_verified: bool = True,
    ) -> App:
        """Installs the app anew. With a request URL it is an app of HTTP mode, once the URL answers the challenge."""
        store = self._workspace.store
        app = store.app if manifest is None else apply_manifest(store.app, manifest)
        app = replace(app, request_url=request_url, signing_secret=signing_secret or app.signing_secret)
        if request_url is not None and is_verified:
            try:
                await http_mode.verify_url(
                    request_url,
                    app.signing_secret,
                    app.verification_token,
                    now=self._workspace.clock(),
                    wait=self._workspace.timing.ack,
                )
            except NotDelivered as problem:
                raise WorkspaceError(f"{request_url} cannot be reached: {problem.reason}") from problem
        store.put_app(app)
        return app

    def _channel(self, name: str) -> Channel:
        found = self._workspace.store.channel_named(name.removeprefix("#")) or self._workspace.store.channels.get(name)
        if found is None:
            raise WorkspaceError(f"no such channel: {name}")
        return found

    def _user(self, name: str) -> User:
        found = self._workspace.store.user_named(name)
        if found is None:
            raise WorkspaceError(f"no such user: {name}")
        return found
