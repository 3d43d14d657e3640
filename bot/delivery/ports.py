"""The seams of delivery. Each docstring is the contract: an implementation keeps it, the code here relies on it.

Storage methods raise `StorageUnavailable` where waiting helps and `StorageError` where it does not; each one is a
transaction of its own, complete or without effect. No method reads the clock: `now` comes in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from threading import Event
from typing import Protocol, TypeVar

from bot.delivery.person import AlertStorage, DeskStorage
from bot.delivery.policy import Style
from bot.delivery.values import (
    Answer,
    Block,
    ChannelState,
    DocumentNews,
    Doubtful,
    Draft,
    EntryBehind,
    Lane,
    Look,
    Record,
    RecordedSlot,
    Resolution,
    RootBehind,
    RootView,
    SentMessage,
    Shown,
    SlotPlan,
    SlotView,
    Turn,
    Wording,
)
from bot.model import Channel, Delivery, Entry, Message


class Clock(Protocol):
    """The time, and waiting for it."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""

    def wait(self, seconds: float, stop: Event) -> bool:
        """Wait up to `seconds`; return True at once when `stop` is set."""


class PlanStorage(Protocol):
    """What planning reads and writes. Any replica may plan: the slot's UNIQUE row decides."""

    def register_channel(self, channel: Channel, name: str, now: datetime) -> ChannelState:
        """Return the channel's state, having inserted it with `known_since=now` if it was new."""

    def register_channels(self, names: Mapping[Channel, str], now: datetime) -> Mapping[Channel, ChannelState]:
        """Do as `register_channel` for each; `names` has the name of each."""

    def slots_of(self, channels: Sequence[Channel], since: date) -> Mapping[Channel, tuple[RecordedSlot, ...]]:
        """Return each channel's decided slots with `local_date >= since`, oldest first."""

    def fresh_documents_of(self, channels: Sequence[Channel]) -> Mapping[Channel, tuple[int, ...]]:
        """Return the ids of accepted documents that no slot of the channel has told about, for each channel.

        Order: edition, then id. Superseded documents are left out.
        """

    def document_news(self, ids: Sequence[int]) -> Mapping[int, DocumentNews]:
        """Return the documents with their entries (present wording) by position."""

    def taken_by(self, channels: Sequence[Channel], entry_ids: Sequence[int]) -> Mapping[Channel, frozenset[int]]:
        """Return those of `entry_ids` that have an ENTRY delivery in the channel, in whatever state, by channel."""

    def record_plan(self, plan: SlotPlan, now: datetime) -> int | None:
        """Insert the slot, its drafts and its told documents in one transaction; return the slot's id.

        Return None, and change nothing, where the slot exists already, or where another slot of the channel has told
        about one of the documents meanwhile: another replica won, and planning again finds what is left. A draft
        whose UNIQUE row exists (an entry that another slot took meanwhile) is passed over alone. Ordinals go on from
        the channel's greatest, in the order of `plan.drafts`. With `plan.baseline`, set `baseline_at` if it is None.
        """

    def record_plans(self, plans: Sequence[SlotPlan], now: datetime) -> tuple[int | None, ...]:
        """Do as `record_plan` for each, in this order, each complete or without effect.

        Many may share a transaction. No two of them may tell one channel about the same document.
        """

    def planned(self, channel: Channel) -> tuple[Delivery, ...]:
        """Return the channel's PLANNED ROOT and ENTRY deliveries in order."""

    def skip(self, delivery_ids: Sequence[int], reason: str, now: datetime) -> int:
        """Turn those that are still PLANNED into SKIPPED with `error=reason`; return how many."""


class SendStorage(Protocol):
    """What sending reads and writes."""

    def lease(
        self,
        owner: str,
        now: datetime,
        until: datetime,
        *,
        since: datetime,
        limit: int,
        ahead: timedelta = timedelta(seconds=1),
        apart_from: Collection[Channel] = (),
    ) -> tuple[Channel, ...]:
        """Lease up to `limit` channels that have something to send now; return them, the longest waiting first.

        None of `apart_from`, which are few: those that the caller cannot serve.
        Such a channel has a PLANNED delivery other than an update, its lease is free or ran out before `now` (also
        where `owner` held it), its block is absent or over (`until <= now`), its workspace has no block at all (not
        even one that is over: see `team_blocks`), its `next_post_at` is at most `ahead` after `now`, the first of its
        PLANNED deliveries has no `next_try_at` after `now`, and it has no unresolved delivery (SENDING, UNCERTAIN or
        HELD, other than an update) whose first attempt began at or after `since` (SENDING: whose last one did): such
        a one holds back the others.
        Entries of a COMPACT or THREAD slot whose root is unresolved are not counted as planned, however long it takes.
        Two callers never get the same channel.
        """

    def release(self, owner: str, channels: Sequence[Channel]) -> None:
        """Give the leases back, where `owner` still holds them."""

    def turns(self, channels: Sequence[Channel], since: datetime, limit: int) -> Mapping[Channel, Turn]:
        """Return what each channel has to send: at most `limit` of its queue, and what holds it back (see `lease`).

        Without the entries that wait for their root: see `lease`.
        """

    def claim(
        self,
        owner: str,
        delivery_ids: Sequence[int],
        now: datetime,
        until: datetime,
        shown: Mapping[int, Shown] = ...,
    ) -> frozenset[int]:
        """Turn PLANNED into SENDING; return the ids that were won.

        Won only where `owner` holds the channel's lease at `now` (for an UPDATE: no lease is needed). Winning counts
        `attempts` up by one, sets `sending_since=now` (the first attempt's is kept apart for `Doubtful.oldest`),
        `claimed_by=owner`, `claimed_until=until`, and extends the channel's lease to `until`.
        `shown` says, by id, what the messages show: it is kept until the next claim. Of a root that folds its entries,
        the present revisions of these are kept as well.
        """

    def record(self, owner: str, records: Sequence[Record], now: datetime) -> frozenset[int]:
        """Write down what became of claimed deliveries; return the ids that were accepted.

        SENT is proof and wins over every state but SENT. Anything else is accepted only while the delivery is
        SENDING, claimed by `owner`, and `attempts` equals `record.attempt`.
        UNCERTAIN counts `doubts` up by one. However an ENTRY's part 0 becomes SENT (here, by `resolve` or by a person),
        its further parts are planned then. An UPDATE of part 0 plans new parts, and UPDATEs of those that stand.
        """

    def block_channel(self, channel: Channel, block: Block, now: datetime) -> bool:
        """Block the channel; return whether this reason is new to it (so that a person is told once)."""

    def unblock_channel(self, channel: Channel) -> bool:
        """Lift the channel's block; return whether there was one."""

    def block_team(self, team_id: str, block: Block, now: datetime) -> bool:
        """Block the workspace; return whether this reason is new to it."""

    def unblock_team(self, team_id: str) -> bool:
        """Lift the workspace's block; return whether there was one."""

    def team_blocks(self) -> Mapping[str, Block]:
        """Return the blocked workspaces, also those whose `until` is over: they wait for a successful check."""

    def probe_team(self, team_id: str, now: datetime, until: datetime) -> bool:
        """Move an overdue workspace block (`until <= now`) on to `until`; True for the one caller that did."""

    def reserve_channel(self, channel: Channel, now: datetime, gap: timedelta) -> datetime:
        """Return the instant at which something else than a delivery may go to the channel, `>= now`, and take it.

        `max(next_post_at, now)` is returned and `next_post_at` becomes that plus `gap`, atomically. A channel that
        is not registered has no pace: `now`.
        """

    def reserve_team(self, team_id: str, lane: Lane, now: datetime, interval: timedelta) -> datetime:
        """Return the instant at which the next call in this lane may go, `>= now`, and take it.

        `max(stored, now)` is returned and that plus `interval` is stored, atomically: over all replicas, calls are
        at least `interval` apart.
        """

    def end_waits(self, now: datetime, longest: timedelta) -> int:
        """End every pace, block, lease and wait for another try that lasts longer than `longest`; return how many.

        Claims stay: whoever made one trusts that nobody looks for its message before the end.
        """


class ReconcileStorage(Protocol):
    """What settles doubt."""

    def expire_sending(self, now: datetime, look_at: datetime) -> tuple[Delivery, ...]:
        """Turn SENDING deliveries with `claimed_until < now` into UNCERTAIN with `next_try_at=look_at`; return them.

        An UPDATE is idempotent and goes back to PLANNED instead.
        """

    def uncertain(self, now: datetime, limit: int) -> tuple[Doubtful, ...]:
        """Return UNCERTAIN deliveries with `next_try_at <= now`, in order of channel and ordinal."""

    def resolve(self, resolution: Resolution, now: datetime) -> bool:
        """Write the resolution, if the delivery is still in the expected state and attempt; return whether it was.

        What a look found (SENT with an `attempt`) is proof, and taken in every state but SENT: another look may have
        seen nothing a moment before. PLANNED resets `looks`; a person's word (`expected` HELD or FAILED) resets
        `doubts` and `refusals`; SENT of a compact slot's root folds its entries as `Record.folds` does.
        """


class UpdateStorage(Protocol):
    """What keeps sent messages true. `among`: the channels that count; those of the others wait, and block nobody."""

    def entries_behind(self, limit: int, *, among: Collection[Channel]) -> tuple[EntryBehind, ...]:
        """Return sent entries whose revision is greater than told, without an UPDATE of that revision.

        Not those folded into a compact root (they make their root behind), and not those deleted by somebody (an
        UPDATE of theirs that is SKIPPED). Further parts are not named: they follow from the update of the first.
        """

    def roots_behind(self, limit: int, *, among: Collection[Channel]) -> tuple[RootBehind, ...]:
        """Return sent roots of planned slots that are done, show less than they should, and have no UPDATE for it.

        They should show revision 1 + the sum of (entry revision - 1) over the slot's entries that are not SKIPPED
        + the number of those that are SENT, so that an entry that comes late gets its link.

        Done: none of the slot's entries is PLANNED, SENDING or UNCERTAIN. Not roots deleted by somebody.
        """

    def add_deliveries(self, channel: Channel, drafts: Sequence[Draft], slot_id: int | None, now: datetime) -> int:
        """Insert drafts (updates, replies) with the next ordinals; pass over those that exist; return how many."""

    def due_updates(self, now: datetime, limit: int, *, among: Collection[Channel]) -> tuple[Delivery, ...]:
        """Return PLANNED UPDATE deliveries that may go: channel and workspace not blocked, `next_try_at` not ahead.

        `Delivery.ts` holds the `ts` of the message to change. Oldest first.
        """


class ViewStorage(Protocol):
    """What messages are made from."""

    def slot_views(self, slot_ids: Sequence[int]) -> Mapping[int, SlotView]:
        """Return the slots, those that exist, read at once."""

    def entries(self, ids: Sequence[int]) -> Mapping[int, Entry]:
        """Return the entries in their present wording, those that exist."""

    def sent_messages(self, channel: Channel, entry_ids: Sequence[int]) -> Mapping[int, SentMessage]:
        """Return where those entries stand in the channel, for the SENT ones."""


class WordingStorage(Protocol):
    """What an entry said before."""

    def wordings(self, entry_id: int, revisions: Sequence[int]) -> Mapping[int, Wording]:
        """Return the named revisions of an entry, those that exist."""


class DeliveryStorage(
    PlanStorage,
    SendStorage,
    ReconcileStorage,
    UpdateStorage,
    ViewStorage,
    WordingStorage,
    DeskStorage,
    AlertStorage,
    Protocol,
):
    """Everything delivery asks of a database."""


class Poster(Protocol):
    """The only way to write to Slack. It never retries, never sleeps and never raises for an answer: it returns it."""

    def post(
        self,
        channel: Channel,
        message: Message,
        *,
        key: str,
        thread_ts: str | None = None,
        until: datetime | None = None,
    ) -> Answer:
        """Post once, with `key` in the message's metadata, unfurls off, no broadcast.

        The request leaves within the post time-out and not after `until`, or never: then the answer says that there
        was no connection. Once it left, the answer comes within the post time-out.
        """

    def update(
        self,
        channel: Channel,
        ts: str,
        message: Message,
        *,
        key: str | None = None,
        until: datetime | None = None,
    ) -> Answer:
        """Change a message of ours, in time as a post. Doing it twice does no harm. `key`: the metadata to keep."""

    def check(self, team_id: str) -> Answer:
        """Ask whether the token is good (`auth.test`)."""


class History(Protocol):
    """Looking for a message of ours."""

    def find(self, channel: Channel, *, key: str, oldest: datetime, thread_ts: str | None = None) -> Look:
        """Look for the message with `key` in its metadata in the channel, or in the thread, from `oldest` on.

        `Absent` is said only after every page was read without an error; `oldest` is widened by the implementation
        for the difference between our clock and Slack's.
        """


class MessageMaker(Protocol):
    """Words and blocks. Pure; raises `MessageInvalid` where no valid message can be made."""

    def root(self, view: RootView, style: Style) -> Message:
        """Make a slot's root: also its later form, with links where `view.sent` has the entry."""

    def empty(self, view: RootView, style: Style) -> Message:
        """Make the one line of an empty slot in a channel that wants to be told."""

    def entry(self, entry: Entry, style: Style, *, overtaken: bool) -> tuple[Message, ...]:
        """Make an entry's message; parts after the first go into its thread. `overtaken`: it comes out of turn."""

    def entry_update(
        self, entry: Entry, style: Style, *, changed: tuple[str, ...], at: datetime
    ) -> tuple[Message, ...]:
        """Make the messages that replace a sent entry and its parts: its new wording and a line on what changed.

        `changed` holds `title`, `body`, `verdict`.
        """

    def entry_end(self, style: Style) -> Message:
        """Make what stands in place of a part that the entry, shorter now, does not need any more."""

    def entry_reply(
        self, entry: Entry, before: Wording, style: Style, *, channel: Channel, sent: SentMessage | None
    ) -> Message:
        """Make the line in the thread that tells readers that the entry, `sent` to the channel, has changed.

        In a thread that is not the entry's own it names the entry.
        """

    def alert(self, text: str) -> Message:
        """Make a plain message of ours."""


T = TypeVar("T")


class Crew(Protocol[T]):
    """Hands that make calls at the same time, and a place where their results arrive."""

    @property
    def free(self) -> int:
        """How many more calls would start at once."""

    def submit(self, call: Callable[[], T]) -> None:
        """Run the call soon. It must not raise."""

    def collect(self, seconds: float) -> Sequence[T]:
        """Return what has finished; wait up to `seconds` where nothing has."""
