"""What an open page hears: the same changes as the app, with the HTML to show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.workspace import html
from bot.workspace.hub import Hub
from bot.workspace.model import Json, Message, User, View
from bot.workspace.presenting import present
from bot.workspace.store import Store
from bot.workspace.timestamps import show


class News:
    """Builds news and hands it to the open pages; also the names that the renderer asks for."""

    def __init__(self, store: Store, hub: Hub) -> None:
        self._store = store
        self._hub = hub

    # the names that the renderer asks for

    def user(self, user_id: str, /) -> str:
        """The name of a user."""
        known = self._store.users.get(user_id)
        return known.name if known else user_id

    def channel(self, channel_id: str, /) -> str:
        """The name of a channel."""
        known = self._store.channels.get(channel_id)
        return known.name if known else channel_id

    def shown(self, message: Message) -> Json:
        """A message for the page: Slack's object, its HTML, and whether only this user sees it."""
        document = present(self._store, message)
        return {
            **document,
            "channel": message.channel,
            "html": html.render_message(document, self),
            "ephemeral": message.only_for is not None,
            "reply_count": document.get("reply_count", 0),
            "reactions": document.get("reactions", []),
        }

    def shown_view(self, document: Mapping[str, Any]) -> Json:
        """A view for the page: Slack's object and its HTML."""
        return {**document, "html": html.render_view(document, self)}

    def message(self, message: Message) -> None:
        """A message came; a reply also changes its parent."""
        self._about("ephemeral" if message.only_for else "message", message)
        if message.thread_ts is not None and message.only_for is None:
            parent = self._store.rooms[message.channel].get(message.thread_ts)
            if parent is not None:
                self._about("message_changed", parent)

    def changed(self, message: Message) -> None:
        """A message was edited."""
        self._about("message_changed", message)

    def reaction(self, message: Message) -> None:
        """The reactions of a message changed."""
        self._about("reaction", message)

    def deleted(self, message: Message) -> None:
        """A message is gone."""
        self._publish(
            {
                "type": "message_deleted",
                "channel": message.channel,
                "ts": show(message.ts),
                "thread_ts": None if message.thread_ts is None else show(message.thread_ts),
            },
            message,
        )

    def channels(self) -> None:
        """The list of channels changed."""
        self._hub.publish({"type": "channel"})

    def view(self, kind: str, view: View, document: Mapping[str, Any]) -> None:
        """`view_open`, `view_update`, `view_close` or `home`, for the view's own user."""
        if self._hub:
            news = {"type": kind, "view": self.shown_view(document), "view_id": view.id}
            self._hub.publish(news, only_for=frozenset({view.user}))

    def error(self, user: User, text: str) -> None:
        """Something to tell one person."""
        self._hub.publish({"type": "error", "message": text}, only_for=frozenset({user.id}))

    def _about(self, kind: str, message: Message) -> None:
        if self._hub:
            self._publish({"type": kind, "channel": message.channel, "message": self.shown(message)}, message)

    def _publish(self, news: Json, message: Message) -> None:
        channel = self._store.channels[message.channel]
        if message.only_for is not None:
            self._hub.publish(news, only_for=frozenset({message.only_for}))
        else:
            self._hub.publish(news, only_for=frozenset(channel.members) if channel.is_private else None)
