"""From an outcome to the record that is written down. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from bot.delivery.flight import Flight, Landing
from bot.delivery.outcome import Gone, Never, NotNow, Outcome, Scope, Sent, Unknown, Unthreaded, of_post
from bot.delivery.policy import DeliverySettings
from bot.delivery.values import LONGEST_WAIT, Answer, Block, Record
from bot.model import DeliveryKind, DeliveryState

UNTOLD_WAIT = 30.0
"""Seconds to wait where Slack says "too fast" and not for how long."""
_LONGEST_PAUSE = 60.0
_NOT_TRIED = "lease_too_short"


def outcome_of(landing: Landing, meaning: Callable[[Answer], Outcome] = of_post) -> Outcome | None:
    """Return what came of it, None where nothing was sent and nothing is wrong with the message."""
    if landing.broken is not None:
        return Never(reason="message_invalid", advice=landing.broken)
    return meaning(landing.answer) if landing.answer is not None else None


def record_of(landing: Landing, outcome: Outcome | None, settings: DeliverySettings) -> Record:
    """Return what to write down about a landed flight; `outcome` is None where nothing was sent."""
    flight = landing.flight
    base = Record(delivery_id=flight.delivery.id, attempt=flight.attempt, state=DeliveryState.PLANNED)
    pace = settings.not_before(landing.began, landing.ended, flight.due)
    match outcome:
        case None:
            return replace(base, error=flight.delivery.error or _NOT_TRIED)
        case Sent(ts=ts):
            return replace(
                base,
                state=DeliveryState.SENT,
                ts=ts,
                thread_ts=flight.parcel.thread_ts,
                told_revision=flight.parcel.told_revision,
                parts=flight.parcel.parts,
                folds=flight.parcel.folds,
                next_post_at=pace,
            )
        case Unknown(reason=reason):
            # Slack may take the message as long as our call could still be read, wherever we stopped listening.
            last = max(landing.ended, landing.began + timedelta(seconds=settings.post_timeout))
            return replace(
                base,
                state=DeliveryState.UNCERTAIN,
                thread_ts=flight.parcel.thread_ts,
                error=reason,
                next_try_at=last + settings.settle,
                next_post_at=pace,
            )
        case Never(reason=reason) | Gone(reason=reason):
            state = DeliveryState.FAILED if isinstance(outcome, Never) else DeliveryState.SKIPPED
            return replace(base, state=state, error=reason, next_post_at=pace if landing.answer else None)
        case Unthreaded(reason=reason):
            return replace(base, state=_without_thread(flight), error=reason, next_post_at=pace)
        case NotNow():
            return _later(landing, outcome, settings)


def block_of(outcome: NotNow, now: datetime, settings: DeliverySettings) -> Block | None:
    """Return the block that a refusal puts on its channel or workspace, None where it puts none."""
    if outcome.scope not in (Scope.CHANNEL, Scope.TEAM):
        return None
    wait = settings.team_retry if outcome.scope is Scope.TEAM else settings.channel_retry
    return Block(reason=outcome.reason, advice=outcome.advice, until=now + wait)


def _without_thread(flight: Flight) -> DeliveryState:
    if flight.parcel.thread_ts is None:
        return DeliveryState.FAILED  # it was not in a thread: the word means something else here
    whole = flight.delivery.kind is DeliveryKind.ENTRY and flight.delivery.part == 0
    # An entry is owed to the channel, not to the thread; a reply or a continuation makes no sense without it.
    return DeliveryState.PLANNED if whole else DeliveryState.SKIPPED


def _later(landing: Landing, outcome: NotNow, settings: DeliverySettings) -> Record:
    flight, now = landing.flight, landing.ended
    base = Record(
        delivery_id=flight.delivery.id,
        attempt=flight.attempt,
        state=DeliveryState.PLANNED,
        error=outcome.reason,
    )
    if outcome.scope is Scope.MESSAGE:
        refusals = flight.delivery.refusals + 1
        if refusals >= settings.max_attempts:
            return replace(base, state=DeliveryState.FAILED, refused=True, next_post_at=now)
        wait = max(outcome.retry_after or 0.0, _growing(refusals))
        return replace(base, refused=True, next_try_at=now + min(LONGEST_WAIT, timedelta(seconds=wait)))
    if outcome.scope is Scope.PACE:
        wait = outcome.retry_after if outcome.retry_after is not None else UNTOLD_WAIT
    elif outcome.scope is Scope.CALL:
        wait = max(outcome.retry_after or 0.0, _growing(flight.attempt))
    else:
        wait = 0.0
    pace = settings.not_before(landing.began, now)
    return replace(base, next_post_at=max(pace, now + min(LONGEST_WAIT, timedelta(seconds=wait))))


def _growing(attempt: int) -> float:
    return min(_LONGEST_PAUSE, 2.0 ** min(attempt, 6))
