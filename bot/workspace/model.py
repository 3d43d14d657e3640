"""Frozen values of the workspace. JSON documents inside them are never changed in place, only replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
ChannelKind = Literal["channel", "group", "im"]
TokenKind = Literal["bot", "user", "app"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """The workspace as a team."""

    id: str
    name: str
    domain: str


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person, or the bot."""

    id: str
    name: str
    real_name: str
    is_bot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """`refusal` is an error code with which every post of the app is refused (`restricted_action` and kin)."""

    id: str
    name: str
    kind: ChannelKind
    creator: str
    created: int
    members: tuple[str, ...] = ()
    is_archived: bool = False
    topic: str = ""
    refusal: str | None = None
    last_ts: int = 0

    @property
    def is_private(self) -> bool:
        """True if only members may know of it."""
        return self.kind != "channel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A slash command of the app."""

    command: str
    description: str = ""
    usage_hint: str = ""
    should_escape: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortcut:
    """A shortcut of the app, on messages or global."""

    type: Literal["message", "global"]
    callback_id: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """The one installed app. `scopes` None means: every scope. With `request_url` it is an app of HTTP mode."""

    id: str
    name: str
    bot_id: str
    bot_user_id: str
    verification_token: str
    signing_secret: str
    commands: tuple[Command, ...]
    shortcuts: tuple[Shortcut, ...]
    events: frozenset[str]
    home_enabled: bool = True
    scopes: frozenset[str] | None = None
    request_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who calls: the kind of the token and the user it acts for (none for an app-level token)."""

    kind: TokenKind
    token: str
    user: User | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """`document` is Slack's message object without what follows from the thread. `only_for` makes it ephemeral."""

    channel: str
    ts: int
    user: str
    document: Mapping[str, Any] = field(default_factory=dict)
    thread_ts: int | None = None
    is_broadcast: bool = False
    only_for: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A modal in a stack or a Home tab; `document` is the view as the app sent it, with generated IDs."""

    id: str
    user: str
    document: Mapping[str, Any]
    hash: str
    root_id: str
    previous_id: str | None = None
    state: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Slack's waits in seconds; a test shrinks them. Source: docs.slack.dev, Events API and interactivity."""

    ack: float = 3.0
    retries: tuple[float, ...] = (0.0, 60.0, 300.0)
    trigger: float = 3.0
    response_url: float = 1800.0
    response_url_uses: int = 5
