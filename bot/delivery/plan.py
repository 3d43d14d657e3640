"""What a channel's slots owe it. Pure: state, news and `now` go in, slot plans come out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

from bot.delivery.match import Matcher
from bot.delivery.policy import ChannelPolicy, WhenEmpty
from bot.delivery.slots import Due, due_between
from bot.delivery.values import (
    Candidate,
    ChannelState,
    DocumentNews,
    Draft,
    RecordedSlot,
    SlotPlan,
    entry_of,
    entry_subject,
    slot_subject,
)
from bot.model import Delivery, DeliveryKind, DeliveryState, Layout, Slot, SlotState

FIRST_RUN = "first_run"
POLICY_CHANGED = "policy_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Openings:
    """A channel's slots that are due and not yet decided, oldest first."""

    passed: tuple[Due, ...] = ()
    """Beyond the catch-up window: not posted; their entries join the next slot."""
    joined: tuple[Due, ...] = ()
    """Missed within the window, but a later one is due as well: that one takes the entries."""
    open: Due | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What is new for one channel."""

    fresh: tuple[DocumentNews, ...] = ()
    """Documents not told yet, by edition and id."""
    taken: Collection[int] = frozenset()
    """Entries of theirs that the channel has a delivery of."""


NOTHING = News()


def openings(
    policy: ChannelPolicy,
    state: ChannelState,
    recorded: Sequence[RecordedSlot],
    now: datetime,
    lookback: timedelta = timedelta(days=14),
) -> Openings:
    """Return what is due. A new channel's slots count from one catch-up window before it was met.

    A slot that would lie before the newest decided one is not missed: it came into the schedule later.
    """
    since = max(state.known_since - policy.catch_up, now - lookback)
    # A decided slot ahead of `now` is left from a clock that ran ahead: it must not hide today's.
    past = [slot.slot.due_at for slot in recorded if slot.slot.due_at <= now]
    if past:
        since = max(since, *past)
    known = {(slot.slot.local_date, slot.slot.name) for slot in recorded}
    due = [one for one in due_between(policy.schedule, since, now) if (one.local_date, one.name) not in known]
    passed = tuple(one for one in due if now - one.due_at > policy.catch_up)
    reachable = due[len(passed) :]
    if not reachable:
        return Openings(passed=passed)
    return Openings(passed=passed, joined=tuple(reachable[:-1]), open=reachable[-1])


def plan_channel(
    policy: ChannelPolicy, state: ChannelState, due: Openings, news: News, matcher: Matcher
) -> tuple[SlotPlan, ...]:
    """Return the plans of a channel's due slots, in the order in which they are to be recorded."""
    plans = [
        SlotPlan(slot=_slot(policy, one), state=SlotState.PASSED, detail={"reason": "catch_up"}) for one in due.passed
    ]
    plans += [
        SlotPlan(slot=_slot(policy, one), state=SlotState.EMPTY, detail={"reason": "joined_a_later_slot"})
        for one in due.joined
    ]
    if due.open is not None:
        plans.append(plan_slot(policy, state, _slot(policy, due.open), news, matcher))
    return tuple(plans)


def plan_slot(policy: ChannelPolicy, state: ChannelState, slot: Slot, news: News, matcher: Matcher) -> SlotPlan:
    """Return what one slot owes its channel: a root and the new entries in file order, or nothing."""
    new, carried = _sort_out(policy, news, matcher)
    documents = tuple(document.id for document in news.fresh)
    detail: dict[str, Any] = {
        "editions": [day.isoformat() for day in dict.fromkeys(one.edition for one in news.fresh)],
        "carried": carried,
    }
    if not new:
        say = policy.when_empty is WhenEmpty.SAY
        root = (Draft(kind=DeliveryKind.ROOT, subject=slot_subject(slot)),) if say else ()
        return SlotPlan(slot=slot, state=SlotState.EMPTY, documents=documents, drafts=root, detail=detail)
    first_run = state.baseline_at is None
    kept = _newest_editions(news.fresh, new, policy.first_run_limit) if first_run else new
    skipped = [entry_id for entry_id in new if entry_id not in kept] if len(kept) < len(new) else []
    flood = len(kept) > policy.max_messages
    compact = flood or policy.style.layout is Layout.COMPACT
    # A compact root has its entries in its thread, as `thread` has; a flood stays out of that, too.
    layout = Layout.COMPACT if flood else Layout.THREAD if compact else policy.style.layout
    detail |= {"entries": list(kept), "skipped": len(skipped), "flood": flood, "compact": compact}
    if first_run:
        shown = {document.edition for document in news.fresh if any(c.entry_id in kept for c in document.entries)}
        detail["editions"] = [day.isoformat() for day in sorted(shown)]
    return SlotPlan(
        slot=slot,
        state=SlotState.PLANNED,
        layout=layout,
        documents=documents,
        drafts=(
            Draft(kind=DeliveryKind.ROOT, subject=slot_subject(slot)),
            *map(_owed, kept),
            *map(_left_out, skipped),
        ),
        baseline=first_run,
        detail=detail,
    )


def slot_for_now(policy: ChannelPolicy, now: datetime) -> Slot:
    """Return a slot of its own for a delivery that a person asked for: named by the second, so never a schedule's."""
    local = now.astimezone(policy.schedule.zone)
    return Slot(channel=policy.channel, local_date=local.date(), name=local.strftime("%H:%M:%S"), due_at=now)


def no_longer_wanted(
    policy: ChannelPolicy, planned: Sequence[Delivery], entries: Mapping[int, Candidate], matcher: Matcher
) -> tuple[int, ...]:
    """Return the ids of planned deliveries that a changed policy drops.

    A root goes with its entries when none of them is left; a root that never had a planned entry stays.
    """
    dropped: list[int] = []
    left: dict[int | None, int] = {}
    for delivery in planned:
        entry_id = entry_of(delivery.subject)
        if entry_id is None:
            continue
        if entry_id in entries and not matcher.wants(policy.wanted, entries[entry_id]):
            dropped.append(delivery.id)
            left.setdefault(delivery.slot_id, 0)
        else:
            left[delivery.slot_id] = left.get(delivery.slot_id, 0) + 1
    emptied = {slot_id for slot_id, count in left.items() if count == 0}
    dropped += [one.id for one in planned if one.kind is DeliveryKind.ROOT and one.slot_id in emptied]
    return tuple(dropped)


def _slot(policy: ChannelPolicy, due: Due) -> Slot:
    return Slot(channel=policy.channel, local_date=due.local_date, name=due.name, due_at=due.due_at)


# A thousand channels are owed the same entries: equal drafts are made once.
@lru_cache(maxsize=4096)
def _owed(entry_id: int) -> Draft:
    return Draft(kind=DeliveryKind.ENTRY, subject=entry_subject(entry_id))


@lru_cache(maxsize=4096)
def _left_out(entry_id: int) -> Draft:
    return Draft(
        kind=DeliveryKind.ENTRY,
        subject=entry_subject(entry_id),
        state=DeliveryState.SKIPPED,
        error=FIRST_RUN,
    )


def _sort_out(policy: ChannelPolicy, news: News, matcher: Matcher) -> tuple[dict[int, None], list[int]]:
    """Return the wanted entries without a delivery, and those that have one, each once, in order of appearance."""
    new: dict[int, None] = {}
    carried: dict[int, None] = {}
    for document in news.fresh:
        chosen = dict.fromkeys(candidate.entry_id for candidate in matcher.chosen(policy.wanted, document.entries))
        if news.taken:
            carried |= {entry_id: None for entry_id in chosen if entry_id in news.taken}
            chosen = {entry_id: None for entry_id in chosen if entry_id not in news.taken}
        new |= chosen
    return new, list(carried)


def _newest_editions(fresh: Sequence[DocumentNews], new: Collection[int], limit: int) -> dict[int, None]:
    """Return the entries of the newest whole editions that fit the limit (at least one), in order of appearance."""
    by_edition: dict[date, set[int]] = {}
    if len(fresh) == 1:
        return dict.fromkeys(new)  # the newest edition is taken whole
    for document in fresh:
        mine = {candidate.entry_id for candidate in document.entries if candidate.entry_id in new}
        if mine:
            by_edition.setdefault(document.edition, set()).update(mine)
    kept: set[int] = set()
    for edition in sorted(by_edition, reverse=True):
        wider = kept | by_edition[edition]
        if kept and len(wider) > limit:
            break
        kept = wider
    return {entry_id: None for entry_id in new if entry_id in kept}
