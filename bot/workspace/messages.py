"""Posting, changing and deleting messages, and telling the app and the pages. Nothing here checks who may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from bot.workspace.errors import SlackError
from bot.workspace.events import Events
from bot.workspace.model import Channel, Message, User
from bot.workspace.news import News
from bot.workspace.presenting import bot_profile
from bot.workspace.store import Store
from bot.workspace.timestamps import micros, show

UNSHOWN = "This content can't be displayed."
MOST_EMOJI = 50


class Messages:
    """Every change is in the journal when the method returns; events and news follow it."""

    def __init__(self, store: Store, events: Events, news: News, clock: Callable[[], float]) -> None:
        self._store = store
        self._events = events
        self._news = news
        self._clock = clock
        self._ephemerals: dict[tuple[str, int], Message] = {}

    def get(self, channel: Channel, ts: str) -> Message:
        """Raises `message_not_found`."""
        try:
            found = self._store.rooms[channel.id].get(micros(ts))
        except ValueError:
            found = None
        if found is None:
            raise SlackError("message_not_found")
        return found

    def parent(self, channel: Channel, thread_ts: str) -> Message:
        """The message that starts a thread.

        Raises `thread_not_found` for no message, and `cannot_reply_to_message` for a reply: Slack's documents
        only say to avoid a reply's ts, and the real service then posts astray (slackapi/python-slack-sdk#1116):
        a judge has to say no.
        """
        try:
            found = self.get(channel, thread_ts)
        except SlackError as problem:
            raise SlackError("thread_not_found") from problem
        if found.thread_ts is not None:
            raise SlackError("cannot_reply_to_message")
        return found

    def post(
        self,
        channel: Channel,
        author: User,
        content: Mapping[str, Any],
        *,
        thread: Message | None = None,
        broadcast: bool = False,
    ) -> Message:
        """A new message; `content` is its text, blocks, metadata and the like."""
        message = self._new(channel, author, content, thread=thread, broadcast=broadcast)
        self._store.put_message(message)
        self._events.message(message)
        self._news.message(message)
        return message

    def post_ephemeral(
        self,
        channel: Channel,
        author: User,
        reader: User,
        content: Mapping[str, Any],
        *,
        thread: Message | None = None,
    ) -> Message:
        """A message that one person sees until the workspace restarts; it is in no history and makes no event."""
        message = replace(self._new(channel, author, content, thread=thread), only_for=reader.id)
        self._ephemerals[channel.id, message.ts] = message
        self._news.message(message)
        return message

    def ephemeral(self, channel: Channel, ts: int) -> Message | None:
        """The ephemeral message of this ts, if it is still shown."""
        return self._ephemerals.get((channel.id, ts))

    def ephemerals(self, channel: Channel, reader: User) -> list[Message]:
        """What only this reader sees in the channel."""
        return [each for each in self._ephemerals.values() if each.channel == channel.id and each.only_for == reader.id]

    def change(self, message: Message, content: Mapping[str, Any], *, editor: User | None) -> Message:
        """Replaces parts of a message. With an `editor` it is marked as edited, and the app hears of it."""
        document = {**message.document, **content}
        if editor is not None:
            document["edited"] = {"user": editor.id, "ts": show(int(self._clock() * 1_000_000))}
        changed = replace(message, document={name: each for name, each in document.items() if each is not None})
        if message.only_for is not None:
            self._ephemerals[message.channel, message.ts] = changed
        else:
            self._store.put_message(changed)
            self._events.changed(changed, message)
        self._news.changed(changed)
        return changed

    def delete(self, message: Message) -> None:
        """A parent with replies leaves a tombstone, so that the thread stays."""
        if message.only_for is not None:
            del self._ephemerals[message.channel, message.ts]
            self._news.deleted(message)
            return
        if message.thread_ts is None and self._store.rooms[message.channel].replies(message.ts):
            tombstone = {
                "type": "message",
                "subtype": "tombstone",
                "text": "This message was deleted.",
                "user": "USLACKBOT",
                "hidden": True,
            }
            buried = replace(message, document=tombstone, user="USLACKBOT")
            self._store.put_message(buried)
            self._events.changed(buried, message)
            self._news.changed(buried)
            return
        self._events.deleted(message)
        self._store.remove_message(message)
        self._news.deleted(message)
        if message.thread_ts is not None:
            parent = self._store.rooms[message.channel].get(message.thread_ts)
            if parent is not None:
                self._news.changed(parent)

    def react(self, message: Message, user: User, name: str) -> None:
        """Raises `already_reacted`, `too_many_emoji`."""
        reactions = [dict(each) for each in message.document.get("reactions", ())]
        known = next((each for each in reactions if each["name"] == name), None)
        if known is None:
            if len(reactions) >= MOST_EMOJI:
                raise SlackError("too_many_emoji")
            reactions.append({"name": name, "users": [user.id], "count": 1})
        elif user.id in known["users"]:
            raise SlackError("already_reacted")
        else:
            known["users"] = [*known["users"], user.id]
            known["count"] += 1
        self._put_reactions(message, reactions, user, name, added=True)

    def unreact(self, message: Message, user: User, name: str) -> None:
        """Raises `no_reaction`."""
        reactions = [dict(each) for each in message.document.get("reactions", ())]
        known = next((each for each in reactions if each["name"] == name), None)
        if known is None or user.id not in known["users"]:
            raise SlackError("no_reaction")
        known["users"] = [each for each in known["users"] if each != user.id]
        known["count"] -= 1
        self._put_reactions(message, [each for each in reactions if each["count"]], user, name, added=False)

    def _put_reactions(
        self, message: Message, reactions: list[dict[str, Any]], user: User, name: str, *, added: bool
    ) -> None:
        document = {**message.document, "reactions": reactions}
        if not reactions:
            del document["reactions"]
        changed = replace(message, document=document)
        self._store.put_message(changed)
        self._events.reaction(changed, user, name, added=added)
        self._news.reaction(changed)

    def _new(
        self,
        channel: Channel,
        author: User,
        content: Mapping[str, Any],
        *,
        thread: Message | None,
        broadcast: bool = False,
    ) -> Message:
        document: dict[str, Any] = {"type": "message", "user": author.id, "team": self._store.team.id}
        if author.is_bot:
            document |= {
                "bot_id": self._store.app.bot_id,
                "app_id": self._store.app.id,
                "bot_profile": bot_profile(self._store),
            }
        else:
            document["client_msg_id"] = str(uuid4())
        document |= {name: each for name, each in content.items() if each is not None}
        document.setdefault("text", "")
        return Message(
            channel=channel.id,
            ts=self._store.rooms[channel.id].next_ts(self._clock()),
            user=author.id,
            document=document,
            thread_ts=None if thread is None else thread.ts,
            is_broadcast=broadcast and thread is not None,
        )
