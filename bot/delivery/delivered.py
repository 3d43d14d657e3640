"""One line in the log when a digest stands in its channel: each message alone is too small to be read about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import structlog

from bot.delivery.flight import Landing
from bot.model import Channel, DeliveryKind

_log = structlog.get_logger("bot.delivery")


@dataclass(slots=True, kw_only=True)
class _Digest:
    slot_id: int | None
    began: datetime
    messages: int = 0


class Delivered:
    """Counts what this process sends of each channel's present digest; other replicas say what they send of it."""

    def __init__(self) -> None:
        self._digests: dict[Channel, _Digest] = {}

    def sent(self, landing: Landing) -> None:
        """Take note of a message that stands."""
        delivery = landing.flight.delivery
        if delivery.kind not in (DeliveryKind.ROOT, DeliveryKind.ENTRY):
            return
        digest = self._digests.get(delivery.channel)
        if digest is None or digest.slot_id != delivery.slot_id:
            digest = self._digests[delivery.channel] = _Digest(slot_id=delivery.slot_id, began=landing.began)
        digest.messages += 1

    def over(self, landing: Landing) -> None:
        """Nothing more of this message's digest waits: say so, unless none of it was sent here."""
        delivery = landing.flight.delivery
        digest = self._digests.get(delivery.channel)
        if digest is None or digest.slot_id != delivery.slot_id:
            return
        del self._digests[delivery.channel]
        seconds = round((landing.ended - digest.began).total_seconds(), 1)
        _log.info("digest_delivered", channel=delivery.channel.channel_id, messages=digest.messages, seconds=seconds)
