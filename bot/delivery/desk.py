"""A person's word on a message that the bot could not settle by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

import structlog

from bot.delivery.alerts import settled
from bot.delivery.person import AlertStorage, DeskStorage
from bot.delivery.ports import ReconcileStorage, SendStorage
from bot.delivery.values import Resolution
from bot.model import Delivery, DeliveryKind, DeliveryState, Layout

_log = structlog.get_logger("bot.delivery")


_EVER = datetime(1, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a person has found a message."""

    ts: str
    thread_ts: str | None = None
    channel_id: str | None = None
    """None: only the `ts` was given, so that the thread is not known either."""


class DecidingStorage(DeskStorage, ReconcileStorage, SendStorage, AlertStorage, Protocol):
    """What a decision needs of a database."""


def decide(storage: DecidingStorage, key: str, found: Standing | None, *, now: datetime) -> bool:
    """Settle a held delivery as sent where it was `found`, or (None) let a held or failed one be sent again.

    `key` may be the beginning of a key that only one delivery has. Return whether there was such a delivery: one that
    Slack refused for good cannot be settled, because it is certainly not there. Raises StorageUnavailable.
    """
    state = DeliveryState.PLANNED if found is None else DeliveryState.SENT
    delivery = storage.by_key(key)
    if delivery is None or delivery.state not in (DeliveryState.HELD, DeliveryState.FAILED):
        return False
    if delivery.state is DeliveryState.FAILED and state is DeliveryState.SENT:
        return False
    resolution = Resolution(delivery_id=delivery.id, expected=delivery.state, state=state)
    if found is not None:
        thread_ts = found.thread_ts if found.channel_id is not None else _thread_of(storage, delivery)
        resolution = replace(resolution, ts=found.ts, thread_ts=thread_ts)
    if not storage.resolve(resolution, now):
        return False
    settled(delivery.key, storage.clear_alert)
    _log.info("decided_by_a_person", delivery=delivery.key, state=state.value)
    return True


def _thread_of(storage: DecidingStorage, delivery: Delivery) -> str | None:
    """The thread where the message belongs: what follows it goes there, too."""
    if delivery.thread_ts is not None:
        return delivery.thread_ts
    # Asked again, because a process that was killed while it sent has not noted it.
    turn = storage.turns([delivery.channel], _EVER, 1).get(delivery.channel)
    if turn is None:
        return None
    if delivery.kind is DeliveryKind.REPLY or delivery.part > 0:
        return turn.parents.get(delivery.subject)
    if delivery.kind is DeliveryKind.ROOT or delivery.slot_id is None:
        return None
    root = turn.roots.get(delivery.slot_id)
    return root.ts if root is not None and root.layout is Layout.THREAD else None
