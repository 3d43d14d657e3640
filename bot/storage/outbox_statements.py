"""The statements of `outbox.py`, made once: SQLAlchemy finds the text of the same object in its cache at once."""

from __future__ import annotations

from sqlalchemy import (
    Integer,
    Text,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
    tuple_,
    update,
)

from bot.model import DeliveryKind, DeliveryState
from bot.storage.rows import DELIVERY_COLUMNS, delivery_columns, same_channel
from bot.storage.schema import Id, UtcDateTime, channels, deliveries, slots, teams

NOW = bindparam("now", type_=UtcDateTime)
UNTIL = bindparam("until", type_=UtcDateTime)
OWNER = bindparam("owner", type_=Text)
IDS = bindparam("ids", type_=Id, expanding=True)

_waiting = deliveries.alias("waiting")
_first = deliveries.alias("first")
_first_id = (
    select(_waiting.c.id)
    .where(
        _waiting.c.state == DeliveryState.PLANNED,
        same_channel(_waiting, channels),
        _waiting.c.kind != DeliveryKind.UPDATE,
    )
    .order_by(_waiting.c.ordinal, _waiting.c.part)
    .limit(1)
    .correlate(channels)
    .scalar_subquery()
)

_doubtful = deliveries.alias("doubtful")
_UNRESOLVED = (DeliveryState.SENDING, DeliveryState.UNCERTAIN, DeliveryState.HELD)

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
            _doubtful.c.state.in_(_UNRESOLVED),
            _doubtful.c.kind != DeliveryKind.UPDATE,
            _doubtful.c.sending_since >= bindparam("since", type_=UtcDateTime),
        )
        .correlate(channels),
    )
    # Whoever posted last has the latest pace, so this order is a fair round.
    .order_by(func.coalesce(channels.c.next_post_at, _first.c.planned_at), channels.c.channel_id)
    .limit(bindparam("limit", type_=Integer))
    .with_for_update(of=channels, skip_locked=True)
)

_of_claim = select(deliveries.c.team_id, deliveries.c.channel_id).where(
    deliveries.c.id.in_(IDS), deliveries.c.kind != DeliveryKind.UPDATE
)
_holds = and_(channels.c.lease_owner == OWNER, channels.c.lease_until > NOW)

EXTEND_LEASES = (
    update(channels)
    .where(_holds, tuple_(channels.c.team_id, channels.c.channel_id).in_(_of_claim))
    .values(lease_until=case((channels.c.lease_until < UNTIL, UNTIL), else_=channels.c.lease_until))
)

CLAIM = (
    update(deliveries)
    .where(
        deliveries.c.id.in_(IDS),
        deliveries.c.state == DeliveryState.PLANNED,
        or_(
            deliveries.c.kind == DeliveryKind.UPDATE,
            exists().where(same_channel(channels, deliveries), _holds).correlate(deliveries),
        ),
    )
    .values(
        state=DeliveryState.SENDING,
        attempts=deliveries.c.attempts + 1,
        sending_since=NOW,
        first_sending_at=func.coalesce(deliveries.c.first_sending_at, NOW),
        claimed_by=OWNER,
        claimed_until=UNTIL,
        next_try_at=None,
        updated_at=NOW,
    )
    .returning(deliveries.c.id)
)

_of_delivery = select(deliveries.c.team_id, deliveries.c.channel_id).where(deliveries.c.id == bindparam("delivery"))
_next_post = bindparam("next_post", type_=UtcDateTime)

PACE = (
    update(channels)
    .where(
        tuple_(channels.c.team_id, channels.c.channel_id).in_(_of_delivery),
        or_(channels.c.next_post_at.is_(None), channels.c.next_post_at < _next_post),
    )
    .values(next_post_at=_next_post)
)

RECORD = (
    update(deliveries)
    .where(
        deliveries.c.id == bindparam("delivery"),
        deliveries.c.state == DeliveryState.SENDING,
        deliveries.c.claimed_by == OWNER,
        deliveries.c.attempts == bindparam("attempt"),
    )
    .values(
        state=bindparam("to"),
        ts=func.coalesce(bindparam("at_ts"), deliveries.c.ts),
        thread_ts=func.coalesce(bindparam("at_thread"), deliveries.c.thread_ts),
        error=bindparam("why"),
        next_try_at=bindparam("next_try", type_=UtcDateTime),
        looks=0,
        claimed_by=None,
        claimed_until=None,
        updated_at=NOW,
    )
    .returning(*delivery_columns())
)

RECORD_SENT = (
    update(deliveries)
    .where(deliveries.c.id == bindparam("delivery"), deliveries.c.state != DeliveryState.SENT)
    .values(
        state=DeliveryState.SENT,
        ts=func.coalesce(bindparam("at_ts"), deliveries.c.ts),
        thread_ts=func.coalesce(bindparam("at_thread"), deliveries.c.thread_ts),
        told_revision=func.coalesce(bindparam("told", type_=Integer), deliveries.c.told_revision),
        error=None,
        next_try_at=None,
        claimed_by=None,
        claimed_until=None,
        sent_at=NOW,
        updated_at=NOW,
    )
    .returning(*delivery_columns())
)

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
            deliveries.c.state == DeliveryState.PLANNED,
            deliveries.c.sending_since >= bindparam("since", type_=UtcDateTime),
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
