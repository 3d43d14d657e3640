"""Keeping sent messages true: roots get their links, changed entries their new words.

One call at a time, at the pace of its own tier: new messages always come first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Event
from typing import Protocol

import structlog

from bot.delivery.compose import Composer
from bot.delivery.doors import Doors
from bot.delivery.flight import NOTHING, Flight, Landing
from bot.delivery.outcome import NotNow, of_update
from bot.delivery.policy import ChannelPolicy, DeliverySettings
from bot.delivery.ports import Clock, Poster, SendStorage, UpdateStorage, WordingStorage
from bot.delivery.values import Draft, EntryBehind, Lane, Record, Wording, entry_subject
from bot.delivery.verdict import outcome_of, record_of
from bot.errors import MessageInvalid, TemplateError
from bot.model import Channel, Delivery, DeliveryKind, DeliveryState
from bot.text.change import change

_log = structlog.get_logger("bot.delivery")

_AT_ONCE = 100


class UpdatingStorage(UpdateStorage, WordingStorage, SendStorage, Protocol):
    """What updating needs of a database."""


def worth_a_reply(before: Wording, after: Wording, share: float | None) -> bool:
    """Return whether readers of a thread should hear of the change: another verdict, or more than `share` new text."""
    if share is None:
        return False
    if before.verdict != after.verdict:
        return True
    return change(before.body, after.body) > share


class Updater:
    """Plans and makes changes of sent messages. A change is idempotent: after a lost answer it is simply made again."""

    def __init__(
        self,
        *,
        owner: str,
        storage: UpdatingStorage,
        composer: Composer,
        poster: Poster,
        clock: Clock,
        doors: Doors,
        policies: Mapping[Channel, ChannelPolicy],
        settings: DeliverySettings,
    ) -> None:
        self._owner = owner
        self._storage = storage
        self._composer = composer
        self._poster = poster
        self._clock = clock
        self._doors = doors
        self.policies = policies
        self._settings = settings

    def plan(self, now: datetime) -> int:
        """Record the updates that are owed; return how many deliveries came of it. Safe in every replica."""
        added, channels = 0, self.policies.keys()
        for root in self._storage.roots_behind(_AT_ONCE, among=channels):
            draft = Draft(kind=DeliveryKind.UPDATE, subject=root.subject, revision=root.revision)
            added += self._storage.add_deliveries(root.channel, (draft,), root.slot_id, now)
        for entry in self._storage.entries_behind(_AT_ONCE, among=channels):
            added += self._storage.add_deliveries(entry.channel, self._owed(entry), entry.slot_id, now)
        return added

    def run(self, stop: Event) -> int:
        """Make the updates that are due, at the pace of their tier, until the turn is over; return how many."""
        end = self._clock.now() + timedelta(seconds=self._settings.turn)
        interval = timedelta(minutes=1) / self._settings.updates_per_minute
        made = 0
        policies = self.policies
        for delivery in self._storage.due_updates(self._clock.now(), _AT_ONCE, among=policies.keys()):
            policy = policies[delivery.channel]
            now = self._clock.now()
            at = self._storage.reserve_team(delivery.channel.team_id, Lane.UPDATE, now, interval)
            if at >= end or (at > now and self._clock.wait((at - now).total_seconds(), stop)):
                break
            if stop.is_set() or self._clock.now() >= end:
                break
            if not self._make(delivery, policy):
                break
            made += 1
        return made

    def _owed(self, entry: EntryBehind) -> tuple[Draft, ...]:
        subject = entry_subject(entry.entry_id)
        update = Draft(kind=DeliveryKind.UPDATE, subject=subject, revision=entry.revision)
        found = self._storage.wordings(entry.entry_id, (entry.told_revision, entry.revision))
        before, after = found.get(entry.told_revision), found.get(entry.revision)
        if before is None or after is None or not worth_a_reply(before, after, self._settings.reply_change):
            return (update,)
        return (update, Draft(kind=DeliveryKind.REPLY, subject=subject, revision=entry.revision))

    def _make(self, delivery: Delivery, policy: ChannelPolicy) -> bool:
        """Make one update; return whether the next may follow at once."""
        now = self._clock.now()
        parcel, broken = NOTHING, None
        try:
            parcel = self._composer.update(delivery, policy, now)
        except MessageInvalid as error:
            broken = str(error)
        except TemplateError as error:
            self._doors.template_broken(delivery.channel, str(error), now)
            return True
        until = now + self._settings.lease
        if delivery.id not in self._storage.claim(self._owner, [delivery.id], now, until):
            return True  # another replica makes it
        flight = Flight(delivery=delivery, parcel=parcel, until=until)
        began, answer = self._clock.now(), None
        last = until - timedelta(seconds=self._settings.post_timeout)
        if broken is None and began <= last:  # later, another replica may have made a newer change meanwhile
            answer = self._poster.update(delivery.channel, delivery.ts or "", parcel.message, until=last)
        landing = Landing(flight=flight, answer=answer, began=began, ended=self._clock.now(), broken=broken)
        return self._write_down(landing)

    def _write_down(self, landing: Landing) -> bool:
        delivery = landing.flight.delivery
        outcome = outcome_of(landing, of_update)
        record = _unpaced(record_of(landing, outcome, self._settings), delivery)
        now = self._clock.now()
        self._storage.record(self._owner, [record], now)
        self._doors.heed(delivery, outcome, record, now, was_blocked=False)
        _log.debug("update", delivery=delivery.key, channel=delivery.channel.channel_id, state=record.state.value)
        return not isinstance(outcome, NotNow)


def _unpaced(record: Record, delivery: Delivery) -> Record:
    """Return the record with its wait moved to the update alone: changing a message does not slow the channel."""
    again = record.next_post_at if record.state is DeliveryState.PLANNED else None
    return replace(
        record,
        ts=delivery.ts,
        thread_ts=None,
        folds=False,
        next_try_at=record.next_try_at or again,
        next_post_at=None,
    )
