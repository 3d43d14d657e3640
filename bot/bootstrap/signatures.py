"""Requests over HTTP that are refused for their signature: strangers' or, while none is right, Slack's own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

import structlog

from bot.delivery.person import Alarm
from bot.delivery.ports import Clock

_log = structlog.get_logger("bot.bootstrap")

_CAUSE = "signatures"
_SAID_EVERY = timedelta(minutes=1)
"""Anybody can send a wrong signature: a thousand of them fill no log."""
_TRUST = timedelta(hours=1)
"""How long after a right signature the secret is taken for right, whatever strangers send."""
_ADVICE = (
    "Set it to the Signing Secret on the app's Basic Information page and restart, and see that this machine's clock "
    "is right: Slack's signatures hold for five minutes."
)


class Signatures:
    """Hears of each signature, and tells people when the secret may be a wrong one. For any thread."""

    def __init__(self, *, alarm: Alarm, count: Callable[[], None], clock: Clock) -> None:
        """`count` counts a refusal for the metrics."""
        self._alarm = alarm
        self._count = count
        self._clock = clock
        self._lock = threading.Lock()
        self._telling = threading.Lock()
        self._refused = 0
        self._said_at: datetime | None = None
        self._admitted_at: datetime | None = None
        self._trouble: str | None = None
        self._is_over = False
        """False at first: an earlier run may have told people."""

    def admitted(self) -> None:
        """The signature was right: what people were told is over."""
        with self._lock:
            self._admitted_at = self._clock.now()
            self._refused, self._trouble = 0, None
            is_news, self._is_over = not self._is_over, True
        if is_news:
            self._start_telling()

    def refused(self) -> None:
        """The signature was wrong. It is said at most once a minute."""
        self._count()
        now = self._clock.now()
        with self._lock:
            self._refused += 1
            if self._said_at is not None and now - self._said_at < _SAID_EVERY:
                return
            self._said_at, number = now, self._refused
            is_trusted = self._admitted_at is not None and now - self._admitted_at < _TRUST
            if not is_trusted:
                self._trouble, self._is_over = _trouble(number), False
        _log.warning("requests_refused", why="not signed with SLACK_SIGNING_SECRET", number=number)
        if not is_trusted:
            self._start_telling()

    def _start_telling(self) -> None:
        # On a thread of its own: Slack waits for an answer, and the database may be away.
        threading.Thread(target=self._tell, name="signatures", daemon=True).start()

    def _tell(self) -> None:
        with self._telling:
            trouble = self._trouble
            if trouble is None:
                self._alarm.clear(_CAUSE)
            else:
                self._alarm.raise_alert(_CAUSE, trouble)


def _trouble(number: int) -> str:
    refused = "a request was refused for its signature" if number == 1 else f"{number} requests were refused"
    return f"SLACK_SIGNING_SECRET may be wrong: {refused}, and none lately was signed with it. {_ADVICE}"
