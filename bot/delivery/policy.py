"""What a channel wants and how sending behaves, as small values.

The composition root makes them from the configuration, so that nothing here depends on its file format.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from bot.model import Channel, Language, Layout

EVERY_DAY = frozenset(range(7))
UTC_ZONE = ZoneInfo("UTC")
SLACK_GAP = 1.0
"""Seconds: Slack takes about one message a second in a channel."""

_MADE_UP = 0.1


class WhenEmpty(StrEnum):
    """What a slot without anything new does."""

    SILENT = "silent"
    SAY = "say"


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a channel's messages look. Channels with equal styles share their rendered entries."""

    language: Language = Language.ZH
    layout: Layout = Layout.CHANNEL
    zone: ZoneInfo = UTC_ZONE
    cut_at: int | None = None
    """Characters of a paragraph shown in the channel; None shows all."""
    name_repos: bool = False
    """Whether an entry's title is preceded by its repository's short name."""
    templates: str | None = None
    """Folder with templates of the team's own; None for the built-in ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotTime:
    """A time of day and the weekdays (0 is Monday) on which it is due."""

    at: time
    days: frozenset[int] = EVERY_DAY

    @property
    def name(self) -> str:
        """The slot's name, `09:00`."""
        return self.at.strftime("%H:%M")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a channel's slots are due, in its own zone."""

    times: tuple[SlotTime, ...]
    zone: ZoneInfo
    skip_dates: frozenset[date] = frozenset()
    pause_until: date | None = None
    """No slot before this local date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which entries a channel gets. Patterns are compared without regard to case.

    An entry is wanted where its repository matches `repos` (none given: all), does not match `not_repos`, and one
    of `topics` (none given: all) is a topic of it or stands in its title or body, and none of `not_topics` does.
    """

    repos: tuple[str, ...] = ()
    """`owner/name`, with `*` where anything may stand; a bare `name` means any owner."""
    not_repos: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    not_topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelPolicy:
    """Everything a channel's configuration decides."""

    channel: Channel
    name: str
    """For people: `#vllm-digest`."""
    schedule: Schedule
    wanted: Wanted = Wanted()
    style: Style = Style()
    first_run_limit: int = 20
    catch_up: timedelta = timedelta(hours=4)
    late_grace: timedelta = timedelta(minutes=5)
    max_messages: int = 30
    """More entries than this in one slot stand in its root alone, which is compact."""
    when_empty: WhenEmpty = WhenEmpty.SILENT


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySettings:
    """How sending behaves. Seconds where a number is a float."""

    pace: float = 1.1
    """Between the starts of two messages in one channel; see `not_before`."""
    ceiling_per_minute: int | None = 300
    """New messages in one workspace; None for no ceiling of ours."""
    updates_per_minute: int = 45
    """Tier 3 allows about 50."""
    lease: timedelta = timedelta(seconds=30)
    """Longer than twice `post_timeout`; shorter means a killed replica's channel goes on sooner."""
    post_timeout: float = 10.0
    settle: timedelta = timedelta(seconds=5)
    """After an attempt could last have been accepted, before it is looked for."""
    order_wait: timedelta = timedelta(minutes=30)
    """How long an unresolved message holds back the later ones of its channel."""
    look_again: timedelta = timedelta(seconds=15)
    """After the first look that failed; twice as long after each further one, up to half an hour."""
    max_looks: int = 12
    """Looks that failed, before a person is asked."""
    max_attempts: int = 8
    """Posts with an unknown outcome, before a person is asked."""
    channel_retry: timedelta = timedelta(minutes=5)
    """How often a channel that refuses is tried."""
    team_retry: timedelta = timedelta(minutes=1)
    """How often a workspace that refuses the token is asked."""
    grab: int = 20
    """Channels leased at a time: few enough that replicas share the work."""
    share_after: int = 6
    """A channel is offered to other replicas after so many messages, and again after as many; the first time sooner,
    each channel at its own moment."""
    workers: int = 64
    turn: float = 20.0
    """Length of one `deliver` call."""
    drain: float = 6.0
    """For messages in flight when the process stops; what has no answer by then is written down as uncertain. A
    platform sends SIGKILL ten seconds after SIGTERM, and the writing down takes time too."""
    reply_change: float | None = 0.1
    """A changed entry says so in its thread where more than this share of it changed; None never does."""
    alert_quiet: timedelta = timedelta(hours=6)
    outage_after: timedelta = timedelta(minutes=5)
    """So long no call may get through to Slack before a person is told."""
    lookback: timedelta = timedelta(days=14)
    """Older missed slots are not even recorded as passed."""

    def not_before(self, began: datetime, ended: datetime, due: datetime | None = None) -> datetime:
        """Return when the channel may get its next message, after one that was to go at `due`.

        A pace from start to start alone would let a slow message and a quick one arrive less than a second apart,
        so a second must also pass after the answer: by then Slack has certainly counted the first. What a message
        was late is made up for, by a tenth of the pace at most: else a busy machine would add up its delays.
        """
        gap = min(self.pace, SLACK_GAP)
        late = 0.0 if due is None else (began - due).total_seconds()
        pace = self.pace - min(max(0.0, late), _MADE_UP * self.pace)
        return max(began + timedelta(seconds=pace), ended + timedelta(seconds=gap))
