"""What readers make the bot post: an entry that somebody shares, and the answer to a mention. Each at most once."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto

from bot.delivery.outcome import NotNow, Scope, Sent, Unknown, of_post
from bot.delivery.ports import History, Poster
from bot.delivery.values import Found
from bot.errors import SlackUnavailable
from bot.log import get_logger
from bot.model import Channel, Message
from bot.readers.marks import Discussion
from bot.render.messages import Renderer
from bot.render.views import Style
from bot.slack.ports import Archive, Desk, Reader, Said

log = get_logger(__name__)

PATIENCE = 20.0
"""Longest 429 that is waited out, in seconds: a person is waiting too."""
TRIES = 3

_NOT_A_MEMBER = frozenset({"not_in_channel", "channel_not_found"})
_PASSING = frozenset({Scope.CALL, Scope.PACE})
_NAMESPACE = uuid.UUID("0a8f54a2-3a4e-4f0e-9a52-6b1f0c7d5e11")


class End(Enum):
    """How a post of a reader's ended."""

    POSTED = auto()
    REFUSED = auto()
    """Certainly not posted."""
    UNKNOWN = auto()
    """Neither the answer nor a look into the channel could tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of it."""

    end: End
    ts: str | None = None
    code: str | None = None


class SlackSharing:
    """`ports.Sharing` over poster and history. It never posts again what may have been posted."""

    def __init__(
        self,
        *,
        desk: Desk,
        archive: Archive,
        discussion: Discussion,
        renderer: Renderer,
        style: Callable[[Channel | None], Style],
        poster: Poster,
        history: History,
        now: Callable[[], datetime],
        stopping: threading.Event,
        settle: timedelta = timedelta(seconds=3),
        leave: Callable[[Channel], float] = lambda _channel: 0.0,
    ) -> None:
        """`leave` takes a place in the channel's pace, so that no digest is slowed, and says how far it is ahead.

        `settle`: how long after a lost answer Slack is given before the message is looked for.
        """
        self._desk = desk
        self._archive = archive
        self._discussion = discussion
        self._renderer = renderer
        self._style = style
        self._poster = poster
        self._history = history
        self._now = now
        self._stopping = stopping
        self._settle = settle
        self._leave = leave

    def share(self, reader: Reader, entry_id: int, *, channel_id: str, comment: str, request_key: str) -> Said:
        """Post the entry in the reader's name, once per `request_key`."""
        entry = self._archive.entry(entry_id)
        if entry is None:
            return Said(key="entry_gone", values={})
        channel = Channel(team_id=reader.team_id, channel_id=channel_id)
        shared = Said(key="shared", values={"title": entry.title})
        if not self._discussion.record_share(request_key, reader.team_id, channel_id, entry_id, reader.user_id):
            return shared
        parts = self._renderer.shared(
            entry,
            self._style(channel),
            user_id=reader.user_id,
            user_name=reader.user_name or None,
            comment=comment,
        )
        outcome = self._post(channel, parts[0], key=key_of(request_key))
        log.info("shared", entry=entry_id, channel=channel_id, end=outcome.end.name.lower(), code=outcome.code)
        if outcome.ts is not None:
            self._discussion.shared(request_key, outcome.ts)
            self._continue(channel, parts[1:], request_key=request_key, thread_ts=outcome.ts)
            return shared
        if outcome.end is End.REFUSED:
            self._discussion.not_shared(request_key)
        return Said(key="invite" if outcome.code in _NOT_A_MEMBER else "failed", values={})

    def answer_mention(self, reader: Reader, text: str, *, event_id: str, channel_id: str, thread_ts: str) -> None:
        """Answer in the thread, once per event. Raises `SlackUnavailable` where it could not be posted."""
        if not self._discussion.first_sight(event_id):
            return
        message = self._desk.search(reader, text) if text else self._desk.help(reader)
        channel = Channel(team_id=reader.team_id, channel_id=channel_id)
        outcome = self._post(channel, message, key=key_of(event_id), thread_ts=thread_ts)
        if outcome.end is not End.POSTED:
            raise SlackUnavailable(f"a mention was not answered: {outcome.code or outcome.end.name.lower()}")

    def _continue(self, channel: Channel, parts: Sequence[Message], *, request_key: str, thread_ts: str | None) -> None:
        """Post the rest of a very long entry under it. What fails is logged: the button opens it whole anyway."""
        for number, part in enumerate(parts, 1):
            outcome = self._post(channel, part, key=key_of(f"{request_key}/{number}"), thread_ts=thread_ts)
            if outcome.end is not End.POSTED:
                log.warning("share_cut_short", channel=channel.channel_id, part=number, code=outcome.code)
                return

    def _post(self, channel: Channel, message: Message, *, key: str, thread_ts: str | None = None) -> Outcome:
        """Post once: again only after a certain "not now", never after a lost answer."""
        begun = self._now()
        attempt = 0
        while True:
            wait = self._leave(channel)
            if wait > PATIENCE or self._stopping.wait(wait):
                return Outcome(end=End.REFUSED, code="ratelimited")
            meaning = of_post(self._poster.post(channel, message, key=key, thread_ts=thread_ts))
            if isinstance(meaning, Sent):
                return Outcome(end=End.POSTED, ts=meaning.ts)
            if isinstance(meaning, Unknown):
                return self._look(channel, key, begun, thread_ts, meaning.reason)
            attempt += 1
            if attempt == TRIES or not isinstance(meaning, NotNow) or not self._waited(meaning):
                return Outcome(end=End.REFUSED, code=meaning.reason)

    def _waited(self, meaning: NotNow) -> bool:
        """Wait as long as Slack asks; False where that is longer than a person would, or would not help."""
        wait = 1.0 if meaning.retry_after is None else meaning.retry_after
        return meaning.scope in _PASSING and wait <= PATIENCE and not self._stopping.wait(wait)

    def _look(self, channel: Channel, key: str, begun: datetime, thread_ts: str | None, reason: str) -> Outcome:
        self._stopping.wait(self._settle.total_seconds())
        look = self._history.find(channel, key=key, oldest=begun, thread_ts=thread_ts)
        if isinstance(look, Found):
            return Outcome(end=End.POSTED, ts=look.ts)
        return Outcome(end=End.UNKNOWN, code=reason)


def key_of(request_key: str) -> str:
    """The id in the message's metadata: the same for the same request."""
    return uuid.uuid5(_NAMESPACE, request_key).hex
