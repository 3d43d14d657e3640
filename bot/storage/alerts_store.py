"""`AlertStorage`: what people must be told, once per cause over all replicas."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, or_, select, update

from bot.delivery.values import Alert
from bot.model import Channel
from bot.storage.engine import Database
from bot.storage.rows import insert_new
from bot.storage.schema import alerts


class AlertsStore:
    """Causes that are not over, when each was last told, and from when on anyone may tell it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note_alert(self, alert: Alert, now: datetime, *, quiet: timedelta, owed_from: datetime | None) -> bool:
        """Count the cause; return True where it is to be told now, to one caller only."""
        mine = alerts.c.cause == alert.cause
        about = {
            "team_id": alert.about.team_id if alert.about else None,
            "channel_id": alert.about.channel_id if alert.about else None,
        }
        with self._database.transaction() as connection:
            new = insert_new(connection, alerts).values(
                cause=alert.cause,
                text=alert.text,
                count=1,
                first_at=now,
                last_at=now,
                told_at=now,
                owed_from=owed_from,
                **about,
            )
            if connection.execute(new.returning(alerts.c.cause)).first() is not None:
                return True
            counted = {"text": alert.text, "count": alerts.c.count + 1, "last_at": now, **about}
            connection.execute(update(alerts).where(mine).values(counted))
            due = alerts.c.told_at <= now - quiet
            told = update(alerts).where(mine, due).values(told_at=now, owed_from=owed_from)
            return connection.execute(told).rowcount == 1

    def owed_alerts(self, now: datetime, until: datetime) -> tuple[Alert, ...]:
        """Return what nobody has told and nobody is telling, those that have waited longest first."""
        statement = select(alerts).where(_is_owed(now, until)).order_by(alerts.c.owed_from, alerts.c.first_at)
        with self._database.reading() as connection:
            return tuple(_alert(row) for row in connection.execute(statement))

    def claim_alert(self, cause: str, now: datetime, until: datetime) -> bool:
        """Take it upon oneself to tell of an owed cause up to `until`; True for one caller only."""
        owed = (alerts.c.cause == cause, _is_owed(now, until))
        with self._database.statement() as connection:
            return connection.execute(update(alerts).where(*owed).values(owed_from=until)).rowcount == 1

    def renew_alert(self, cause: str, until: datetime, later: datetime) -> bool:
        """Extend a claim that ends at `until` to `later`; False where it is another's by now, or the cause is over."""
        mine = (alerts.c.cause == cause, alerts.c.owed_from == until)
        with self._database.statement() as connection:
            return connection.execute(update(alerts).where(*mine).values(owed_from=later)).rowcount == 1

    def release_alert(self, cause: str, at: datetime) -> None:
        """Let others tell of the cause from `at` on, if it is not over: it could not be told."""
        with self._database.statement() as connection:
            connection.execute(update(alerts).where(alerts.c.cause == cause).values(owed_from=at))

    def finish_alerts(self, causes: Iterable[str]) -> None:
        """Note that the causes need not be told any more: people were, or cannot be."""
        with self._database.statement() as connection:
            connection.execute(update(alerts).where(alerts.c.cause.in_(list(causes))).values(owed_from=None))

    def clear_alert(self, cause: str) -> bool:
        """Forget the cause, so that it is told again when it comes back; return whether it was known."""
        mine = alerts.c.cause == cause
        with self._database.reading() as connection:
            if connection.execute(select(alerts.c.cause).where(mine)).first() is None:
                return False  # nearly always: what is fine is said at every look
        with self._database.statement() as connection:
            return connection.execute(delete(alerts).where(mine)).rowcount == 1

    def alerts_with(self, beginning: str) -> frozenset[str]:
        """Return the causes with this beginning that were noted and are not forgotten."""
        with self._database.reading() as connection:
            # Compared here: LIKE has wildcards, which names have too, and it ignores case on SQLite. There are few.
            every = connection.execute(select(alerts.c.cause)).scalars()
            return frozenset(cause for cause in every if cause.startswith(beginning))


def _alert(row: Row[Any]) -> Alert:
    about = None if row.channel_id is None else Channel(team_id=row.team_id, channel_id=row.channel_id)
    return Alert(cause=row.cause, text=row.text, about=about, told_at=row.told_at)


def _is_owed(now: datetime, until: datetime) -> ColumnElement[bool]:
    # A claim that ends much later than one taken now comes from a clock that ran ahead. A little later is another
    # replica's, which has looked at its own clock after us.
    return or_(alerts.c.owed_from <= now, alerts.c.owed_from > until + (until - now))
