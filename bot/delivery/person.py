"""The seams to a person: what is told, and what a person decides. Contracts like those of `bot.delivery.ports`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Protocol

from bot.delivery.values import Alert, Status
from bot.model import Channel, Delivery, DeliveryState


class Alarm(Protocol):
    """How a person is told. Implementations log; `bot.delivery.alerts` also posts."""

    def raise_alert(self, cause: str, text: str, *, about: Channel | None = None) -> None:
        """Tell `text`, once per cause while it lasts. `about`: the channel it concerns."""

    def tell_unkept(self, cause: str, text: str) -> None:
        """Tell `text` though nothing can be kept in the database; only the log is sure to have it.

        Whoever calls it sees to it that it is told once.
        """

    def tell_owed(self) -> None:
        """Tell again what nobody could be told of so far and is not over, if it is time for that."""

    def clear(self, cause: str) -> None:
        """The cause is over."""

    def standing(self, beginning: str) -> frozenset[str]:
        """Return the causes with this beginning that are not over, whoever told them. Raises StorageUnavailable."""


class AlertStorage(Protocol):
    """What people must be told. An alert is owed until it is finished or its cause is over.

    Each owed alert says from when on anyone may tell it: a claim is that moment put off, so it runs out by itself where
    its owner dies.
    """

    def note_alert(self, alert: Alert, now: datetime, *, quiet: timedelta, owed_from: datetime | None) -> bool:
        """Count the cause; return True where it is to be told now.

        True for a cause that is new or was cleared, and once more for each `quiet` that passes while it goes on;
        True to one caller only, who has claimed it up to `owed_from`. None: it is not owed.
        """

    def owed_alerts(self, now: datetime, until: datetime) -> tuple[Alert, ...]:
        """Return what is owed and not claimed, those that have waited longest first. `until`: as in `claim_alert`."""

    def claim_alert(self, cause: str, now: datetime, until: datetime) -> bool:
        """Take it upon oneself to tell of an owed cause up to `until`; True for one caller only."""

    def renew_alert(self, cause: str, until: datetime, later: datetime) -> bool:
        """Extend a claim that ends at `until` to `later`; False where it is another's by now, or the cause is over."""

    def release_alert(self, cause: str, at: datetime) -> None:
        """Let others tell of the cause from `at` on, if it is not over: it could not be told."""

    def finish_alerts(self, causes: Iterable[str]) -> None:
        """Note that the causes are owed no longer: people were told, or cannot be."""

    def clear_alert(self, cause: str) -> bool:
        """Forget the cause, so that it is told again when it comes back; return whether it was known."""

    def alerts_with(self, beginning: str) -> frozenset[str]:
        """Return the causes with this beginning that were noted and are not forgotten."""


class DeskStorage(Protocol):
    """What a person asks and decides."""

    def by_key(self, key: str) -> Delivery | None:
        """Return the delivery with this key (or a prefix of it that only one has)."""

    def in_state(self, state: DeliveryState, limit: int) -> tuple[Delivery, ...]:
        """Return deliveries in this state, oldest first."""

    def status(self, now: datetime) -> Status:
        """Return the numbers, what is held and what is blocked."""
