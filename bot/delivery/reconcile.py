"""Settling doubt: a message whose answer was lost is looked for before anything is posted again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Event
from typing import Protocol

import structlog

from bot.delivery.alerts import failed, failure, held
from bot.delivery.alerts import settled as proven
from bot.delivery.doors import Doors
from bot.delivery.outcome import TEAM_REFUSALS
from bot.delivery.person import Alarm, DeskStorage
from bot.delivery.policy import DeliverySettings
from bot.delivery.ports import Clock, History, ReconcileStorage, SendStorage
from bot.delivery.values import LONGEST_WAIT, Absent, CannotLook, Doubtful, Found, Look, Resolution
from bot.errors import StorageUnavailable
from bot.model import Delivery, DeliveryKind, DeliveryState, Layout

_log = structlog.get_logger("bot.delivery")

_AT_ONCE = 50
_MANY = 1000
_NOW_AND_THEN = timedelta(minutes=1)
_LONGEST_PAUSE = timedelta(minutes=30)
THREAD_GONE = "thread_not_found"


@dataclass(slots=True)
class Settled:
    """What one run found out."""

    expired: int = 0
    found: int = 0
    absent: int = 0
    held: int = 0
    later: int = 0


class DoubtStorage(ReconcileStorage, SendStorage, DeskStorage, Protocol):
    """What settling doubt needs of a database."""


class Reconciler:
    """Looks for uncertain deliveries, one after the other: reading history is limited far more than posting."""

    def __init__(
        self,
        *,
        storage: DoubtStorage,
        history: History,
        alarm: Alarm,
        doors: Doors,
        clock: Clock,
        settings: DeliverySettings,
    ) -> None:
        self._storage = storage
        self._history = history
        self._alarm = alarm
        self._doors = doors
        self._clock = clock
        self._settings = settings
        self._set_right_at: datetime | None = None

    def run(self, stop: Event) -> Settled:
        """Turn expired claims into doubt, and settle the doubt that is old enough. Safe in every replica.

        Two replicas that look for the same message find the same; only the first one's resolution is taken. One that
        looked so long that the message was sent again meanwhile, and is in doubt again, has looked for nothing.
        """
        settled = Settled()
        now = self._clock.now()
        self._set_right(now)
        self._alarm.tell_owed()
        # The claim's end is after the last moment at which its post could start and time out; Slack gets a little more.
        for delivery in self._storage.expire_sending(now, now + self._settings.settle):
            settled.expired += 1
            _log.warning("claim_expired", delivery=delivery.key, channel=delivery.channel.channel_id)
        end = now + timedelta(seconds=self._settings.turn)
        closed = set(self._storage.team_blocks())
        for doubtful in self._storage.uncertain(now, _AT_ONCE):
            if stop.is_set() or self._clock.now() >= end:
                break  # what is left is looked for at the next run
            # A refused token cannot look either. That is no failed look: it waits for the new token.
            if doubtful.delivery.channel.team_id not in closed:
                self._settle(doubtful, settled, closed)
        return settled

    def _set_right(self, now: datetime) -> None:
        """Now and then, undo what a wrong clock has left, and tell of what a person must decide and was not told of."""
        if self._set_right_at is not None and abs(now - self._set_right_at) < _NOW_AND_THEN:
            return
        self._set_right_at = now
        ended = self._storage.end_waits(now, LONGEST_WAIT)
        if ended:
            _log.warning("far_waits_ended", count=ended)
        for state, cause, tell in (
            (DeliveryState.HELD, held, self._tell_held),
            (DeliveryState.FAILED, failed, self._tell_failed),
        ):
            waiting = self._storage.in_state(state, _MANY)
            told = self._alarm.standing(cause("")) if waiting else frozenset()
            for delivery in waiting:
                if cause(delivery.key) not in told:
                    tell(delivery)

    def _settle(self, doubtful: Doubtful, settled: Settled, closed: set[str]) -> None:
        delivery = doubtful.delivery
        try:
            look, thread_ts = self._look(doubtful)
        except StorageUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one message that cannot be looked for must not hide the others
            _log.exception("look_failed", delivery=delivery.key)
            look, thread_ts = CannotLook(reason=type(error).__name__, retry_at=self._clock.now()), None
        now = self._clock.now()
        if isinstance(look, CannotLook) and look.retry_at is not None and look.reason in TEAM_REFUSALS:
            self._doors.token_refused(delivery.channel.team_id, look.reason, now)
            closed.add(delivery.channel.team_id)
            return
        resolution = replace(resolve(doubtful, look, now, self._settings), thread_ts=thread_ts)
        if not self._storage.resolve(resolution, now):
            _log.debug("settled_elsewhere", delivery=delivery.key)
            return
        _log.info(
            "settled",
            delivery=delivery.key,
            channel=delivery.channel.channel_id,
            state=resolution.state.value,
        )
        match resolution.state:
            case DeliveryState.SENT:
                settled.found += 1
                proven(delivery.key, self._alarm.clear)  # another look may have asked a person meanwhile
            case DeliveryState.PLANNED:
                settled.absent += 1
            case DeliveryState.HELD:
                settled.held += 1
                self._tell_held(replace(delivery, error=resolution.error))
            case _:
                settled.later += 1

    def _look(self, doubtful: Doubtful) -> tuple[Look, str | None]:
        """Look wherever the message can stand, and return the thread where it was found.

        A process that was killed while it sent has not noted in which thread: the root's, the entry's, or (where
        that thread was refused before) none. Absent means absent from all of them.
        """
        delivery = doubtful.delivery
        turn = self._storage.turns([delivery.channel], doubtful.oldest, 1).get(delivery.channel)
        root = turn.roots.get(delivery.slot_id) if turn is not None and delivery.slot_id is not None else None
        parent = turn.parents.get(delivery.subject) if turn is not None else None
        in_root = root.ts if root is not None and root.layout is Layout.THREAD else None
        places: dict[str | None, None] = dict.fromkeys((delivery.thread_ts, parent, in_root))
        if delivery.kind is DeliveryKind.ENTRY and delivery.part == 0:
            places[None] = None
        elif len(places) > 1:
            places.pop(None, None)  # a reply never goes to the channel itself
        look: Look = Absent()
        for place in places:
            look = self._history.find(delivery.channel, key=delivery.key, oldest=doubtful.oldest, thread_ts=place)
            if isinstance(look, CannotLook) and look.reason == THREAD_GONE and place is not None:
                look = Absent()  # nothing stands in a thread that Slack does not have
            if not isinstance(look, Absent):
                return look, place if isinstance(look, Found) else None
        return look, None

    def _tell_failed(self, delivery: Delivery) -> None:
        self._alarm.raise_alert(failed(delivery.key), failure(delivery), about=delivery.channel)

    def _tell_held(self, delivery: Delivery) -> None:
        text = (
            f"It is not known whether {delivery.subject} stands in <#{delivery.channel.channel_id}> "
            f"({delivery.error}). Look there, then run `digest-bot deliveries settle {delivery.key[:8]} 'LINK'` "
            f"or `digest-bot deliveries retry {delivery.key[:8]}`."
        )
        self._alarm.raise_alert(held(delivery.key), text, about=delivery.channel)
        now = self._storage.by_key(delivery.key)
        if now is None or now.state is not DeliveryState.HELD:
            proven(delivery.key, self._alarm.clear)  # proof came, or a person, before the question was asked


def resolve(doubtful: Doubtful, look: Look, now: datetime, settings: DeliverySettings) -> Resolution:
    """Return what a look says about an uncertain delivery. Pure."""
    delivery, looks = doubtful.delivery, doubtful.looks + 1
    base = Resolution(
        delivery_id=delivery.id,
        expected=DeliveryState.UNCERTAIN,
        state=DeliveryState.UNCERTAIN,
        looks=looks,
        attempt=delivery.attempts,
    )
    match look:
        case Found(ts=ts):
            return replace(base, state=DeliveryState.SENT, ts=ts)
        case Absent() if delivery.doubts >= settings.max_attempts:
            return replace(base, state=DeliveryState.HELD, error=f"no answer to {delivery.doubts} attempts")
        case Absent():
            return replace(base, state=DeliveryState.PLANNED, error=delivery.error)
        case CannotLook(reason=reason, retry_at=None):
            return replace(base, state=DeliveryState.HELD, error=reason)
        case CannotLook(reason=reason) if looks >= settings.max_looks:
            return replace(base, state=DeliveryState.HELD, error=reason)
        case CannotLook(reason=reason, retry_at=retry_at):
            growing = min(_LONGEST_PAUSE, settings.look_again * 2.0 ** (looks - 1))
            again = min(max(retry_at or now, now + growing), now + LONGEST_WAIT)
            return replace(base, error=reason, next_try_at=again)
