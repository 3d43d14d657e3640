"""What the renderer is given: plain values, without a word of any language in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.model import Language, Layout, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a channel (or a reader) wants its messages."""

    language: Language = Language.ZH
    layout: Layout = Layout.CHANNEL
    cut_at: int | None = 600
    """Characters of an entry's text beyond which the rest is behind a button; None shows all."""
    show_repo: bool = False
    """Whether the channel carries several repositories, so that an entry says which one it is about."""
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    templates_dir: Path | None = None
    """The team's own `<template>.json.j2` files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootLine:
    """One entry in a list."""

    entry_id: int
    title: str
    repo: str
    verdict: Verdict | None = None
    link: str | None = None
    """The address of its message, once it is posted and if the reader may see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedLine:
    """An entry that an earlier message holds."""

    title: str
    link: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedGroup:
    """The entries that one earlier day's messages hold."""

    day: date
    link: str | None
    """The address of that day's root."""
    lines: tuple[CarriedLine, ...]
    changed: int = 0
    """How many of them have a newer wording now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """A root that comes late: aware datetimes in any zone."""

    due: datetime
    posted: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RootView:
    """The head of a slot."""

    local_date: date
    lines: tuple[RootLine, ...]
    carried: tuple[CarriedGroup, ...] = ()
    repeated: tuple[int, ...] = ()
    """The 1-based positions of lines that stand in more than one edition of this slot."""
    editions: int = 2
    """How many editions those lines stand in."""
    late: Late | None = None
    skipped: int = 0
    """Entries of older editions that the first run left unposted."""
    folded: bool = False
    """The layout was one message only because there were many entries."""


class Change(StrEnum):
    """What a new revision changed."""

    BODY = "body"
    TITLE = "title"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """When a message was brought up to a new revision, and what changed. `at` is aware, in any zone."""

    at: datetime
    what: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a found entry stands, as far as the reader may see it, and what happened there."""

    link: str | None = None
    replies: int = 0
    reactions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpView:
    """Examples, best taken from the archive itself so that each finds something."""

    words: str = "rocm 构建"
    phrase: str = '"KV cache"'
    without: str = "缓存 -显存"
    repository: str = "repo:vllm"
    more: tuple[str, ...] = ("pr:48017", "topic:rocm")
    path: str = "path:spec_decode"
    since: str = "修复 since:7d sort:new"
    days: tuple[str, ...] = ()
    """Day commands, the first as the example: `today`, `yesterday`, `2026-11-30`."""
    cross: tuple[str, str] = ("显存泄漏", "memory leak")
    """A Chinese and an English word of the glossary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionView:
    """The entries of one day (`day` None: of the latest there would be)."""

    day: date | None
    lines: tuple[RootLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeGroup:
    """What one channel was sent today."""

    channel_id: str
    lines: tuple[RootLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeView:
    """The Home tab of one reader."""

    local_date: date
    today: tuple[HomeGroup, ...]
    saved: tuple[RootLine, ...]
    saved_total: int = 0
    """All that are saved; `saved` may be the newest of them."""
    ask_example: str = "rocm 构建"
