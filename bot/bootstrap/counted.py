"""Slack's two doors of delivery with a count of how often each says "too fast"."""

from __future__ import annotations

from datetime import datetime

from bot.delivery.ports import History, Poster
from bot.delivery.values import Answer, CannotLook, Look
from bot.metrics import Metrics
from bot.model import Channel, Message

_TOO_MANY_REQUESTS = 429
_TOO_FAST = ("ratelimited", "rate_limited")


class CountedPoster:
    """A `Poster` that counts."""

    def __init__(self, poster: Poster, metrics: Metrics) -> None:
        self._poster = poster
        self._metrics = metrics

    def post(
        self,
        channel: Channel,
        message: Message,
        *,
        key: str,
        thread_ts: str | None = None,
        until: datetime | None = None,
    ) -> Answer:
        """Post once."""
        answer = self._poster.post(channel, message, key=key, thread_ts=thread_ts, until=until)
        return self._counted("chat.postMessage", answer)

    def update(
        self,
        channel: Channel,
        ts: str,
        message: Message,
        *,
        key: str | None = None,
        until: datetime | None = None,
    ) -> Answer:
        """Change a message of ours."""
        answer = self._poster.update(channel, ts, message, key=key, until=until)
        return self._counted("chat.update", answer)

    def check(self, team_id: str) -> Answer:
        """Ask whether the token is good."""
        return self._counted("auth.test", self._poster.check(team_id))

    def _counted(self, method: str, answer: Answer) -> Answer:
        if answer.status == _TOO_MANY_REQUESTS or answer.code in _TOO_FAST:
            self._metrics.throttled.labels(method).inc()
        return answer


class CountedHistory:
    """A `History` that counts."""

    def __init__(self, history: History, metrics: Metrics) -> None:
        self._history = history
        self._metrics = metrics

    def find(self, channel: Channel, *, key: str, oldest: datetime, thread_ts: str | None = None) -> Look:
        """Look through every page of the channel, or of the thread."""
        look = self._history.find(channel, key=key, oldest=oldest, thread_ts=thread_ts)
        if isinstance(look, CannotLook) and look.reason in _TOO_FAST:
            method = "conversations.history" if thread_ts is None else "conversations.replies"
            self._metrics.throttled.labels(method).inc()
        return look
