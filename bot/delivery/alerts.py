"""Telling people: once per cause, not too often, and never about the telling itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from threading import Event, Lock

import structlog

from bot.delivery.outcome import Never, Outcome, Sent, Unknown, of_post
from bot.delivery.person import AlertStorage
from bot.delivery.ports import Clock, History, MessageMaker, Poster
from bot.delivery.values import Alert, CannotLook, Found
from bot.errors import StorageError
from bot.model import Channel, Delivery

_log = structlog.get_logger("bot.delivery.alerts")

_KEPT = 100
"""Alerts that wait for a database which is away, at most."""
_CLAIM = timedelta(minutes=2)
"""How long nobody else tells of an alert that somebody is posting."""
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


def at_once(errand: Callable[[], object]) -> bool:
    """Run an errand where it is given."""
    errand()
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Telling:
    """An alert that this process has claimed up to `until`."""

    alert: Alert
    channel: Channel
    until: datetime
    is_again: bool = False
    """Whether it is owed since before: somebody may have posted it and not noted it."""


class Alerts:
    """The `Alarm` that logs, remembers what was told, and posts to the alert channel where there is one.

    An alert is not a delivery: it is not kept in order, and where it cannot be looked for it is rather told twice. It
    is owed until Slack has taken it, and whoever calls `tell_owed` posts what is owed, in every replica. It never
    raises: a fault of the alarm must not become a fault of what it reports.
    """

    def __init__(
        self,
        *,
        storage: AlertStorage,
        poster: Poster,
        history: History,
        maker: MessageMaker,
        clock: Clock,
        channel: Channel | None,
        quiet: timedelta,
        aside: Callable[[Callable[[], object]], bool] = at_once,
        leave: Callable[[Channel], float] = lambda _channel: 0.0,
    ) -> None:
        """`aside` runs the posting of an alert, best where nobody waits for it: whoever raises one has other work.

        It returns False where it does not.
        `leave` takes a place in the channel's pace and says how many seconds it is ahead.
        """
        self._storage = storage
        self._poster = poster
        self._history = history
        self._maker = maker
        self._clock = clock
        self._channel = channel
        self._quiet = quiet
        self._aside = aside
        self._leave = leave
        self._lock = Lock()
        self._pause = _FIRST_PAUSE
        self._again_at: datetime | None = None
        """When one owed alert may be tried again; None where Slack has taken the last one."""
        self._unnoted: dict[str, Alert] = {}
        """What was raised while the database was away."""
        self._unfinished: set[str] = set()
        """What was told while the database was away."""
        self._reported: set[tuple[str, str]] = set()
        """What could not be written down when it was last tried, and was logged."""

    def tell_in(self, channel: Channel | None) -> None:
        """Post to this channel from now on, and there first what is owed.

        None: alerts are logged and remembered only, and owed to whatever channel is named later.
        """
        with self._lock:
            is_other, self._channel = channel != self._channel, channel
            if is_other:
                self._pause, self._again_at = _FIRST_PAUSE, None
        if is_other:
            self.tell_owed()

    def raise_alert(self, cause: str, text: str, *, about: Channel | None = None) -> None:
        """Tell `text`, unless this cause was told within the quiet time."""
        self._raise(Alert(cause=cause, text=text, about=about))

    def _raise(self, alert: Alert) -> None:
        now = self._clock.now()
        until = now + _CLAIM
        with self._lock:
            channel = self._channel
        owed_from = None if _is_untellable(alert, channel) else now if channel is None else until
        try:
            is_due = self._storage.note_alert(alert, now, quiet=self._quiet, owed_from=owed_from)
        except StorageError as error:
            with self._lock:
                if len(self._unnoted) < _KEPT:
                    self._unnoted[alert.cause] = alert
            self._report("alert_not_noted", alert.cause, error)
            return
        self._is_kept("alert_not_noted", alert.cause)
        if not is_due:
            return
        _log.warning("alert", cause=alert.cause, text=alert.text)
        if channel is not None and owed_from is not None:
            self._hand_over(_Telling(alert=replace(alert, told_at=now), channel=channel, until=until))

    def tell_owed(self) -> None:
        """Post the alerts that Slack has not taken and that are not over.

        While Slack refuses them, one at a time, after a pause that grows.
        """
        self._catch_up()
        now = self._clock.now()
        with self._lock:
            channel, again_at = self._channel, self._again_at
        # A pause longer than any that we make is one of a clock that was set back since.
        if channel is None or (again_at is not None and now < again_at <= now + _LONGEST_PAUSE):
            return
        try:
            for alert in self._storage.owed_alerts(now, now + _CLAIM)[: None if again_at is None else 1]:
                now = self._clock.now()
                until = now + _CLAIM
                if not self._storage.claim_alert(alert.cause, now, until):
                    continue
                if _is_untellable(alert, channel):
                    self._finish(alert.cause)
                else:
                    self._hand_over(_Telling(alert=alert, channel=channel, until=until, is_again=True))
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
            self._aside(partial(self._say, channel, Alert(cause=cause, text=text, told_at=self._clock.now())))

    def clear(self, cause: str) -> None:
        """The cause is over: when it comes back, it is told again."""
        with self._lock:
            self._unnoted.pop(cause, None)
            self._unfinished.discard(cause)
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

    def _catch_up(self) -> None:
        """Write down what the database was away for. First what was told: else it would be told again."""
        with self._lock:
            unfinished, self._unfinished = self._unfinished, set()
            unnoted, self._unnoted = self._unnoted, {}
        if unfinished:
            self._finish(*unfinished)
        for alert in unnoted.values():
            self._raise(alert)

    def _hand_over(self, telling: _Telling) -> None:
        if not self._aside(partial(self._tell, telling)):
            self._release(telling.alert.cause, self._clock.now())

    def _tell(self, telling: _Telling) -> None:
        """Post a claimed alert, if that is still ours to do."""
        alert, now = telling.alert, self._clock.now()
        with self._lock:
            is_pausing = self._again_at is not None and not telling.is_again
        if is_pausing:
            self._release(alert.cause, now)
            return
        try:
            if not self._storage.renew_alert(alert.cause, telling.until, now + _CLAIM):
                return
        except StorageError as error:
            _log.warning("alert_not_noted", cause=alert.cause, error=str(error))  # the claim runs out by itself
            return
        if telling.is_again and self._stands(telling.channel, alert):
            self._finish(alert.cause)
            return
        match self._say(telling.channel, alert):
            case Sent() | Never():
                self._finish(alert.cause)
            case Unknown():
                self._release(alert.cause, self._clock.now() + _FIRST_PAUSE)  # a look would come too early before
            case _:
                self._release(alert.cause, self._clock.now())

    def _stands(self, channel: Channel, alert: Alert) -> bool:
        """Whether an earlier try, in whatever process, was taken after all."""
        oldest = alert.told_at or self._clock.now()
        look = self._history.find(channel, key=_key(alert), oldest=oldest)
        if isinstance(look, CannotLook):
            _log.warning("alert_not_looked_for", cause=alert.cause, reason=look.reason)
        return isinstance(look, Found)

    def _say(self, channel: Channel, alert: Alert) -> Outcome:
        try:
            message = self._maker.alert(alert.text)
        except Exception:  # noqa: BLE001 - whatever it is, it must not end what the alert tells of
            _log.exception("alert_not_made", cause=alert.cause)
            return Never(reason="not_made")
        self._clock.wait(min(self._leave(channel), _LONGEST_WAIT), Event())
        answer = self._poster.post(channel, message, key=_key(alert))
        outcome = of_post(answer)
        with self._lock:
            if isinstance(outcome, Sent | Never):
                self._pause, self._again_at = _FIRST_PAUSE, None
            elif self._again_at is None or self._again_at <= self._clock.now():
                self._again_at = self._clock.now() + self._pause
                self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        if not isinstance(outcome, Sent):
            _log.error("alert_not_posted", cause=alert.cause, answer=answer.kind.value, code=answer.code)
        return outcome

    def _finish(self, *causes: str) -> None:
        try:
            self._storage.finish_alerts(causes)
        except StorageError as error:
            _log.warning("alert_not_noted", causes=causes, error=str(error))
            with self._lock:
                self._unfinished.update(causes)

    def _release(self, cause: str, at: datetime) -> None:
        try:
            self._storage.release_alert(cause, at)
        except StorageError as error:
            # The claim runs out by itself.
            _log.warning("alert_not_noted", cause=cause, error=str(error))

    def _report(self, event: str, cause: str, error: StorageError) -> None:
        """Log it once, until it is possible again: a cause is raised or cleared at every look."""
        with self._lock:
            is_new = (event, cause) not in self._reported
            self._reported.add((event, cause))
        if is_new:
            _log.error(event, cause=cause, error=str(error))

    def _is_kept(self, event: str, cause: str) -> None:
        with self._lock:
            self._reported.discard((event, cause))


def _key(alert: Alert) -> str:
    """The id in the metadata of the alert's message, the same for whoever tries to tell it."""
    since = alert.told_at.astimezone(UTC).isoformat() if alert.told_at else ""
    return sha256(f"{alert.cause} {since}".encode()).hexdigest()[:32]


def _is_untellable(alert: Alert, channel: Channel | None) -> bool:
    """The alert channel's own trouble, a dead token or an outage cannot be told there: the log and `status` have it."""
    return alert.cause.startswith("team:") or (alert.about is not None and alert.about == channel)
