"""Planning, the thin part: fetches what `plan.py` decides on, and records what it decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from bot.delivery.match import Matcher
from bot.delivery.person import Alarm
from bot.delivery.plan import (
    NOTHING,
    POLICY_CHANGED,
    News,
    no_longer_wanted,
    openings,
    plan_channel,
    plan_slot,
    slot_for_now,
)
from bot.delivery.policy import ChannelPolicy, DeliverySettings
from bot.delivery.ports import PlanStorage, ViewStorage
from bot.delivery.values import Candidate, ChannelState, DocumentNews, SlotPlan, entry_of
from bot.model import Channel, Delivery, Entry, Slot, SlotState

_log = structlog.get_logger("bot.delivery")

_TOGETHER = 50
"""Channels planned at a time: few statements for many, and no transaction that makes others wait."""


@dataclass(slots=True)
class Planned:
    """What one planning run recorded."""

    slots: int = 0
    deliveries: int = 0
    passed: int = 0


class Planner:
    """Plans all channels. Every replica may: a slot's UNIQUE row lets one of them win."""

    def __init__(
        self,
        *,
        storage: PlanStorage,
        views: ViewStorage,
        alarm: Alarm,
        policies: Mapping[Channel, ChannelPolicy],
        settings: DeliverySettings,
    ) -> None:
        self._storage = storage
        self._views = views
        self._alarm = alarm
        self._settings = settings
        self._policies = policies
        self._states: dict[Channel, ChannelState] = {}
        self._done_until: dict[Channel, datetime] = {}

    def take_policies(self, policies: Mapping[Channel, ChannelPolicy], now: datetime) -> int:
        """Use other policies from now on; drop what is planned and no longer wanted. Return how many were dropped."""
        self._policies = policies
        # Made anew, not emptied: a planning run of another thread may still note its old findings in the old one.
        self._done_until = {}
        return self.tidy(now)

    def tidy(self, now: datetime) -> int:
        """Skip planned deliveries that the present policies do not want; return how many."""
        matcher, skipped = Matcher(), 0
        for channel, policy in self._policies.items():
            planned = self._storage.planned(channel)
            if not planned:
                continue
            dropped = no_longer_wanted(policy, planned, self._candidates(planned), matcher)
            if dropped:
                skipped += self._storage.skip(dropped, POLICY_CHANGED, now)
                _log.info("policy_narrowed", channel=channel.channel_id, skipped=len(dropped))
        return skipped

    def plan(self, now: datetime, *, ready: Callable[[datetime], datetime] | None = None) -> Planned:
        """Record every slot that is due. Safe to call at any time, as often as one likes, in any replica.

        `ready` is asked only where something may be due: what has arrived until the instant it returns is known, and
        later slots are left for the next run.
        """
        result, matcher = Planned(), Matcher()
        documents: dict[int, DocumentNews] = {}
        done_until = self._done_until
        wanting = [policy for policy in self._policies.values() if self._may_be_due(policy, done_until, now)]
        if wanting and ready is not None:
            now = min(now, ready(now))
        for start in range(0, len(wanting), _TOGETHER):
            for channel in self._plan_channels(wanting[start : start + _TOGETHER], now, documents, matcher, result):
                done_until[channel] = now
        return result

    def plan_now(self, channel: Channel, now: datetime) -> int | None:
        """Plan a slot at once for what is new; return its id, or None where nothing is new."""
        policy = self._policies[channel]
        state = self._storage.register_channel(channel, policy.name, now)
        plan = plan_slot(policy, state, slot_for_now(policy, now), self._news((channel,), {})[channel], Matcher())
        if plan.state is not SlotState.PLANNED:
            return None
        return self._storage.record_plan(plan, now)

    def _may_be_due(self, policy: ChannelPolicy, done_until: Mapping[Channel, datetime], now: datetime) -> bool:
        done = done_until.get(policy.channel)
        # A hint only, to leave the database alone: a clock that was set back makes it look again.
        if done is None or done > now:
            return True
        state = self._states[policy.channel]
        due = openings(policy, state, (), now, now - done + timedelta(seconds=1))
        return due.open is not None or bool(due.passed)

    def _plan_channels(
        self,
        policies: Sequence[ChannelPolicy],
        now: datetime,
        documents: dict[int, DocumentNews],
        matcher: Matcher,
        result: Planned,
    ) -> set[Channel]:
        """Plan some channels; return those of which nothing is left for the next run."""
        by_channel = {policy.channel: policy for policy in policies}
        states = self._storage.register_channels({one: policy.name for one, policy in by_channel.items()}, now)
        self._states.update(states)
        lookback = self._settings.lookback
        # Two days more: local dates run ahead of and behind UTC, and slots decided ahead of a wrong clock count too.
        recorded = self._storage.slots_of(tuple(by_channel), (now - lookback - timedelta(days=2)).date())
        due = {one: openings(policy, states[one], recorded[one], now, lookback) for one, policy in by_channel.items()}
        news = self._news([one for one in by_channel if due[one].open is not None], documents)
        plans = [
            plan
            for one, policy in by_channel.items()
            for plan in plan_channel(policy, states[one], due[one], news.get(one, NOTHING), matcher)
        ]
        whole = set(by_channel)
        for plan, slot_id in zip(plans, self._storage.record_plans(plans, now) if plans else (), strict=True):
            if slot_id is None:
                _log.debug("slot_taken", channel=plan.slot.channel.channel_id, slot=plan.slot.name)
                whole.discard(plan.slot.channel)
                continue
            channel = plan.slot.channel
            self._tell(by_channel[channel], plan, result)
            if plan.state is not SlotState.PASSED:
                # What an earlier slot has missed comes, or has come, with this one.
                for one in recorded[channel]:
                    if one.state is SlotState.PASSED:
                        self._alarm.clear(_passed(one.slot))
        return whole

    def _tell(self, policy: ChannelPolicy, plan: SlotPlan, result: Planned) -> None:
        day, name = plan.slot.local_date.isoformat(), plan.slot.name
        result.slots += 1
        result.deliveries += len(plan.drafts)
        _log.info(
            "slot",
            channel=policy.channel.channel_id,
            date=day,
            slot=name,
            state=plan.state,
            messages=len(plan.drafts),
        )
        if plan.state is SlotState.PASSED:
            result.passed += 1
            text = (
                f"{policy.name}: the slot {day} {name} ({policy.schedule.zone.key}) was missed by more than "
                f"{policy.catch_up}. Nothing is lost: its entries come with the next slot."
            )
            self._alarm.raise_alert(_passed(plan.slot), text, about=policy.channel)
        elif plan.detail.get("flood"):
            _log.warning("flood_made_compact", channel=policy.channel.channel_id, date=day, slot=name)

    def _news(self, channels: Sequence[Channel], documents: dict[int, DocumentNews]) -> dict[Channel, News]:
        """Return what is new for each of the channels. `documents` are those read before, and are added to."""
        if not channels:
            return {}
        ids = self._storage.fresh_documents_of(channels)
        missing = [one for one in dict.fromkeys(one for fresh in ids.values() for one in fresh) if one not in documents]
        if missing:
            documents.update(self._storage.document_news(missing))
        fresh = {channel: tuple(documents[one] for one in ids[channel] if one in documents) for channel in channels}
        offered = {one.id: one for of_channel in fresh.values() for one in of_channel}
        entry_ids = tuple({candidate.entry_id for document in offered.values() for candidate in document.entries})
        taken = self._storage.taken_by(channels, entry_ids) if entry_ids else {}
        return {one: News(fresh=fresh[one], taken=taken.get(one, frozenset())) for one in channels}

    def _candidates(self, planned: tuple[Delivery, ...]) -> Mapping[int, Candidate]:
        ids = [entry_id for one in planned if (entry_id := entry_of(one.subject)) is not None]
        return {entry_id: _candidate(entry) for entry_id, entry in self._views.entries(ids).items()} if ids else {}


def _passed(slot: Slot) -> str:
    channel = slot.channel
    return f"passed:{channel.team_id}/{channel.channel_id}/{slot.local_date.isoformat()}/{slot.name}"


def _candidate(entry: Entry) -> Candidate:
    return Candidate(
        entry_id=entry.id, repo=entry.repo, title=entry.title, body=entry.body, topics=entry.extraction.topics
    )
