"""What readers leave behind: saved entries, and the talk about an entry, counted.

Everything here may be told twice by Slack, and nothing is counted twice: each fact is a row with a key of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bot.model import Channel, Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """An entry on a reader's list."""

    entry: Entry
    saved_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A message that holds an entry."""

    channel: Channel
    ts: str
    thread_ts: str | None = None
    """The parent, where the message stands in a thread."""
    replies: int = field(default=0, compare=False)
    """How much was said under it; no part of which message it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """How much was said about an entry in one channel."""

    channel: Channel
    replies: int = 0
    reactions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What happened to an entry in all its channels."""

    talk: tuple[Talk, ...] = ()
    """Channels in which something was said, each once: a reader is told only of those that are open to them."""
    places: tuple[Place, ...] = ()
    """Where it was posted or shared, the newest last."""


class MarksStorage(Protocol):
    """What saved entries need of the database. Every method raises StorageUnavailable."""

    def save(self, team_id: str, user_id: str, entry_id: int, now: datetime) -> bool:
        """Put the entry on the reader's list; return whether it was new there. An unknown entry is not saved."""

    def unsave(self, team_id: str, user_id: str, entry_id: int) -> bool:
        """Take the entry off the reader's list; return whether it was there."""

    def saved(self, team_id: str, user_id: str, limit: int) -> tuple[Saved, ...]:
        """Return the reader's list, the last saved first."""

    def saved_count(self, team_id: str, user_id: str) -> int:
        """Return how many entries are on the reader's list."""

    def saved_among(self, team_id: str, user_id: str, entry_ids: Collection[int]) -> frozenset[int]:
        """Return those of `entry_ids` that are on the reader's list."""


class DiscussionStorage(Protocol):
    """What counting the talk needs of the database. Every method raises StorageUnavailable."""

    def add_reply(self, channel: Channel, ts: str, thread_ts: str, user_id: str) -> bool:
        """Keep a reply; return whether it is new and its thread belongs to an entry. Other threads are not kept."""

    def remove_reply(self, channel: Channel, ts: str) -> bool:
        """Forget a reply; return whether it was known."""

    def add_reaction(self, channel: Channel, ts: str, user_id: str, name: str) -> bool:
        """Keep a reaction; return whether it is new and its message holds an entry. Others are not kept."""

    def remove_reaction(self, channel: Channel, ts: str, user_id: str, name: str) -> bool:
        """Forget a reaction; return whether it was known."""

    def activity(self, entry_ids: Collection[int], team_id: str | None) -> Mapping[int, Activity]:
        """Return what happened to each of the entries, also where nothing did; None: in all workspaces."""

    def entry_at(self, channel: Channel, ts: str) -> int | None:
        """Return the entry that a message holds: its own message, a further part of it, or a shared one."""

    def first_sight(self, event_id: str, now: datetime) -> bool:
        """Return True the first time this event is seen, to one caller only."""

    def begin_share(self, request_key: str, channel: Channel, entry_id: int, user_id: str, now: datetime) -> bool:
        """Keep that a reader shares an entry; True the first time for this request, to one caller only."""

    def end_share(self, request_key: str, ts: str) -> None:
        """Keep where the shared entry stands."""

    def forget_share(self, request_key: str) -> None:
        """The share did not happen: the same request may be made again."""


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""


class Marks:
    """A reader's own list of saved entries. Safe to use from several threads."""

    def __init__(self, storage: MarksStorage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    def save(self, team_id: str, user_id: str, entry_id: int) -> bool:
        """Save the entry for the reader; return whether it was new on the list. Raises StorageUnavailable."""
        return self._storage.save(team_id, user_id, entry_id, self._clock.now())

    def unsave(self, team_id: str, user_id: str, entry_id: int) -> bool:
        """Take the entry off the list; return whether it was there. Raises StorageUnavailable."""
        return self._storage.unsave(team_id, user_id, entry_id)

    def saved(self, team_id: str, user_id: str, limit: int = 100) -> list[Saved]:
        """Give the reader's list, the last saved first. Raises StorageUnavailable."""
        return list(self._storage.saved(team_id, user_id, limit))

    def saved_count(self, team_id: str, user_id: str) -> int:
        """Give how many entries are on the list. Raises StorageUnavailable."""
        return self._storage.saved_count(team_id, user_id)

    def saved_among(self, team_id: str, user_id: str, entry_ids: Collection[int]) -> frozenset[int]:
        """Give those of `entry_ids` that are on the reader's list. Raises StorageUnavailable."""
        return self._storage.saved_among(team_id, user_id, entry_ids)


class Discussion:
    """The talk about entries: replies, reactions and shares. Safe to use from several threads.

    Every method raises StorageUnavailable.
    """

    def __init__(self, storage: DiscussionStorage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    def count_reply(self, team_id: str, channel_id: str, ts: str, thread_ts: str, user_id: str) -> bool:
        """Count a message in a thread, once; return whether it counts: the thread must be an entry's."""
        if ts == thread_ts:  # the head of a thread is not a reply to itself
            return False
        return self._storage.add_reply(_channel(team_id, channel_id), ts, thread_ts, user_id)

    def forget_reply(self, team_id: str, channel_id: str, ts: str) -> bool:
        """Stop counting a reply that was deleted; return whether it counted."""
        return self._storage.remove_reply(_channel(team_id, channel_id), ts)

    def count_reaction(self, team_id: str, channel_id: str, ts: str, user_id: str, name: str) -> bool:
        """Count a reaction to an entry's message, once for each reader and emoji; return whether it counts."""
        return self._storage.add_reaction(_channel(team_id, channel_id), ts, user_id, name)

    def forget_reaction(self, team_id: str, channel_id: str, ts: str, user_id: str, name: str) -> bool:
        """Stop counting a reaction that was taken back; return whether it counted."""
        return self._storage.remove_reaction(_channel(team_id, channel_id), ts, user_id, name)

    def activity(self, entry_ids: Collection[int], team_id: str | None = None) -> Mapping[int, Activity]:
        """Give for each of the entries what was said about it and where it stands (in one workspace, or in all)."""
        return self._storage.activity(entry_ids, team_id)

    def entry_at(self, team_id: str, channel_id: str, ts: str) -> int | None:
        """Give the entry that the message holds, or None."""
        return self._storage.entry_at(_channel(team_id, channel_id), ts)

    def first_sight(self, event_id: str) -> bool:
        """Whether this event is seen for the first time. Slack delivers an event again when an ack was late."""
        return self._storage.first_sight(event_id, self._clock.now())

    def record_share(self, request_key: str, team_id: str, channel_id: str, entry_id: int, user_id: str) -> bool:
        """Keep, before posting, that a reader shares an entry; False where this very request was made before.

        `request_key` names the click, so that a second delivery of it posts nothing.
        """
        channel = _channel(team_id, channel_id)
        return self._storage.begin_share(request_key, channel, entry_id, user_id, self._clock.now())

    def shared(self, request_key: str, ts: str) -> None:
        """Keep where the shared entry stands, so that its thread counts too."""
        self._storage.end_share(request_key, ts)

    def not_shared(self, request_key: str) -> None:
        """Keep that Slack refused the share: the reader may try again."""
        self._storage.forget_share(request_key)


def _channel(team_id: str, channel_id: str) -> Channel:
    return Channel(team_id=team_id, channel_id=channel_id)
