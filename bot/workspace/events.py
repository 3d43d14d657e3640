"""Events API: what the app hears of, and in which envelope. It hears only of channels it is a member of."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from bot.workspace.dispatch import Dispatcher
from bot.workspace.model import Channel, Json, Message, User
from bot.workspace.presenting import present
from bot.workspace.store import Store
from bot.workspace.timestamps import show

_SUBSCRIPTIONS = {"channel": "message.channels", "group": "message.groups", "im": "message.im"}


class Events:
    """Builds events and hands them to delivery."""

    def __init__(self, store: Store, dispatcher: Dispatcher, clock: Callable[[], float]) -> None:
        self._store = store
        self._dispatcher = dispatcher
        self._clock = clock

    def message(self, message: Message) -> None:
        """A new message; a mention of the bot in a channel is told a second time as `app_mention`."""
        channel = self._store.channels[message.channel]
        document = {**present(self._store, message), **self._place(channel), "event_ts": show(message.ts)}
        self._tell(channel, _SUBSCRIPTIONS[channel.kind], document)
        mention = f"<@{self._store.app.bot_user_id}>"
        if mention in document.get("text", "") and channel.kind != "im" and message.user != self._store.app.bot_user_id:
            told = {**document, "type": "app_mention", "channel_type": None, "client_msg_id": None}
            self._tell(channel, "app_mention", told)

    def changed(self, message: Message, previous: Message) -> None:
        """An edit, or a reply that changed the parent."""
        channel = self._store.channels[message.channel]
        ts = show(self._now())
        self._tell(
            channel,
            _SUBSCRIPTIONS[channel.kind],
            {
                "type": "message",
                "subtype": "message_changed",
                "hidden": True,
                "message": present(self._store, message),
                "previous_message": present(self._store, previous),
                "ts": ts,
                "event_ts": ts,
                **self._place(channel),
            },
        )

    def deleted(self, message: Message) -> None:
        """A message was deleted."""
        channel = self._store.channels[message.channel]
        ts = show(self._now())
        self._tell(
            channel,
            _SUBSCRIPTIONS[channel.kind],
            {
                "type": "message",
                "subtype": "message_deleted",
                "hidden": True,
                "deleted_ts": show(message.ts),
                "previous_message": present(self._store, message),
                "ts": ts,
                "event_ts": ts,
                **self._place(channel),
            },
        )

    def reaction(self, message: Message, user: User, name: str, *, added: bool) -> None:
        """A reaction came or went."""
        kind = "reaction_added" if added else "reaction_removed"
        self._tell(
            self._store.channels[message.channel],
            kind,
            {
                "type": kind,
                "user": user.id,
                "reaction": name,
                "item": {"type": "message", "channel": message.channel, "ts": show(message.ts)},
                "item_user": message.user,
                "event_ts": show(self._now()),
            },
        )

    def joined(self, channel: Channel, user: User, inviter: User | None) -> None:
        """A user became a member."""
        document: Json = {
            "type": "member_joined_channel",
            "user": user.id,
            "channel": channel.id,
            "channel_type": "G" if channel.kind == "group" else "C",
            "team": self._store.team.id,
            "event_ts": show(self._now()),
        }
        if inviter is not None:
            document["inviter"] = inviter.id
        self._tell(channel, "member_joined_channel", document)

    def home_opened(self, user: User, channel: Channel, view: Json | None) -> None:
        """A person opened the Home tab, with `view` as it is now."""
        document: Json = {
            "type": "app_home_opened",
            "user": user.id,
            "channel": channel.id,
            "tab": "home",
            "event_ts": show(self._now()),
        }
        if view is not None:
            document["view"] = view
        self._send("app_home_opened", document)

    def _now(self) -> int:
        return int(self._clock() * 1_000_000)

    def _place(self, channel: Channel) -> Json:
        return {"channel": channel.id, "channel_type": channel.kind}

    def _tell(self, channel: Channel, subscription: str, event: Json) -> None:
        if self._store.app.bot_user_id in channel.members:
            self._send(subscription, event)

    def _send(self, subscription: str, event: Json) -> None:
        app = self._store.app
        if subscription not in app.events:
            return
        self._dispatcher.event(
            {
                "token": app.verification_token,
                "team_id": self._store.team.id,
                "context_team_id": self._store.team.id,
                "context_enterprise_id": None,
                "api_app_id": app.id,
                "event": {name: value for name, value in event.items() if value is not None},
                "type": "event_callback",
                "event_id": "Ev" + secrets.token_hex(5).upper(),
                "event_time": int(self._clock()),
                "authorizations": [
                    {
                        "enterprise_id": None,
                        "team_id": self._store.team.id,
                        "user_id": app.bot_user_id,
                        "is_bot": True,
                        "is_enterprise_install": False,
                    }
                ],
                "is_ext_shared_channel": False,
            }
        )
