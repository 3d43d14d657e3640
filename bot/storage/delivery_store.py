"""`DeliveryStorage`, whole: every part of it over one database."""

from __future__ import annotations

from bot.storage.alerts_store import AlertsStore
from bot.storage.desk_store import DeskStore
from bot.storage.engine import Database
from bot.storage.outbox import Outbox
from bot.storage.pace_store import PaceStore
from bot.storage.plan_store import PlanStore
from bot.storage.quick import Quick
from bot.storage.settle_store import SettleStore
from bot.storage.update_store import UpdateStore
from bot.storage.view_store import ViewStore


class DeliveryStore(PlanStore, Outbox, PaceStore, SettleStore, UpdateStore, ViewStore, DeskStore, AlertsStore):
    """What delivery asks of a database. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._quick = Quick(database)
