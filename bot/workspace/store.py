"""All durable state: people, channels, messages, Home tabs, the app. Every change goes to the journal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from bot.workspace import ids
from bot.workspace.errors import SlackError, WorkspaceError
from bot.workspace.journal import Journal, Record
from bot.workspace.manifest import first_app
from bot.workspace.model import (
    App,
    Channel,
    ChannelKind,
    Command,
    Identity,
    Message,
    Shortcut,
    Team,
    User,
    View,
)
from bot.workspace.rooms import Room

_NAME_LENGTH = 80


class Store:
    """Lookups raise nothing and return None; changes are visible at once and written before they return."""

    def __init__(self, *, team_name: str, app_name: str, people: tuple[str, ...], journal: Journal | None) -> None:
        self.team = Team(id=ids.derive("T", team_name), name=team_name, domain="local")
        self.app = first_app(team_name, app_name)
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.rooms: dict[str, Room] = {}
        self.homes: dict[str, View] = {}
        self.token_faults: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._identities: dict[str, Identity] = {}
        self._journal = journal
        if journal is not None:
            for record in journal.read():
                self._load(record)
            journal.compact(self._records())
        self._add_user(User(id=self.app.bot_user_id, name=app_name, real_name=app_name, is_bot=True))
        for name in people:
            self.add_person(name)
        self._identities[ids.bot_token(app_name)] = Identity(
            kind="bot", token=ids.bot_token(app_name), user=self.users[self.app.bot_user_id]
        )
        self._identities[ids.app_token(app_name)] = Identity(kind="app", token=ids.app_token(app_name), user=None)

    # people

    @property
    def bot_user(self) -> User:
        """The bot as a user."""
        return self.users[self.app.bot_user_id]

    def add_person(self, name: str) -> User:
        """The person of this name, made if new. The token is `xoxp-local-<name>`."""
        person = User(id=ids.derive("U", self.team.name, name), name=name, real_name=name.capitalize())
        self._add_user(person)
        return person

    def _add_user(self, user: User) -> None:
        if user.id not in self.users:
            self.users[user.id] = user
            self._write("user", user.id, asdict(user))
        if not user.is_bot:
            token = ids.user_token(user.name)
            self._identities[token] = Identity(kind="user", token=token, user=user)

    def user_named(self, name: str) -> User | None:
        """The user of this name or ID."""
        return next((user for user in self.users.values() if name in (user.name, user.id)), None)

    def identity(self, token: str) -> Identity:
        """Raises `invalid_auth`, `token_revoked`, `account_inactive`, `token_expired`."""
        if token not in self._identities:
            raise SlackError("invalid_auth")
        if token in self.token_faults:
            raise SlackError(self.token_faults[token])
        return self._identities[token]

    # channels

    def channel_named(self, name: str) -> Channel | None:
        """The channel of this name; direct conversations have none."""
        known = self._names.get(name)
        return None if known is None else self.channels[known]

    def create_channel(self, name: str, *, private: bool, creator: User, now: float) -> Channel:
        """Raises the `invalid_name*` codes and `name_taken`."""
        check_channel_name(name)
        if self.channel_named(name) is not None:
            raise SlackError("name_taken")
        return self.put_channel(
            Channel(
                id=ids.derive("C", self.team.name, name),
                name=name,
                kind="group" if private else "channel",
                creator=creator.id,
                created=int(now),
                members=(creator.id,),
            )
        )

    def open_im(self, first: User, second: User, now: float) -> Channel:
        """The direct conversation of two users, made if new."""
        pair = sorted((first.id, second.id))
        channel_id = ids.derive("D", self.team.name, *pair)
        known = self.channels.get(channel_id)
        if known is not None:
            return known
        kind: ChannelKind = "im"
        return self.put_channel(
            Channel(id=channel_id, name=channel_id, kind=kind, creator=first.id, created=int(now), members=tuple(pair))
        )

    def put_channel(self, channel: Channel) -> Channel:
        """Add or replace a channel."""
        self._enter(channel)
        self._write("channel", channel.id, asdict(channel))
        return channel

    def _enter(self, channel: Channel) -> None:
        self.channels[channel.id] = channel
        self.rooms.setdefault(channel.id, Room(channel.last_ts))
        if channel.kind != "im":
            self._names[channel.name] = channel.id

    # messages, Home tabs, app

    def put_message(self, message: Message) -> None:
        """Add or replace a message."""
        self.rooms[message.channel].put(message)
        self._write("message", f"{message.channel}/{message.ts}", asdict(message))

    def remove_message(self, message: Message) -> None:
        """Take a message away."""
        self.rooms[message.channel].remove(message.ts)
        self._write("message", f"{message.channel}/{message.ts}", None)

    def put_home(self, view: View) -> None:
        """Add or replace a person's Home tab."""
        self.homes[view.user] = view
        self._write("home", view.user, asdict(view))

    def put_app(self, app: App) -> None:
        """Replace the app."""
        self.app = app
        self._write("app", app.id, _app_record(app))

    def set_token_fault(self, token: str, code: str | None) -> None:
        """From now on calls with this token are refused with `code`; None heals it."""
        if token not in self._identities:
            raise WorkspaceError("unknown token")
        if code is None:
            self.token_faults.pop(token, None)
        else:
            self.token_faults[token] = code
        self._write("token", token, None if code is None else {"code": code})

    def close(self) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()

    # journal

    def _write(self, table: str, key: str, value: dict[str, Any] | None) -> None:
        if self._journal is not None:
            self._journal.append(Record(table, key, value))

    def _load(self, record: Record) -> None:  # noqa: C901 - one case a table
        match record:
            case Record("user", key, dict(value)):
                self.users[key] = User(**value)
            case Record("channel", _, dict(value)):
                self._enter(Channel(**{**value, "members": tuple(value["members"])}))
            case Record("message", _, dict(value)):
                self.rooms[value["channel"]].put(Message(**value))
            case Record("message", key, None):
                channel, ts = key.split("/")
                if self.rooms[channel].get(int(ts)) is not None:
                    self.rooms[channel].remove(int(ts))
            case Record("home", key, dict(value)):
                self.homes[key] = View(**value)
            case Record("app", _, dict(value)):
                self.app = _app_from(value)
            case Record("token", key, value):
                self.token_faults.pop(key, None)
                if value is not None:
                    self.token_faults[key] = value["code"]
            case Record(table, _, _):
                raise WorkspaceError(f"the journal holds a table of another version: {table}")

    def _records(self) -> Iterator[Record]:
        for user in self.users.values():
            yield Record("user", user.id, asdict(user))
        for channel in self.channels.values():
            last = self.rooms[channel.id].last_ts
            yield Record("channel", channel.id, asdict(replace(channel, last_ts=last)))
            for message in self.rooms[channel.id]:
                yield Record("message", f"{channel.id}/{message.ts}", asdict(message))
        for view in self.homes.values():
            yield Record("home", view.user, asdict(view))
        for token, code in self.token_faults.items():
            yield Record("token", token, {"code": code})
        yield Record("app", self.app.id, _app_record(self.app))


def check_channel_name(name: str) -> None:
    """Names are letters and digits of any script without case, `-` and `_`, at most 80 characters."""
    if not name:
        raise SlackError("invalid_name_required")
    if len(name) > _NAME_LENGTH:
        raise SlackError("invalid_name_maxlength")
    if re.fullmatch(r"[-_]+", name):
        raise SlackError("invalid_name_punctuation")
    if any(not (each in "-_" or unicodedata.category(each)[0] in "LMN") or each != each.lower() for each in name):
        raise SlackError("invalid_name_specials")


def _app_record(app: App) -> dict[str, Any]:
    record = asdict(app)
    return {
        **record,
        "events": sorted(app.events),
        "scopes": None if app.scopes is None else sorted(app.scopes),
    }


def _app_from(value: dict[str, Any]) -> App:
    return App(
        **{
            **value,
            "events": frozenset(value["events"]),
            "scopes": None if value["scopes"] is None else frozenset(value["scopes"]),
            "commands": tuple(Command(**each) for each in value["commands"]),
            "shortcuts": tuple(Shortcut(**each) for each in value["shortcuts"]),
        }
    )
