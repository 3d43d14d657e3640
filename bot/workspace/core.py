"""The workspace as one thing: its parts, put together, and who may reach what."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.workspace.calls import CallLog
from bot.workspace.dispatch import Dispatcher
from bot.workspace.errors import SlackError
from bot.workspace.events import Events
from bot.workspace.faults import Faults
from bot.workspace.hub import Hub
from bot.workspace.journal import Journal
from bot.workspace.limits import Limits
from bot.workspace.messages import Messages
from bot.workspace.modals import Modals
from bot.workspace.model import Channel, Timing, User
from bot.workspace.news import News
from bot.workspace.sockets import Sockets
from bot.workspace.store import Store
from bot.workspace.tickets import Tickets


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a workspace is set up. `clock` gives seconds since the epoch; `keep` is the folder of its journal."""

    team_name: str = "Local workspace"
    app_name: str = "digest-bot"
    people: tuple[str, ...] = ("reader", "colleague")
    keep: Path | None = None
    rate_limits: bool = False
    posts_a_minute: int | None = None
    timing: Timing = field(default_factory=Timing)
    clock: Callable[[], float] = time.time


class Workspace:
    """All parts of one workspace. `url` is its address without a slash at the end. Lives in one event loop."""

    def __init__(self, options: Options, url: str) -> None:
        self.url = url
        self.clock = options.clock
        self.timing = options.timing
        journal = None if options.keep is None else Journal(options.keep)
        self.store = Store(
            team_name=options.team_name, app_name=options.app_name, people=options.people, journal=journal
        )
        self.hub = Hub()
        self.log = CallLog()
        self.faults = Faults()
        self.limits = Limits(options.clock, is_on=options.rate_limits, posts_a_minute=options.posts_a_minute)
        self.sockets = Sockets(url, self.store.app.id)
        self.dispatcher = Dispatcher(self.sockets, lambda: self.store.app, options.clock, options.timing)
        self.events = Events(self.store, self.dispatcher, options.clock)
        self.news = News(self.store, self.hub)
        self.messages = Messages(self.store, self.events, self.news, options.clock)
        self.modals = Modals(self.store, self.news, options.clock)
        self.tickets = Tickets(options.clock, options.timing)
        self._furnish()

    def _furnish(self) -> None:
        """`#general`, with everybody in it."""
        if self.store.channel_named("general") is None:
            people = list(self.store.users.values())
            first = next(user for user in people if not user.is_bot)
            general = self.store.create_channel("general", private=False, creator=first, now=self.clock())
            self.store.put_channel(replace(general, members=tuple(user.id for user in people)))

    def end(self) -> None:
        """End deliveries, pages and links. The journal stays open until the server is down."""
        self.dispatcher.stop()
        self.hub.close()
        self.sockets.drop()

    # who may reach what

    def visible(self, channel: Channel, user: User) -> bool:
        """True if the user may know of the channel."""
        return not channel.is_private or user.id in channel.members

    def channel(self, reference: str, user: User) -> Channel:
        """The channel of this ID as the user may see it. Raises `channel_not_found`, also for what is private."""
        found = self.store.channels.get(reference)
        if found is None or not self.visible(found, user):
            raise SlackError("channel_not_found")
        return found

    def channel_to_post(self, reference: str, user: User) -> Channel:
        """Like `channel`, and takes `#name`, `name`, or a user's ID for a direct conversation, as `chat.*` does."""
        if reference in self.store.users and reference != user.id:
            return self.store.open_im(user, self.store.users[reference], self.clock())
        named = self.store.channel_named(reference.removeprefix("#"))
        if named is not None and self.visible(named, user):
            return named
        return self.channel(reference, user)

    # membership

    def join(self, channel: Channel, user: User, *, inviter: User | None = None) -> Channel:
        """Adds a member, tells the channel and the app."""
        if user.id in channel.members:
            return channel
        joined = self.store.put_channel(replace(channel, members=(*channel.members, user.id)))
        if channel.kind != "im":
            notice = {"subtype": "channel_join", "text": f"<@{user.id}> has joined the channel"}
            if inviter is not None:
                notice["inviter"] = inviter.id
            self.messages.post(joined, user, notice)
            self.events.joined(joined, user, inviter)
        self.news.channels()
        return joined

    def leave(self, channel: Channel, user: User) -> Channel:
        """Take a member away."""
        left = self.store.put_channel(
            replace(channel, members=tuple(each for each in channel.members if each != user.id))
        )
        self.news.channels()
        return left
