"""From a delivery to the message that is said: gathers what it shows, and asks the maker for blocks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import structlog

from bot.delivery.outcome import THREAD_REFUSALS
from bot.delivery.policy import ChannelPolicy, Style
from bot.delivery.ports import MessageMaker, ViewStorage, WordingStorage
from bot.delivery.slots import minutes_late
from bot.delivery.values import RootView, SentMessage, Shown, SlotView, Turn, Wording, entry_of
from bot.errors import DigestBotError, MessageInvalid
from bot.model import Channel, Delivery, DeliveryKind, Entry, Layout, Message, SlotState

_log = structlog.get_logger("bot.delivery")

_REMEMBERED = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A message ready to go, and where it goes."""

    message: Message
    thread_ts: str | None = None
    parts: int = 1
    told_revision: int | None = None
    folds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a channel's next messages are made from, read at once for many channels."""

    entries: Mapping[int, Entry]
    slots: Mapping[int, SlotView]


class Composer:
    """Makes parcels.

    Raises `MessageInvalid` where this message cannot be made, be it by a fault of the program, and `TemplateError`
    where the channel's templates cannot.
    """

    def __init__(self, storage: ViewStorage, wordings: WordingStorage, maker: MessageMaker) -> None:
        self._storage = storage
        self._wordings = wordings
        self._maker = maker
        # A morning's entries go to many channels: equal ones are rendered once.
        self._made: OrderedDict[tuple[object, ...], tuple[Message, ...]] = OrderedDict()

    def forget(self) -> None:
        """Make every message anew: the templates are others now."""
        self._made = OrderedDict()

    def gather(self, deliveries: Sequence[Delivery]) -> Material:
        """Read what these deliveries speak of."""
        roots = [one.slot_id for one in deliveries if one.kind is DeliveryKind.ROOT and one.slot_id is not None]
        slots = self._storage.slot_views(roots) if roots else {}
        ids = dict.fromkeys(entry_id for one in deliveries if (entry_id := entry_of(one.subject)) is not None)
        for slot in slots.values():  # a root shows entries whose own deliveries are not in hand yet
            ids |= dict.fromkeys(int(one) for name in ("entries", "carried") for one in slot.detail.get(name, ()))
        return Material(entries=self._storage.entries(tuple(ids)) if ids else {}, slots=slots)

    def post(
        self,
        delivery: Delivery,
        turn: Turn,
        material: Material,
        policy: ChannelPolicy,
        now: datetime,
    ) -> Parcel:
        """Make a root, an entry or a reply."""
        if delivery.kind is DeliveryKind.ROOT:
            return self._root(delivery, policy, now, material)
        entry = material.entries.get(entry_of(delivery.subject) or 0)
        if entry is None:
            raise MessageInvalid(f"{delivery.subject} is not in the database any more")
        if delivery.kind is DeliveryKind.REPLY:
            before = self._before(entry, delivery.revision)
            channel = delivery.channel
            sent = self._sent(channel, (entry.id,)).get(entry.id)
            with _making(delivery):
                message = self._maker.entry_reply(entry, before, policy.style, channel=channel, sent=sent)
            return Parcel(message=message, thread_ts=turn.parents.get(delivery.subject))
        overtaken = delivery.ordinal < turn.highest_sent and delivery.part == 0
        with _making(delivery):
            messages = self._entry(entry, policy.style, overtaken=overtaken)
            message = self._part(messages, delivery, policy.style)
        return Parcel(
            message=message,
            thread_ts=_thread_of(delivery, turn),
            parts=len(messages),
            told_revision=entry.revision,
        )

    def update(self, delivery: Delivery, policy: ChannelPolicy, now: datetime) -> Parcel:
        """Make the new form of a sent root or entry."""
        entry_id = entry_of(delivery.subject)
        if entry_id is None:
            slots = self._storage.slot_views((delivery.slot_id,)) if delivery.slot_id is not None else {}
            return self._root(delivery, policy, now, Material(entries={}, slots=slots))
        entry = self._storage.entries((entry_id,)).get(entry_id)
        if entry is None:
            raise MessageInvalid(f"{delivery.subject} is not in the database any more")
        before = self._before(entry, entry.revision)
        with _making(delivery):
            messages = self._maker.entry_update(entry, policy.style, changed=what_changed(before, entry), at=now)
            message = self._part(messages, delivery, policy.style)
        return Parcel(message=message, parts=len(messages), told_revision=entry.revision)

    def _part(self, messages: Sequence[Message], delivery: Delivery, style: Style) -> Message:
        # A text that has become shorter leaves parts behind.
        return messages[delivery.part] if delivery.part < len(messages) else self._maker.entry_end(style)

    def _before(self, entry: Entry, revision: int) -> Wording:
        found = self._wordings.wordings(entry.id, (revision - 1,))
        return found.get(revision - 1) or Wording(
            revision=revision, title=entry.title, body=entry.body, verdict=_verdict(entry)
        )

    def _entry(self, entry: Entry, style: Style, *, overtaken: bool) -> tuple[Message, ...]:
        key = (entry.id, entry.revision, len(entry.editions), style, overtaken)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._maker.entry(entry, style, overtaken=overtaken)
            if len(self._made) > _REMEMBERED:
                self._made.popitem(last=False)
        return made

    def _root(self, delivery: Delivery, policy: ChannelPolicy, now: datetime, material: Material) -> Parcel:
        slot = material.slots.get(delivery.slot_id or 0)
        if slot is None:
            raise MessageInvalid(f"the slot of {delivery.subject} is not in the database any more")
        ids = [int(one) for one in slot.detail.get("entries", ()) if int(one) not in slot.dropped]
        carried_ids = [int(one) for one in slot.detail.get("carried", ())]
        entries = dict(material.entries)
        missing = [one for one in (*ids, *carried_ids) if one not in entries]
        if missing:
            entries |= self._storage.entries(missing)
        new = tuple(entries[one] for one in ids if one in entries)
        view = RootView(
            slot=slot,
            entries=new,
            # When a root is first said, nothing under it stands yet.
            sent=self._sent(delivery.channel, ids if delivery.kind is DeliveryKind.UPDATE else ()),
            carried=tuple(entries[one] for one in carried_ids if one in entries),
            carried_sent=self._sent(delivery.channel, carried_ids),
            late_minutes=minutes_late(slot.slot.due_at, slot.root_sent_at or now, policy.late_grace),
        )
        if slot.state is SlotState.EMPTY:
            with _making(delivery):
                return Parcel(message=self._maker.empty(view, policy.style))
        folds = slot.layout is Layout.COMPACT
        # The first form of a root has no links yet; one that folds its entries gets none, so it is complete at once.
        told = 0
        if folds or delivery.kind is DeliveryKind.UPDATE:
            told = root_revision(new, len(new) if folds else len(view.sent))
        with _making(delivery):
            return Parcel(message=self._maker.root(view, policy.style), told_revision=told, folds=folds)

    def _sent(self, channel: Channel, ids: Sequence[int]) -> Mapping[int, SentMessage]:
        return self._storage.sent_messages(channel, ids) if ids else {}


@contextmanager
def _making(delivery: Delivery) -> Iterator[None]:
    """Take a fault of the program in making one message for that message's: the others go on without it.

    Only what the maker does belongs in here: a database that is away is no message's fault.
    """
    try:
        yield
    except DigestBotError:
        raise
    except Exception as error:
        _log.exception("message_not_made", delivery=delivery.key, subject=delivery.subject)
        raise MessageInvalid(f"a fault of the program, {type(error).__name__}; the log says where") from error


def shown_by(parcel: Parcel) -> Shown:
    """Return what is kept with the claim of a parcel's message."""
    return Shown(revision=parcel.told_revision, parts=parcel.parts, folds=parcel.folds)


def root_revision(entries: Sequence[Entry], standing: int) -> int:
    """Return the revision of a root that shows these entries, `standing` of them sent; its first form is revision 0."""
    return 1 + sum(entry.revision - 1 for entry in entries) + standing


def what_changed(before: Wording, entry: Entry) -> tuple[str, ...]:
    """Return which of `title`, `body` and `verdict` differ."""
    pairs = (("title", before.title, entry.title), ("body", before.body, entry.body))
    changed = [name for name, old, new in pairs if old != new]
    if before.verdict != _verdict(entry):
        changed.append("verdict")
    return tuple(changed)


def _verdict(entry: Entry) -> str | None:
    return entry.extraction.verdict.value if entry.extraction.verdict else None


def _thread_of(delivery: Delivery, turn: Turn) -> str | None:
    if delivery.part > 0:
        return turn.parents.get(delivery.subject)
    if delivery.error in THREAD_REFUSALS:
        return None  # Slack has said that this thread is gone: better in the channel than nowhere
    root = turn.roots.get(delivery.slot_id) if delivery.slot_id is not None else None
    return root.ts if root is not None and root.layout is Layout.THREAD else None
