"""`AlertStorage`: what people have been told, once per cause over all replicas."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update

from bot.storage.engine import Database
from bot.storage.rows import insert_new
from bot.storage.schema import alerts


class AlertsStore:
    """Causes, and when each was last told."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note_alert(self, cause: str, text: str, now: datetime, quiet: timedelta) -> bool:
        """Count the cause; return True where it is to be told now, to one caller only."""
        mine = alerts.c.cause == cause
        with self._database.transaction() as connection:
            new = insert_new(connection, alerts).values(
                cause=cause, text=text, count=1, first_at=now, last_at=now, told_at=now
            )
            if connection.execute(new.returning(alerts.c.cause)).first() is not None:
                return True
            connection.execute(update(alerts).where(mine).values(text=text, count=alerts.c.count + 1, last_at=now))
            due = alerts.c.told_at <= now - quiet
            return connection.execute(update(alerts).where(mine, due).values(told_at=now)).rowcount == 1

    def owe_alert(self, cause: str) -> None:
        """Note that nobody could be told of the cause, if it is not over."""
        with self._database.statement() as connection:
            connection.execute(update(alerts).where(alerts.c.cause == cause).values(told_at=None))

    def owed_alerts(self) -> tuple[tuple[str, str], ...]:
        """Return cause and text of what nobody could be told of, the oldest first."""
        statement = select(alerts.c.cause, alerts.c.text).where(alerts.c.told_at.is_(None)).order_by(alerts.c.first_at)
        with self._database.reading() as connection:
            return tuple((row.cause, row.text) for row in connection.execute(statement))

    def take_owed_alert(self, cause: str, now: datetime) -> bool:
        """Take it upon oneself to tell of an owed cause; True for one caller only."""
        owed = (alerts.c.cause == cause, alerts.c.told_at.is_(None))
        with self._database.statement() as connection:
            return connection.execute(update(alerts).where(*owed).values(told_at=now)).rowcount == 1

    def clear_alert(self, cause: str) -> bool:
        """Forget the cause, so that it is told again when it comes back; return whether it was known."""
        if not self.standing_alerts((cause,)):  # nearly always: what is fine is said at every look
            return False
        with self._database.statement() as connection:
            return connection.execute(delete(alerts).where(alerts.c.cause == cause)).rowcount == 1

    def standing_alerts(self, causes: Collection[str]) -> frozenset[str]:
        """Return those of the causes that were noted and are not forgotten."""
        with self._database.reading() as connection:
            return frozenset(connection.execute(select(alerts.c.cause).where(alerts.c.cause.in_(causes))).scalars())

    def alerts_with(self, beginning: str) -> frozenset[str]:
        """Return the causes with this beginning that were noted and are not forgotten."""
        with self._database.reading() as connection:
            # Compared here: LIKE has wildcards, which names have too, and it ignores case on SQLite. There are few.
            every = connection.execute(select(alerts.c.cause)).scalars()
            return frozenset(cause for cause in every if cause.startswith(beginning))
