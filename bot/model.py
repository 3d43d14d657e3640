"""The values that travel between the rooms. Frozen, without behaviour beyond their own names.

Instants are aware datetimes in UTC; calendar days (`edition`, `local_date`) are plain dates in the zone that the
docstring names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, TypeAlias

Json: TypeAlias = Mapping[str, Any]
"""A decoded JSON object, as Slack sends and takes it."""


class Verdict(StrEnum):
    """What the digest's author advises about an entry."""

    MUST_READ = "must_read"
    RECOMMENDED = "recommended"
    SKIM = "skim"
    SKIP = "skip"


class Language(StrEnum):
    """The language of our own words in a channel."""

    ZH = "zh"
    EN = "en"


class Layout(StrEnum):
    """How a channel shows a digest: a message an entry, everything in the root's thread, or one message."""

    CHANNEL = "channel"
    THREAD = "thread"
    COMPACT = "compact"


class DocumentState(StrEnum):
    """Whether a digest file was taken whole or set aside whole."""

    ACCEPTED = "accepted"
    QUARANTINED = "quarantined"


class DeliveryKind(StrEnum):
    """What a delivery is: the head of a slot, an entry, a message in a thread, or a change of a sent message."""

    ROOT = "root"
    ENTRY = "entry"
    REPLY = "reply"
    UPDATE = "update"


class DeliveryState(StrEnum):
    """Where a delivery stands. `bot/ARCHITECTURE.md` gives the lettered transitions."""

    PLANNED = "planned"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNCERTAIN = "uncertain"
    HELD = "held"
    SKIPPED = "skipped"


class SlotState(StrEnum):
    """`planned`: its deliveries exist; `empty`: nothing new; `passed`: missed beyond the catch-up window."""

    PLANNED = "planned"
    EMPTY = "empty"
    PASSED = "passed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a file does not fit its format, at a 1-based line."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A half-open range of code points, `text[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What an entry's own words say about it, in order of appearance. Strings are pieces of the source text."""

    verdict: Verdict | None = None
    verdict_span: Span | None = None
    """Where the verdict stands in the body."""
    audience: tuple[str, ...] = ()
    audience_negative: tuple[str, ...] = ()
    pull_requests: tuple[str, ...] = ()
    """`#48017` or `owner/repo#12`, as written; a link to one is given in the same way."""
    paths: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    """Topic ids of the vocabulary, such as `rocm`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedEntry:
    """One item of a digest file as its format gives it."""

    repo: str
    title: str
    body: str
    position: int
    """1-based, over the whole file."""
    line: int
    """1-based line of the title."""
    url: str | None = None
    """The link of the subject, where the format has one."""
    key: str | None = None
    """An explicit identity, where the format has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """A digest file as read: its entries, or the problems that keep it out. With problems, no entry is used."""

    entries: tuple[ParsedEntry, ...]
    problems: tuple[Problem, ...] = ()
    edition: date | None = None
    """The date the document states itself, if it does."""
    edition_line: int = 1
    """1-based line of that date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A digest file the bot has met."""

    id: int
    source: str
    name: str
    sha256: str
    edition: date
    arrived_at: datetime
    state: DocumentState
    problems: tuple[Problem, ...] = ()
    entry_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An item with an identity that outlives its wording."""

    id: int
    repo: str
    title: str
    body: str
    revision: int
    """1 for the first wording, one more for each later one."""
    edition: date
    """The edition in which it first appeared."""
    editions: tuple[date, ...] = ()
    """Every edition it appears in, oldest first; one edition may count twice where two documents share a date."""
    url: str | None = None
    extraction: Extraction = field(default_factory=Extraction)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Channel:
    """A Slack channel, by the only names that never change."""

    team_id: str
    channel_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One due time of one channel, named by its local date and time of day: an instant would let 02:30 happen twice."""

    channel: Channel
    local_date: date
    name: str
    """The time of day as configured, `09:00`."""
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message owed to one channel."""

    id: int
    key: str
    """The id that travels in the message's metadata: how it is found again in the channel's history."""
    channel: Channel
    kind: DeliveryKind
    subject: str
    """`entry:<id>` or `slot:<local date>/<name>`."""
    revision: int
    part: int
    slot_id: int | None
    ordinal: int
    """Order within the channel; smaller goes first."""
    state: DeliveryState
    ts: str | None = None
    thread_ts: str | None = None
    attempts: int = 0
    """How often it was claimed: a fence for records, no measure of trouble."""
    doubts: int = 0
    """Attempts with an unknown outcome, since a person last had it sent again."""
    refusals: int = 0
    """Refusals of this message itself that may pass, counted in the same way."""
    error: str | None = None
    sending_since: datetime | None = None
    next_try_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What Slack is given: blocks and the same words as plain text (already escaped)."""

    text: str
    blocks: tuple[Json, ...]


class Order(StrEnum):
    """How hits are ordered: the best of the newest first, or newest first throughout."""

    BEST = "best"
    NEW = "new"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """An entry that a query found."""

    entry: Entry
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """Search tokens that stand side by side."""

    tokens: tuple[str, ...]
    prefix: bool = False
    """Whether the last token may go on: a single Chinese character stands for every pair it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One thing a reader asks for, and every way of saying it."""

    word: str
    """As the reader typed it."""
    alternatives: tuple[tuple[Phrase, ...], ...]
    """Any of these will do; all phrases of one must be there. The first is what was typed, the others mean the same."""


class QueryHint(StrEnum):
    """What the reader should be told about how a query was read."""

    EMPTY = "empty"
    """There is nothing to search for."""
    UNKNOWN_QUALIFIER = "unknown_qualifier"
    """`colour:red` was taken as plain words."""
    UNKNOWN_VALUE = "unknown_value"
    """The qualifier is known and the value is not: it was left out."""
    NO_VALUE = "no_value"
    """The qualifier is known and nothing follows its colon: it was left out."""
    TOO_LONG = "too_long"
    """Only the first words were used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryQuery:
    """A typed query, understood. An entry must fit every term and none of the excluded ones."""

    text: str
    """As the reader typed it, without hidden characters and outer space."""
    terms: tuple[Term, ...] = ()
    excluded: tuple[Term, ...] = ()
    narrowed: Term | None = None
    """The repository that the first word names. Also required, until nothing is found so."""
    narrowed_word: Term | None = None
    """The same word as a plain one."""
    since: date | None = None
    """The first edition that counts."""
    before: date | None = None
    """The first edition that no longer counts."""
    order: Order = Order.BEST
    edition: date | None = None
    """Set where the whole query is a day: that edition is meant, and nothing else is set."""
    hint: QueryHint | None = None
    hint_value: str | None = None
    """The words that the hint is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A passage of a body with the words that matched."""

    text: str
    matches: tuple[Span, ...]
    """Ranges of `text`."""
    cut_before: bool
    """Whether something of its sentence precedes it."""
    cut_after: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerHit:
    """An entry found, and why where its title does not say."""

    entry: Entry
    score: float
    title_matches: tuple[Span, ...] = ()
    snippet: Snippet | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCount:
    """How many entries one word finds alone."""

    word: str
    count: int
    more: bool = False
    """Whether there are more than `count`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One way in which a query was read, and looked for."""

    query: EntryQuery
    relaxed: bool
    """Whether long words are taken apart in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a reader gets for a query."""

    query: EntryQuery
    hits: tuple[AnswerHit, ...] = ()
    more: bool = False
    """Whether another page follows."""
    offset: int = 0
    total: int = 0
    """How many entries there are in all, as far as they were counted."""
    total_more: bool = False
    """Whether there are more than `total`: "10+"."""
    relaxed: bool = False
    """Whether these were found only after long words were taken apart."""
    repo: str | None = None
    """The repository to which the first word narrowed the search."""
    readings: tuple[Reading, ...] = ()
    """Every way in which the query was looked for, the narrowest first; with hits, the last is what found them."""
    tried: tuple[WordCount, ...] = ()
    """When nothing is found: each word alone."""
    near: tuple[str, ...] = ()
    """When nothing is found: whole queries that do find something, the likeliest first."""
