"""`bot.slack.ports.Archive` over the stores that readers turn over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from bot.model import Channel, Entry
from bot.storage.editions import Editions
from bot.storage.engine import Database
from bot.storage.view_store import ViewStore


class Shelf:
    """Entries and editions. Every method raises StorageUnavailable."""

    def __init__(self, database: Database) -> None:
        self._views = ViewStore(database)
        self._editions = Editions(database)

    def entries(self, ids: Sequence[int]) -> Mapping[int, Entry]:
        """The entries in their present wording, those that exist."""
        return self._views.entries(ids)

    def latest_edition(self, channel: Channel | None) -> date | None:
        """The newest edition of which the channel was sent an entry; None for a channel: the newest of all."""
        return self._editions.latest(channel)

    def sent_on(self, team_id: str, day: date) -> Mapping[str, Sequence[Entry]]:
        """What each channel was sent in its slots of this local date, in order, by channel ID."""
        return self._editions.sent_on(team_id, day)
