"""The values that delivery passes to its neighbours and gets from them: plain, frozen, without behaviour.

Every instant is an aware datetime in UTC; a `local_date` is a calendar day in the channel's own zone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias

from bot.model import Channel, Delivery, DeliveryKind, DeliveryState, Entry, Layout, Slot, SlotState

LONGEST_WAIT = timedelta(hours=1)
"""No pace, block or wait for another try is longer, whatever Slack asks for: what is was written by a wrong clock."""


def entry_subject(entry_id: int) -> str:
    """Return the `Delivery.subject` of an entry."""
    return f"entry:{entry_id}"


def slot_subject(slot: Slot) -> str:
    """Return the `Delivery.subject` of a slot's root."""
    return f"slot:{slot.local_date.isoformat()}/{slot.name}"


def entry_of(subject: str) -> int | None:
    """Return the entry id that a subject names, or None where it names a slot."""
    kind, _, number = subject.partition(":")
    return int(number) if kind == "entry" else None


# --- what Slack or the network says ------------------------------------------------------------------------------


class AnswerKind(StrEnum):
    """How a call to Slack ended, as far as the caller can see."""

    OK = "ok"
    SLACK_ERROR = "slack_error"
    """`ok: false` with a code, whatever the HTTP status."""
    HTTP = "http"
    """A status other than 200 without a readable Slack body."""
    NOT_JSON = "not_json"
    """Status 200 and a body that is not Slack's JSON."""
    CONNECT_FAILED = "connect_failed"
    """No connection: name not found, refused, no route, a certificate that is not good. Nothing was sent."""
    TIMEOUT_CONNECT = "timeout_connect"
    """No connection within the time-out. Nothing was sent."""
    TIMEOUT_READ = "timeout_read"
    """The request went out and no whole answer came in time."""
    DROPPED = "dropped"
    """The connection broke after the request, or a part of it, was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """What a person must be told."""

    cause: str
    """Its name: it is told once while it lasts."""
    text: str
    about: Channel | None = None
    """The channel it concerns, if it concerns one."""
    told_at: datetime | None = None
    """When it was last to be told: the telling from then on is one, however often it is tried. None: never yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one call. Only `kind` is always there."""

    kind: AnswerKind
    ts: str | None = None
    """With OK: the `ts` of the message."""
    code: str | None = None
    """With SLACK_ERROR: Slack's `error`."""
    status: int | None = None
    """The HTTP status, where one arrived."""
    retry_after: float | None = None
    """Seconds, from the header, where one arrived."""
    detail: str | None = None
    """A short reason for logs and people. Never a token, never message text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The message stands in the channel."""

    ts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """All pages were read and the message is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CannotLook:
    """The channel could not be read to its end."""

    reason: str
    retry_at: datetime | None = None
    """None: looking again will not help without a person (a missing scope, a channel the bot has left)."""


Look: TypeAlias = Found | Absent | CannotLook


# --- planning ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Why nothing is sent to a channel or a workspace, and when it is tried again."""

    reason: str
    """Slack's code or a word of ours, e.g. `not_in_channel`."""
    advice: str
    """What a person can do, in plain words."""
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """What is remembered about a channel."""

    channel: Channel
    known_since: datetime
    baseline_at: datetime | None = None
    """When the first-run limit was applied; None until then."""
    block: Block | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSlot:
    """A slot that is already decided."""

    id: int
    slot: Slot
    state: SlotState


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An entry as it stands in a document, with all that a policy looks at."""

    entry_id: int
    repo: str
    title: str
    body: str
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentNews:
    """An accepted document with its entries in file order."""

    id: int
    edition: date
    entries: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A delivery to be inserted. The storage gives it an id, a key and the next ordinal of its channel."""

    kind: DeliveryKind
    subject: str
    state: DeliveryState = DeliveryState.PLANNED
    """PLANNED, or SKIPPED with the reason in `error`."""
    revision: int = 0
    part: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotPlan:
    """One slot's decision, to be recorded whole or not at all."""

    slot: Slot
    state: SlotState
    layout: Layout = Layout.CHANNEL
    """How the entries are posted: COMPACT stands for a flood, whose entries are in the root alone."""
    documents: tuple[int, ...] = ()
    """Documents that this channel has now been told about: they are never fresh for it again."""
    drafts: tuple[Draft, ...] = ()
    """In sending order: the root first."""
    baseline: bool = False
    """The first-run limit was applied: set the channel's `baseline_at`."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """JSON for `slots.detail`: see `SlotView.detail`. `layout` is kept in it under that name as well."""


# --- sending -----------------------------------------------------------------------------------------------------


class Lane(StrEnum):
    """Calls that Slack counts apart: new messages, and changes of sent ones (tier 3)."""

    POST = "post"
    UPDATE = "update"


@dataclass(frozen=True, slots=True, kw_only=True)
class RootState:
    """What the later deliveries of a slot need to know about its root."""

    state: DeliveryState
    layout: Layout
    ts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A leased channel's next work, read under the lease."""

    channel: Channel
    queue: tuple[Delivery, ...]
    """PLANNED deliveries other than updates, by (ordinal, part), those that wait (`next_try_at`) included."""
    unresolved: tuple[Delivery, ...] = ()
    """SENDING, UNCERTAIN and HELD deliveries that hold back the others: see `SendStorage.lease`."""
    roots: Mapping[int, RootState] = field(default_factory=dict)
    """By slot id, for every slot in `queue` and `unresolved`."""
    parents: Mapping[str, str] = field(default_factory=dict)
    """By subject, for every REPLY and every part > 0 (planned once part 0 is SENT) in `queue` and `unresolved`: the
    thread of the sent ENTRY (part 0), which is its `thread_ts` where it stands in a thread itself, else its `ts`."""
    highest_sent: int = -1
    """The greatest ordinal among the channel's SENT deliveries: a smaller one was overtaken."""
    next_post_at: datetime | None = None
    """The channel's pace: nothing goes out before this."""
    blocked: bool = False
    """The channel has a block that is over: the next success lifts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a message that is about to go says: kept with its claim, so it is known however the message is found."""

    revision: int | None = None
    """The entry's (or root's) revision."""
    parts: int = 1
    """How many messages the entry takes."""
    folds: bool = False
    """It is a root in which the slot's planned entries stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What became of a claimed delivery."""

    delivery_id: int
    attempt: int
    """`Delivery.attempts` after the claim: a record of an older claim is refused (except SENT)."""
    state: DeliveryState
    """SENT, PLANNED (not now), FAILED, UNCERTAIN or SKIPPED."""
    ts: str | None = None
    thread_ts: str | None = None
    error: str | None = None
    next_try_at: datetime | None = None
    """PLANNED: not before this. UNCERTAIN: look for it from then on."""
    told_revision: int | None = None
    """SENT: the entry's (or root's) revision that the message shows; None leaves what the claim said."""
    parts: int = 1
    """SENT update of an entry: how many messages its new wording takes."""
    refused: bool = False
    """PLANNED or FAILED: this message itself was refused, which is counted in `Delivery.refusals`."""
    folds: bool = False
    """SENT root of a compact slot: its PLANNED entries become SENT with the same `ts`, in the same transaction."""
    next_post_at: datetime | None = None
    """The channel's pace after this attempt (posts only; None leaves it)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What became of an uncertain delivery, or a person's word on a held one."""

    delivery_id: int
    expected: DeliveryState
    """The state it must still be in: UNCERTAIN, HELD or FAILED."""
    state: DeliveryState
    """SENT, PLANNED, HELD, or UNCERTAIN (look again at `next_try_at`)."""
    ts: str | None = None
    thread_ts: str | None = None
    """The thread in which it was found; None leaves what is stored."""
    error: str | None = None
    next_try_at: datetime | None = None
    looks: int = 0
    """How often it has been looked for."""
    attempt: int | None = None
    """The attempt that was looked for. A later one has come meanwhile where the delivery counts more: what was not
    found then says nothing about it. None: a person's word, whatever the attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubtful:
    """An uncertain delivery with what is needed to look for it."""

    delivery: Delivery
    looks: int
    """How often it was looked for since it became uncertain."""
    oldest: datetime
    """When its first attempt began: nothing older can be it."""


# --- what messages are made from ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """Where an entry stands in a channel."""

    entry_id: int
    ts: str
    slot_date: date | None = None
    """The local date of the slot that posted it."""
    root_ts: str | None = None
    told_revision: int = 1
    thread_ts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotView:
    """A slot as its root shows it."""

    id: int
    slot: Slot
    state: SlotState
    layout: Layout
    detail: Mapping[str, Any]
    """`entries`: ids of the new ones in order; `carried`: ids told before that stand again in the new documents;
    `editions`: ISO dates told about; `skipped`: how many the first-run limit left out; `flood`: true where there
    were too many for messages of their own; `compact`: true where the root has the menu that opens them."""
    root_ts: str | None = None
    root_sent_at: datetime | None = None
    root_revision: int = 0
    """`told_revision` of the root, or of its newest sent update."""
    dropped: frozenset[int] = frozenset()
    """Entries of the slot whose delivery is SKIPPED: the root leaves them out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootView:
    """All that a root (or its update) is made from."""

    slot: SlotView
    entries: tuple[Entry, ...]
    sent: Mapping[int, SentMessage]
    """Of the new entries that stand in the channel already: their lines become links."""
    carried: tuple[Entry, ...]
    carried_sent: Mapping[int, SentMessage]
    late_minutes: int = 0
    """0 where the root is within the grace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryBehind:
    """An entry whose message in a channel shows an older wording."""

    channel: Channel
    entry_id: int
    told_revision: int
    revision: int
    ts: str
    slot_id: int | None = None
    thread_ts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RootBehind:
    """A root whose lines no longer say what is so."""

    channel: Channel
    slot_id: int
    subject: str
    revision: int
    """The revision an update must have: see `UpdateStorage.roots_behind`."""
    ts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One revision of an entry."""

    revision: int
    title: str
    body: str
    verdict: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of delivery in numbers, and what waits for a person."""

    by_state: Mapping[str, int]
    held: tuple[Delivery, ...]
    channel_blocks: Mapping[Channel, Block]
    team_blocks: Mapping[str, Block]
    oldest_planned_at: datetime | None = None
    """When the oldest delivery that still waits was planned: the lag."""
