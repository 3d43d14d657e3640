"""Channel names that were looked up once: a name may be given to another channel later, an ID never."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from bot.model import Channel
from bot.storage.engine import Database
from bot.storage.plan_rows import register
from bot.storage.rows import insert_new
from bot.storage.schema import channel_names


class NamesStore:
    """Names and the IDs they were found to have."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def channel_named(self, team_id: str, name: str) -> str | None:
        """Return the ID that this name was found to have, or None. Raises StorageUnavailable."""
        with self._database.reading() as connection:
            return connection.execute(_id_of(team_id, name)).scalar()

    def name_channel(self, team_id: str, name: str, channel_id: str, now: datetime) -> str:
        """Remember the ID of a name; return the one that is remembered (another replica may have been first)."""
        with self._database.transaction() as connection:
            row = insert_new(connection, channel_names).values(team_id=team_id, name=name, channel_id=channel_id)
            connection.execute(row)
            remembered = str(connection.execute(_id_of(team_id, name)).scalar_one())
            register(connection, Channel(team_id=team_id, channel_id=remembered), name, now)
        return remembered


def _id_of(team_id: str, name: str) -> Select[*tuple[Any, ...]]:
    return select(channel_names.c.channel_id).where(channel_names.c.team_id == team_id, channel_names.c.name == name)
