"""Telling people: once per cause, not too often, and never about the telling itself."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from functools import partial
from threading import Event, Lock
from uuid import uuid4

import structlog

from bot.delivery.person import AlertStorage
from bot.delivery.ports import Clock, MessageMaker, Poster
from bot.delivery.values import AnswerKind
from bot.errors import StorageError
from bot.model import Channel, Delivery

_log = structlog.get_logger("bot.delivery.alerts")

_KEPT = 20
"""Alerts that wait for a channel which is not found yet, at most."""
_LONGEST_WAIT = 60.0
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(minutes=1), timedelta(minutes=30)
"""Between tries to post what Slack has not taken."""


def held(key: str) -> str:
    """The cause of an alert: nobody knows whether the message with this key stands."""
    return f"held:{key}"


def failed(key: str) -> str:
    """The cause of an alert: Slack refused the message with this key for good."""
    return f"failed:{key}"


def failure(delivery: Delivery, advice: str | None = None) -> str:
    """What people are told of a message that was refused for good."""
    what = f"A message could not be made ({advice})" if advice else f"A message was refused for good ({delivery.error})"
    return (
        f"{what}: {delivery.subject}, {delivery.key}. Others go on. "
        f"When the cause is mended: digest-bot deliveries retry {delivery.key[:8]}"
    )


def settled(key: str, clear: Callable[[str], object]) -> None:
    """End what was told about one message: it is known to stand, or a person wants it sent again."""
    for cause in (held, failed):
        clear(cause(key))


def at_once(errand: Callable[[], None]) -> bool:
    """Run an errand where it is given."""
    errand()
    return True


class Alerts:
    """The `Alarm` that logs, remembers what was told, and posts to the alert channel where there is one.

    An alert is not a delivery: it is not kept in order and not looked for. One that Slack has not taken is owed, and
    posted again by whoever calls `tell_owed`; it may then stand twice. It never raises: a fault of the alarm must not
    become a fault of what it reports.
    """

    def __init__(
        self,
        *,
        storage: AlertStorage,
        poster: Poster,
        maker: MessageMaker,
        clock: Clock,
        channel: Channel | None,
        quiet: timedelta,
        aside: Callable[[Callable[[], None]], bool] = at_once,
        leave: Callable[[Channel], float] = lambda _channel: 0.0,
    ) -> None:
        """`aside` runs the posting of an alert, best where nobody waits for it: whoever raises one has other work.

        It returns False where it does not.
        `leave` takes a place in the channel's pace and says how many seconds it is ahead.
        """
        self._storage = storage
        self._poster = poster
        self._maker = maker
        self._clock = clock
        self._channel = channel
        self._quiet = quiet
        self._aside = aside
        self._leave = leave
        self._lock = Lock()
        self._untold: dict[str, tuple[str, Channel | None]] = {}
        self._unkept: set[tuple[str, str]] = set()
        """What could not be written down when it was last tried, and was logged."""
        self._pause = _FIRST_PAUSE
        self._again_at: datetime | None = None
        """When owed alerts may be tried again; None where Slack has taken the last one."""
        self._unowed: set[str] = set()
        """Causes that nobody could be told of, which the database does not know yet."""

    def tell_in(self, channel: Channel | None) -> None:
        """Post to this channel from now on, and there first what nobody could be told so far and is not over yet.

        None: alerts are logged and remembered only.
        """
        with self._lock:
            self._channel = channel
            if channel is None:
                return
            untold, self._untold = self._untold, {}
        standing = self._standing(untold) if untold else frozenset()
        for cause, (text, about) in untold.items():
            if about != channel and cause in standing:
                self._hand_over(channel, cause, text)

    def _standing(self, causes: Collection[str]) -> Collection[str]:
        try:
            # Another process may have ended some: a person settles a message at the command line.
            return self._storage.standing_alerts(causes)
        except StorageError as error:
            _log.warning("alerts_not_looked_up", error=str(error))
            return causes

    def raise_alert(self, cause: str, text: str, *, about: Channel | None = None) -> None:
        """Tell `text`, unless this cause was told within the quiet time."""
        try:
            is_due = self._storage.note_alert(cause, text, self._clock.now(), self._quiet)
        except StorageError as error:
            self._report("alert_not_noted", cause, error)
            return
        self._is_kept("alert_not_noted", cause)
        if is_due:
            self._tell(cause, text, about)

    def tell_owed(self) -> None:
        """Post the alerts that Slack has not taken and that are not over.

        While Slack refuses them, one at a time, after a pause that grows.
        """
        now = self._clock.now()
        with self._lock:
            channel, again_at, unowed = self._channel, self._again_at, self._unowed
            self._unowed = set()
        for cause in unowed:
            self._owe(cause)
        if channel is None or (again_at is not None and now < again_at):
            return
        try:
            for cause, text in self._storage.owed_alerts()[: None if again_at is None else 1]:
                if self._storage.take_owed_alert(cause, now):
                    self._hand_over(channel, cause, text)
        except StorageError as error:
            _log.warning("alerts_not_looked_up", error=str(error))

    def tell_unkept(self, cause: str, text: str) -> None:
        """Log `text`, and post it where the alert channel is known by now: for what is wrong with the database itself.

        It waits for no channel: to find one needs the database.
        """
        _log.warning("alert", cause=cause, text=text)
        with self._lock:
            channel = self._channel
        if channel is not None:
            self._aside(partial(self._post, channel, cause, text))

    def _tell(self, cause: str, text: str, about: Channel | None) -> None:
        _log.warning("alert", cause=cause, text=text)
        # The alert channel's own trouble, a dead token or an outage cannot be told there: the log and `status` have it.
        if cause.startswith("team:"):
            return
        with self._lock:
            channel = self._channel
            if channel is None and len(self._untold) < _KEPT:
                self._untold[cause] = (text, about)
        if channel is not None and about != channel:
            self._hand_over(channel, cause, text)

    def _hand_over(self, channel: Channel, cause: str, text: str) -> None:
        if not self._aside(partial(self._post, channel, cause, text)):
            self._owe(cause)

    def _owe(self, cause: str) -> None:
        try:
            self._storage.owe_alert(cause)
        except StorageError as error:
            _log.warning("alert_not_noted", cause=cause, error=str(error))
            with self._lock:
                self._unowed.add(cause)

    def clear(self, cause: str) -> None:
        """The cause is over: when it comes back, it is told again."""
        with self._lock:
            self._untold.pop(cause, None)
        try:
            is_over = self._storage.clear_alert(cause)
        except StorageError as error:
            self._report("alert_not_cleared", cause, error)
            return
        self._is_kept("alert_not_cleared", cause)
        if is_over:
            _log.info("alert_over", cause=cause)

    def standing(self, beginning: str) -> frozenset[str]:
        """Return the causes with this beginning that are not over. Raises StorageUnavailable."""
        return self._storage.alerts_with(beginning)

    def _report(self, event: str, cause: str, error: StorageError) -> None:
        """Log it once, until it is possible again: a cause is raised or cleared at every look."""
        with self._lock:
            is_new = (event, cause) not in self._unkept
            self._unkept.add((event, cause))
        if is_new:
            _log.error(event, cause=cause, error=str(error))

    def _is_kept(self, event: str, cause: str) -> None:
        with self._lock:
            self._unkept.discard((event, cause))

    def _post(self, channel: Channel, cause: str, text: str) -> None:
        try:
            message = self._maker.alert(text)
        except Exception:  # noqa: BLE001 - whatever it is, it must not end what the alert tells of
            _log.exception("alert_not_made", cause=cause)
            return
        self._clock.wait(min(self._leave(channel), _LONGEST_WAIT), Event())
        answer = self._poster.post(channel, message, key=uuid4().hex)
        is_taken = answer.kind is AnswerKind.OK
        with self._lock:
            if is_taken:
                self._pause, self._again_at = _FIRST_PAUSE, None
            elif self._again_at is None or self._again_at <= self._clock.now():
                self._again_at = self._clock.now() + self._pause
                self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        if is_taken:
            return
        _log.error("alert_not_posted", cause=cause, answer=answer.kind.value, code=answer.code)
        self._owe(cause)
