"""The states of a delivery and every way between them. Pure; the README prints the same letters."""

from __future__ import annotations

from enum import StrEnum

from bot.model import DeliveryState


class Event(StrEnum):
    """What happens to a delivery. The value is the letter that the documents use."""

    CLAIMED = "b"
    ACCEPTED = "c"
    REFUSED_FOR_NOW = "d"
    REFUSED_FOR_EVER = "e"
    DOUBTED = "f"
    FOUND = "g"
    ABSENT = "h"
    GIVEN_UP = "i"
    DROPPED = "j"
    SETTLED = "k-settle"
    RETRIED = "k-retry"
    FOLDED = "l"
    """Its words stand in the root of a compact slot, which was sent."""
    TARGET_GONE = "m"
    """An update or a reply whose message somebody deleted."""


_S = DeliveryState
TRANSITIONS: dict[tuple[DeliveryState, Event], DeliveryState] = {
    (_S.PLANNED, Event.CLAIMED): _S.SENDING,
    (_S.SENDING, Event.ACCEPTED): _S.SENT,
    # Proof may come late: a replica that was paused while it waited for Slack's answer still brings the ts.
    (_S.UNCERTAIN, Event.ACCEPTED): _S.SENT,
    (_S.HELD, Event.ACCEPTED): _S.SENT,
    (_S.PLANNED, Event.ACCEPTED): _S.SENT,
    (_S.FAILED, Event.ACCEPTED): _S.SENT,
    (_S.SKIPPED, Event.ACCEPTED): _S.SENT,
    (_S.SENDING, Event.REFUSED_FOR_NOW): _S.PLANNED,
    (_S.SENDING, Event.REFUSED_FOR_EVER): _S.FAILED,
    (_S.SENDING, Event.DOUBTED): _S.UNCERTAIN,
    (_S.UNCERTAIN, Event.FOUND): _S.SENT,
    (_S.UNCERTAIN, Event.ABSENT): _S.PLANNED,
    (_S.UNCERTAIN, Event.GIVEN_UP): _S.HELD,
    (_S.PLANNED, Event.DROPPED): _S.SKIPPED,
    (_S.HELD, Event.SETTLED): _S.SENT,
    (_S.HELD, Event.RETRIED): _S.PLANNED,
    (_S.FAILED, Event.RETRIED): _S.PLANNED,
    (_S.PLANNED, Event.FOLDED): _S.SENT,
    (_S.SENDING, Event.TARGET_GONE): _S.SKIPPED,
}
"""Every way from one state to another; a (insertion as PLANNED) has no state before it."""


def next_state(state: DeliveryState, event: Event) -> DeliveryState:
    """Return the state after the event; raise `ValueError` where that cannot happen."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise ValueError(f"a delivery that is {state} cannot be {event.name.lower()}") from None
