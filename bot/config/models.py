"""What `config.yaml` may say, with its defaults. The README's reference is checked against these models."""

from __future__ import annotations

import math
import re
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from bot.config.crontab import parse_crontab
from bot.config.suggest import did_you_mean
from bot.config.values import Days, Duration, Str, Times, Word, Zone
from bot.model import Language, Layout

_CHANNEL_ID = re.compile(r"^[CG][A-Z0-9]{6,}$")
_CHANNEL_NAME = re.compile(r"^#[^\s#A-Z.,!?@:()\[\]{}]{1,80}$")
_REPOSITORY = re.compile(r"^[A-Za-z0-9_.*-]+(/[A-Za-z0-9_.*-]+)?$")

WITHIN = "within"
"""In the context of a fault of a list: the path in it to the item that is wrong."""
_LEASE_MARGIN = timedelta(milliseconds=200)
"""Of a lease beyond two post time-outs: for the claim itself and the threads' turns."""


class WhenEmpty(StrEnum):
    """What a slot without entries does: nothing, or one line that says so."""

    SILENT = "silent"
    SAY = "say"


def _choice(choices: type[StrEnum]) -> BeforeValidator:
    names = [str(choice.value) for choice in choices]

    def check(value: Any) -> Any:
        if value not in names:
            near = did_you_mean(value, names) if isinstance(value, str) else ""
            raise ValueError(f"{value!r} is not one of {', '.join(names)}{near}")
        return choices(value)

    return BeforeValidator(check)


def _channel_name(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError('a channel is an ID such as C0123456789, or a quoted name such as "#vllm-digest"')
    if _CHANNEL_ID.match(value) or _CHANNEL_NAME.match(value):
        return value
    advice = f'write "#{value.lstrip("#").lower().replace(" ", "-")}"' if value else "write its ID"
    raise ValueError(f"{value!r} is neither a channel ID such as C0123456789 nor a name: {advice}")


def _repository(value: Any) -> str:
    if not isinstance(value, str) or not _REPOSITORY.match(value):
        raise ValueError(f"{value!r} is no repository: write owner/name, a bare name, or owner/*")
    return value


ChannelRef = Annotated[str, BeforeValidator(_channel_name)]
Repository = Annotated[str, BeforeValidator(_repository)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, strict=True)


def _at_least(least: timedelta) -> AfterValidator:
    def check(value: timedelta) -> timedelta:
        if value < least:
            raise ValueError(f"too short: write at least {least.total_seconds() * 1000:.0f}ms")
        return value

    return AfterValidator(check)


Interval = Annotated[Duration, _at_least(timedelta(milliseconds=50))]


class InboxConfig(_Model):
    """Where digest files come from."""

    path: Str = Field(default="seeds", min_length=1, description="folder of digest files; relative to config.yaml")
    scan_every: Interval = Field(default=timedelta(seconds=5), description="time between two looks")
    settle: Duration = Field(
        default=timedelta(seconds=2), description="time between the two looks that must find a file unchanged"
    )
    timezone: Zone = Field(default=ZoneInfo("Asia/Shanghai"), description="whose day an undated file arrived on")


class ScheduleConfig(_Model):
    """When a channel gets its digest, in the channel's own zone."""

    at: Times = Field(default=("09:00",), description="time of day, or a list of them")
    days: Days = Field(default=frozenset(range(5)), description="weekdays by name: mon-fri, [mon, thu], daily")
    cron: Str | None = Field(default=None, description="the same as a crontab line, instead of at and days")
    timezone: Zone = Field(default=ZoneInfo("Asia/Shanghai"), description="IANA name")
    skip_dates: tuple[date, ...] = Field(default=(), description="holidays: no slot on these dates", strict=False)
    pause_until: date | None = Field(default=None, description="no slot before this date")
    catch_up: Duration = Field(
        default=timedelta(hours=4), description="a slot missed by less is delivered late, by more is passed"
    )
    late_after: Duration = Field(default=timedelta(minutes=5), description="a root posted later says so")

    @model_validator(mode="after")
    def _take_the_crontab(self) -> Self:
        if self.cron is None:
            return self
        given = {"at", "days"} & self.model_fields_set
        if given:
            raise ValueError(f"cron says the same as {' and '.join(sorted(given))}: keep one of the two forms")
        times, days = parse_crontab(self.cron)
        # A frozen model's own validator may still settle its fields; nobody has seen them yet.
        object.__setattr__(self, "at", times)
        object.__setattr__(self, "days", days)
        return self


class SelectionConfig(_Model):
    """Repositories, and words in title, text or topics. README: how the two combine, and with an exclusion."""

    repositories: tuple[Repository, ...] = Field(default=(), strict=False, description="owner/name, name, or owner/*")
    topics: tuple[Word, ...] = Field(default=(), strict=False, description="topic ids or words, any language")


class PolicyConfig(_Model):
    """Which entries a channel gets. Nothing said: all of them."""

    include: SelectionConfig = SelectionConfig()
    exclude: SelectionConfig = SelectionConfig()


class ChannelConfig(_Model):
    """One channel: what it gets, when, and how it looks."""

    channel: ChannelRef = Field(description='an ID, or "#name" (looked up once, then kept as ID)')
    schedule: ScheduleConfig = ScheduleConfig()
    policy: PolicyConfig = PolicyConfig()
    layout: Annotated[Layout, _choice(Layout)] = Field(default=Layout.CHANNEL, description="channel, thread or compact")
    language: Annotated[Language, _choice(Language)] = Field(default=Language.ZH, description="zh or en")
    first_run_limit: int = Field(default=20, ge=1, le=1000, description="entries a new channel starts with, at most")
    max_messages: int = Field(default=30, ge=1, le=500, description="a slot with more entries is one message only")
    cut_at: int = Field(default=600, ge=80, le=3000, description="characters of a text shown before a button opens it")
    when_empty: Annotated[WhenEmpty, _choice(WhenEmpty)] = Field(
        default=WhenEmpty.SILENT, description="a slot without entries: silent or say"
    )
    templates: Str | None = Field(default=None, description="folder with templates of this channel's own")


class DeliveryConfig(_Model):
    """Pace and patience. The defaults are Slack's published limits with a margin."""

    pace: Duration = Field(
        default=timedelta(seconds=1.1),
        description="time between two messages in one channel; a late one may be made up for by a tenth of it",
    )
    ceiling_per_minute: int | None = Field(
        default=300, ge=1, le=100_000, description="messages a minute in the whole workspace; null for none"
    )
    post_timeout: Interval = Field(
        default=timedelta(seconds=10), description="longest wait for a connection to Slack, and again for its answer"
    )
    lease: Duration = Field(
        default=timedelta(seconds=30),
        description="how long a sender may own a channel unrenewed; more than two post_timeout",
    )
    settle: Duration = Field(
        default=timedelta(seconds=5), description="wait before looking for a message whose answer was lost"
    )
    order_wait: Duration = Field(
        default=timedelta(minutes=30), description="how long an unresolved message holds back the later ones"
    )
    max_attempts: int = Field(default=8, ge=1, le=100, description="tries of one message before it is held")
    tick: Interval = Field(default=timedelta(seconds=1), description="time between two looks at what is due")
    workers: int = Field(default=64, ge=1, le=256, description="threads that send at the same time")

    @model_validator(mode="after")
    def _lease_outlasts_a_post(self) -> Self:
        least = 2 * self.post_timeout + _LEASE_MARGIN
        if self.lease < least:
            raise ValueError(
                "lease is too short for post_timeout: a sender has to own the channel while it connects and while it "
                f"waits for the answer; write lease: {math.ceil(least.total_seconds())}s or more, "
                "or a shorter post_timeout"
            )
        return self


class AlertsConfig(_Model):
    """Who hears about what a person must see."""

    channel: ChannelRef | None = Field(default=None, description="channel for alerts; none: the log and status only")
    every: Duration = Field(default=timedelta(hours=6), description="one cause is told again at most so often")


class TopicConfig(_Model):
    """A topic of the team's own."""

    id: Word
    zh: tuple[Word, ...] = Field(default=(), strict=False)
    en: tuple[Word, ...] = Field(default=(), strict=False)


class SearchConfig(_Model):
    """What look-up knows beyond the digests."""

    glossary: tuple[Word, ...] = Field(
        default=(),
        strict=False,
        description='lines such as "投机解码, speculative decoding"; a > b for one direction',
    )
    confined: dict[Repository, Annotated[tuple[ChannelRef, ...], Field(strict=False)]] = Field(
        default_factory=dict, description="repository: the only channels that may find it"
    )

    @field_validator("confined")
    @classmethod
    def _confined_by_name(cls, confined: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for name in confined:
            if "*" in name.removesuffix("/*"):
                # Look-up compares whole names: what it did not understand would be found everywhere.
                raise ValueError(f"{name}: a repository is confined as owner/name, name or owner/*")
        return confined


def _refuse_second(key: str, names: list[str]) -> None:
    seen: set[str] = set()
    for number, name in enumerate(names):
        if name.casefold() in seen:
            reason = f"{name} is configured twice; keep one entry"
            raise PydanticCustomError("twice", "{reason}", {"reason": reason, WITHIN: (number, key)})
        seen.add(name.casefold())


class Config(_Model):
    """The whole of `config.yaml`."""

    inbox: InboxConfig = InboxConfig()
    database: Str = Field(
        default="sqlite:///digest-bot.db",
        description="SQLite (a file relative to config.yaml) or PostgreSQL URL; DATABASE_URL goes before it",
    )
    channels: tuple[ChannelConfig, ...] = Field(default=(), strict=False)
    delivery: DeliveryConfig = DeliveryConfig()
    alerts: AlertsConfig = AlertsConfig()
    search: SearchConfig = SearchConfig()
    topics: tuple[TopicConfig, ...] = Field(default=(), strict=False)
    templates: Str | None = Field(default=None, description="folder with templates of the team's own")
    base: Path = Field(default=Path(), exclude=True)
    """The folder that relative paths start from; not a key of the file."""
    database_source: Str = Field(default="database", exclude=True)
    """Where `database` was said, for messages about it; not a key of the file."""

    @field_validator("channels")
    @classmethod
    def _channels_once(cls, channels: tuple[ChannelConfig, ...]) -> tuple[ChannelConfig, ...]:
        _refuse_second("channel", [channel.channel for channel in channels])
        return channels

    @field_validator("topics")
    @classmethod
    def _topics_once(cls, topics: tuple[TopicConfig, ...]) -> tuple[TopicConfig, ...]:
        _refuse_second("id", [topic.id for topic in topics])
        return topics

    @property
    def inbox_path(self) -> Path:
        """The inbox folder, absolute or relative to the configuration's own folder."""
        return self.base / self.inbox.path
