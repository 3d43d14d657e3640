"""One attempt at one message: what is sent, what comes back, and the call between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event

from bot.delivery.compose import Parcel
from bot.delivery.ports import Clock, Poster
from bot.delivery.values import Answer, AnswerKind, Record
from bot.model import Delivery, DeliveryState, Message

_MOMENT = 0.2
"""Seconds: longer than any message is claimed ahead of its time."""
NOTHING = Parcel(message=Message(text="", blocks=()))
"""What a delivery whose message cannot be made is recorded with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """A claimed delivery on its way."""

    delivery: Delivery
    """As it was before the claim."""
    parcel: Parcel
    until: datetime
    """The claim's end: from then on others look for the message, and an answer counts only where nobody has yet."""
    due: datetime | None = None
    """When it is to go, and not before."""

    @property
    def attempt(self) -> int:
        """Which attempt this is, counted from 1."""
        return self.delivery.attempts + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """What came back."""

    flight: Flight
    answer: Answer | None
    """None where nothing was sent."""
    began: datetime
    ended: datetime
    broken: str | None = None
    """Why no message could be made. Without it and without an answer, the lease had become too short to send."""


@dataclass(frozen=True, slots=True)
class Broken:
    """No message could be made of a delivery, and why."""

    reason: str


@dataclass(slots=True)
class Tally:
    """What one run did."""

    sent: int = 0
    refused: int = 0
    failed: int = 0
    uncertain: int = 0

    def count(self, record: Record) -> None:
        """Take in what became of one delivery."""
        match record.state:
            case DeliveryState.SENT:
                self.sent += 1
            case DeliveryState.UNCERTAIN:
                self.uncertain += 1
            case DeliveryState.FAILED:
                self.failed += 1
            case _:
                self.refused += 1


def call_of(poster: Poster, clock: Clock, flight: Flight, timeout: float) -> Callable[[], Landing]:
    """Return the call that posts a claimed delivery. It never raises.

    The request leaves when it is due, and while its answer, which may take `timeout` seconds, can still come within
    the claim.
    """

    def call() -> Landing:
        if flight.due is not None and (early := (flight.due - clock.now()).total_seconds()) > 0:
            # A moment, that no stop is worth cutting short; never more, also where the clock was set back meanwhile.
            clock.wait(min(early, _MOMENT), Event())
        began = clock.now()
        last = flight.until - timedelta(seconds=timeout)
        if began > last:
            # This process was held up since the claim. Another may be about to take the message for lost.
            return Landing(flight=flight, answer=None, began=began, ended=began)
        delivery, parcel = flight.delivery, flight.parcel
        try:
            answer = poster.post(
                delivery.channel,
                parcel.message,
                key=delivery.key,
                thread_ts=parcel.thread_ts,
                until=last,
            )
        except Exception as error:  # noqa: BLE001 - whatever broke, the request may have left: that is doubt
            answer = Answer(kind=AnswerKind.DROPPED, detail=type(error).__name__)
        return Landing(flight=flight, answer=answer, began=began, ended=clock.now())

    return call
