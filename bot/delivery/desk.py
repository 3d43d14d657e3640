"""A person's word on a message that the bot could not settle by itself."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

import structlog

from bot.delivery.alerts import settled
from bot.delivery.person import AlertStorage, DeskStorage
from bot.delivery.ports import ReconcileStorage
from bot.delivery.values import Resolution
from bot.model import DeliveryState

_log = structlog.get_logger("bot.delivery")


class DecidingStorage(DeskStorage, ReconcileStorage, AlertStorage, Protocol):
    """What a decision needs of a database."""


def decide(storage: DecidingStorage, key: str, ts: str | None, *, now: datetime) -> bool:
    """Settle a held delivery as sent with `ts`, or (None) let a held or failed one be sent again.

    `key` may be the beginning of a key that only one delivery has. Return whether there was such a delivery: one that
    Slack refused for good cannot be settled, because it is certainly not there. Raises StorageUnavailable.
    """
    state = DeliveryState.PLANNED if ts is None else DeliveryState.SENT
    delivery = storage.by_key(key)
    if delivery is None or delivery.state not in (DeliveryState.HELD, DeliveryState.FAILED):
        return False
    if delivery.state is DeliveryState.FAILED and state is DeliveryState.SENT:
        return False
    resolution = Resolution(delivery_id=delivery.id, expected=delivery.state, state=state, ts=ts)
    if not storage.resolve(resolution, now):
        return False
    settled(delivery.key, storage.clear_alert)
    _log.info("decided_by_a_person", delivery=delivery.key, state=state.value)
    return True
