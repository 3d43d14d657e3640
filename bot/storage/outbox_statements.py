"""The statements of `outbox.py`, made once: SQLAlchemy finds the text of the same object in its cache at once."""

from __future__ import annotations

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Integer,
    and_,
    bindparam,
    exists,
    func,
    or_,
    select,
)

from bot.model import DeliveryKind, DeliveryState, Layout
from bot.storage.quick import ID_LIST
from bot.storage.rows import DELIVERY_COLUMNS, delivery_columns, same_channel
from bot.storage.schema import UtcDateTime, channels, deliveries, slots, teams

NOW = bindparam("now", type_=UtcDateTime)

_UNRESOLVED = (DeliveryState.SENDING, DeliveryState.UNCERTAIN, DeliveryState.HELD)


def _holds_back(delivery: FromClause) -> ColumnElement[bool]:
    """Whether a message is unresolved and still holds back the later ones of its channel.

    The wait begins with its first attempt, however many there are; but nothing overtakes one that is on its way.
    """
    since = bindparam("since", type_=UtcDateTime)
    on_its_way = and_(delivery.c.state == DeliveryState.SENDING, delivery.c.sending_since >= since)
    return and_(delivery.c.state.in_(_UNRESOLVED), or_(delivery.c.first_sending_at >= since, on_its_way))


_head = deliveries.alias("head")
_hangs = slots.alias("hangs")
_UNDECIDED_SLOTS = (
    select(_head.c.slot_id)
    .join(_hangs, _hangs.c.id == _head.c.slot_id)
    .where(
        _head.c.state.in_(_UNRESOLVED),
        _head.c.kind == DeliveryKind.ROOT,
        _hangs.c.layout.in_((Layout.COMPACT, Layout.THREAD)),
    )
)
"""Slots whose entries stand in their root or under it, while nobody knows if it is there: they wait without end."""


def _free_of_root(delivery: FromClause) -> ColumnElement[bool]:
    return or_(
        delivery.c.kind != DeliveryKind.ENTRY,
        delivery.c.slot_id.is_(None),
        delivery.c.slot_id.not_in(_UNDECIDED_SLOTS),
    )


_waiting = deliveries.alias("waiting")
_first = deliveries.alias("first")
_first_id = (
    select(_waiting.c.id)
    .where(
        _waiting.c.state == DeliveryState.PLANNED,
        same_channel(_waiting, channels),
        _waiting.c.kind != DeliveryKind.UPDATE,
        _free_of_root(_waiting),
    )
    .order_by(_waiting.c.ordinal, _waiting.c.part)
    .limit(1)
    .correlate(channels)
    .scalar_subquery()
)

_doubtful = deliveries.alias("doubtful")

LEASABLE = (
    select(channels.c.team_id, channels.c.channel_id)
    .select_from(channels)
    .join(_first, _first.c.id == _first_id)
    .where(
        or_(channels.c.lease_until.is_(None), channels.c.lease_until <= NOW),
        or_(channels.c.blocked_reason.is_(None), channels.c.blocked_until <= NOW),
        or_(channels.c.next_post_at.is_(None), channels.c.next_post_at <= bindparam("soon", type_=UtcDateTime)),
        or_(_first.c.next_try_at.is_(None), _first.c.next_try_at <= NOW),
        ~exists().where(teams.c.team_id == channels.c.team_id, teams.c.blocked_reason.is_not(None)),
        # An unresolved message holds back the later ones of its channel, until the wait for it is over.
        ~exists()
        .where(
            same_channel(_doubtful, channels),
            _doubtful.c.kind != DeliveryKind.UPDATE,
            _holds_back(_doubtful),
        )
        .correlate(channels),
    )
    # Whoever posted last has the latest pace, so this order is a fair round.
    .order_by(func.coalesce(channels.c.next_post_at, _first.c.planned_at), channels.c.channel_id)
    .limit(bindparam("limit", type_=Integer))
    .with_for_update(of=channels, skip_locked=True)
)

# --- what every message passes: see quick.py --------------------------------------------------------------------

_HOLDS = "lease_owner = ? AND lease_until > ?"

EXTEND_LEASES = f"""
UPDATE channels SET lease_until = CASE WHEN lease_until < ? THEN ? ELSE lease_until END
WHERE {_HOLDS} AND (team_id, channel_id) IN (
    SELECT team_id, channel_id FROM deliveries WHERE id {ID_LIST} AND kind <> 'update')
"""  # noqa: S608 - nothing of it comes from outside
"""until, until, owner, now, ids"""

RELEASE = """
UPDATE channels SET lease_owner = NULL, lease_until = NULL WHERE team_id = ? AND channel_id = ? AND lease_owner = ?
"""
"""team, channel, owner"""

CLAIM = f"""
UPDATE deliveries SET state = 'sending', attempts = attempts + 1, sending_since = ?,
    first_sending_at = coalesce(first_sending_at, ?), claimed_by = ?, claimed_until = ?, next_try_at = NULL,
    told_revision = coalesce(?, told_revision), parts = ?, updated_at = ?
WHERE id {ID_LIST} AND state = 'planned' AND (kind = 'update' OR EXISTS (
    SELECT 1 FROM channels WHERE channels.team_id = deliveries.team_id
    AND channels.channel_id = deliveries.channel_id AND {_HOLDS}))
RETURNING id
"""  # noqa: S608
"""now, now, owner, until, told, parts, now, ids, owner, now"""

SHOW_IN_ROOT = """
UPDATE deliveries SET told_revision = (
    SELECT entries.revision FROM entries WHERE entries.id = CAST(substr(deliveries.subject, 7) AS BIGINT))
WHERE slot_id = (SELECT root.slot_id FROM deliveries AS root WHERE root.id = ?)
AND kind = 'entry' AND part = 0 AND state = 'planned'
"""
"""root: what a compact root that is about to go says of its entries"""

PACE = """
UPDATE channels SET next_post_at = ?
WHERE (team_id, channel_id) IN (SELECT team_id, channel_id FROM deliveries WHERE id = ?)
AND (next_post_at IS NULL OR next_post_at < ?)
"""
"""next post, delivery, next post"""

RECORD = """
UPDATE deliveries SET state = ?, ts = coalesce(?, ts), thread_ts = coalesce(?, thread_ts), error = ?,
    next_try_at = ?, looks = 0, doubts = doubts + ?, refusals = refusals + ?, claimed_by = NULL,
    claimed_until = NULL, updated_at = ?
WHERE id = ? AND state = 'sending' AND claimed_by = ? AND attempts = ?
RETURNING id
"""
"""state, ts, thread ts, error, next try, doubts, refusals, now, delivery, owner, attempt"""

SENT_COLUMNS = ("id", "kind", "slot_id", "team_id", "channel_id", "subject", "part", "ts", "parts", "told_revision")

RECORD_SENT = f"""
UPDATE deliveries SET state = 'sent', ts = coalesce(?, ts), thread_ts = coalesce(?, thread_ts),
    told_revision = coalesce(?, told_revision), error = NULL, next_try_at = NULL, claimed_by = NULL,
    claimed_until = NULL, sent_at = ?, updated_at = ?
WHERE id = ? AND state <> 'sent'
RETURNING {", ".join(SENT_COLUMNS)},
    (SELECT slots.update_revision FROM slots WHERE slots.id = deliveries.slot_id)
"""  # noqa: S608
"""ts, thread ts, told, now, now, delivery"""

TELL_SUBJECT = """
UPDATE deliveries SET told_revision = ?
WHERE team_id = ? AND channel_id = ? AND kind IN ('entry', 'root') AND subject = ? AND part = ?
AND (told_revision IS NULL OR told_revision < ?)
"""
"""told, team, channel, subject, part, told: an update has changed what the message shows"""

SHOWN_BY_ROOT = "UPDATE slots SET update_revision = ? WHERE id = ? AND update_revision < ?"
"""told, slot, told: a root that says everything from the start owes no update"""

FOLD = """
UPDATE deliveries SET state = 'sent', ts = ?, folded = TRUE, sent_at = ?, updated_at = ?
WHERE slot_id = ? AND kind = 'entry' AND part = 0 AND state = 'planned'
"""
"""ts, now, now, slot"""

OWE_LINKS = "UPDATE slots SET update_revision = 0 WHERE id = ? AND update_revision > 0"
"""slot: an entry came after its root was updated, so the root lacks a link"""

ADD_PART = """
INSERT INTO deliveries (key, team_id, channel_id, kind, subject, revision, part, slot_id, ordinal, state, planned_at,
    updated_at)
SELECT ?, team_id, channel_id, kind, subject, revision, ?, slot_id, ordinal, 'planned', ?, ?
FROM deliveries WHERE id = ?
ON CONFLICT DO NOTHING
"""
"""key, part, now, now, first part"""

GROW = """
UPDATE deliveries SET parts = CASE WHEN parts < ? THEN ? ELSE parts END
WHERE team_id = ? AND channel_id = ? AND kind = 'entry' AND subject = ? AND part = 0 AND state = 'sent'
RETURNING id, parts
"""
"""parts, parts, team, channel, subject: how many parts a changed entry has, or had at its longest"""

CHANGE_PART = """
INSERT INTO deliveries (key, team_id, channel_id, kind, subject, revision, part, slot_id, ordinal, state, planned_at,
    updated_at)
SELECT ?, one.team_id, one.channel_id, 'update', one.subject, head.told_revision, one.part, one.slot_id, one.ordinal,
    'planned', ?, ?
FROM deliveries AS one JOIN deliveries AS head ON head.team_id = one.team_id AND head.channel_id = one.channel_id
    AND head.kind = 'entry' AND head.subject = one.subject AND head.part = 0
WHERE one.team_id = ? AND one.channel_id = ? AND one.subject = ? AND one.part = ? AND one.kind = 'entry'
    AND one.state = 'sent' AND coalesce(one.told_revision, 1) < head.told_revision
ON CONFLICT DO NOTHING
"""
"""key, now, now, team, channel, subject, part: a part that shows an older wording than its entry's first is changed"""

# --- what a channel has to send ---------------------------------------------------------------------------------

_place = func.row_number().over(
    partition_by=[deliveries.c.team_id, deliveries.c.channel_id, deliveries.c.state],
    order_by=[deliveries.c.ordinal, deliveries.c.part],
)
_in_turn = and_(
    deliveries.c.team_id == bindparam("team_id"), deliveries.c.channel_id.in_(bindparam("channel_ids", expanding=True))
)
_open = (
    select(*delivery_columns(), _place.label("place"))
    .where(
        _in_turn,
        deliveries.c.kind != DeliveryKind.UPDATE,
        deliveries.c.state.in_((DeliveryState.PLANNED, *_UNRESOLVED)),
        or_(
            and_(deliveries.c.state == DeliveryState.PLANNED, _free_of_root(deliveries)),
            _holds_back(deliveries),
        ),
    )
    .subquery("open")
)
_root = deliveries.alias("root")
_parent = deliveries.alias("parent")
_sent = deliveries.alias("sent")
_highest = (
    select(_sent.c.ordinal)
    # Updates take ordinals too, but they change an old message: nobody is overtaken by one.
    .where(_sent.c.state == DeliveryState.SENT, same_channel(_sent, channels), _sent.c.kind != DeliveryKind.UPDATE)
    .order_by(_sent.c.ordinal.desc())
    .limit(1)
    .correlate(channels)
    .scalar_subquery()
)

TURNS = (
    select(
        *(_open.c[name] for name in DELIVERY_COLUMNS),
        channels.c.channel_id.label("of_channel"),
        channels.c.next_post_at.label("pace_until"),
        channels.c.blocked_reason.is_not(None).label("blocked"),
        _highest.label("highest_sent"),
        _root.c.state.label("root_state"),
        _root.c.ts.label("root_ts"),
        slots.c.layout.label("layout"),
        func.coalesce(_parent.c.thread_ts, _parent.c.ts).label("parent_ts"),
    )
    .select_from(channels)
    .outerjoin(
        _open,
        and_(
            same_channel(_open, channels),
            or_(_open.c.state != DeliveryState.PLANNED, _open.c.place <= bindparam("limit", type_=Integer)),
        ),
    )
    .outerjoin(_root, and_(_root.c.slot_id == _open.c.slot_id, _root.c.kind == DeliveryKind.ROOT))
    .outerjoin(slots, slots.c.id == _open.c.slot_id)
    .outerjoin(
        _parent,
        and_(
            or_(_open.c.kind == DeliveryKind.REPLY, _open.c.part > 0),
            same_channel(_parent, _open),
            _parent.c.kind == DeliveryKind.ENTRY,
            _parent.c.subject == _open.c.subject,
            _parent.c.part == 0,
            _parent.c.state == DeliveryState.SENT,
        ),
    )
    .where(
        channels.c.team_id == bindparam("team_id"),
        channels.c.channel_id.in_(bindparam("channel_ids", expanding=True)),
    )
    .order_by(channels.c.channel_id, _open.c.ordinal, _open.c.part)
)
