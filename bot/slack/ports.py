"""What the listeners ask of the rest of the house. Each docstring is the contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

from bot.model import Channel, Entry, Json, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who asks, and where they are looking."""

    team_id: str
    user_id: str
    channel_id: str | None = None
    """None on the Home tab and in the global search."""
    user_name: str = ""
    """For texts that are read aloud; empty where Slack did not say."""
    public: bool = False
    """The answer will be read by the whole channel: only what everybody there may see is linked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A sentence of ours by its key (`sentence.<key>` of the strings), with its slots."""

    key: str
    values: Mapping[str, str]


class Desk(Protocol):
    """Answers to one reader. Methods raise `StorageUnavailable` where waiting helps."""

    def latest(self, reader: Reader) -> Message:
        """The newest edition that this channel was sent (or the newest of all, where it was sent none)."""

    def help(self, reader: Reader) -> Message:
        """The query language by examples."""

    def saved(self, reader: Reader) -> Message:
        """What the reader keeps, with a menu to take one away."""

    def search(self, reader: Reader, text: str) -> Message:
        """The first page of hits, an edition where `text` is a day, or what to try. Any text is answered."""

    def page(self, reader: Reader, state: str) -> Message:
        """A further page; `state` is what a `search_next` button carries, or anything else."""

    def entry(self, reader: Reader, entry_id: int) -> dict[str, Any] | None:
        """The entry whole, as a modal; None where there is no such entry."""

    def search_form(self, reader: Reader, *, query: str = "", answer: Message | None = None) -> dict[str, Any]:
        """The search modal, with an answer under its field once there is one. Asks no database."""

    def share_form(self, reader: Reader, entry_id: int) -> dict[str, Any] | None:
        """The form before an entry is shared to the reader's channel; None where there is no such entry or channel."""

    def home(self, reader: Reader) -> dict[str, Any]:
        """The reader's Home tab."""

    def keep(self, reader: Reader, entry_id: int, *, saved: bool) -> Said:
        """Save the entry for the reader, or take it out. Doing it twice is doing it once."""

    def keep_message(self, reader: Reader, *, channel_id: str, ts: str) -> Said:
        """Save the entry that this message shows; a sentence where it shows none."""

    def sentence(self, reader: Reader, key: str, **values: str) -> Message:
        """A sentence of ours in the reader's language."""

    def sentence_view(self, reader: Reader, key: str, **values: str) -> Json:
        """The same as a modal."""


class Sharing(Protocol):
    """What readers make the bot post. Each method waits for Slack, so it belongs after the ack."""

    def share(self, reader: Reader, entry_id: int, *, channel_id: str, comment: str, request_key: str) -> Said:
        """Post the entry in the reader's name, once per `request_key`, and tell what became of it."""

    def answer_mention(self, reader: Reader, text: str, *, event_id: str, channel_id: str, thread_ts: str) -> None:
        """Answer in the thread, once per event."""


class Membership(Protocol):
    """Who hears that the bot has come into a channel: its block can be lifted at once."""

    def joined(self, *, team_id: str, channel_id: str) -> None:
        """The bot is a member now."""


class Archive(Protocol):
    """What storage knows of entries and editions. Every method raises `StorageUnavailable`."""

    def entry(self, entry_id: int) -> Entry | None:
        """The entry in its present wording, if it exists."""

    def latest(self, channel: Channel | None) -> date | None:
        """The newest edition of which the channel was sent an entry; None for a channel: the newest of all."""

    def sent_on(self, team_id: str, day: date) -> Mapping[str, Sequence[Entry]]:
        """What each channel was sent in its slots of this local date, in order, by channel ID."""
