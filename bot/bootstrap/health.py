"""What `/readyz` asks: each check is a question with a sentence for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.errors import StorageUnavailable
from bot.storage.migrate import current, head
from bot.web import Check

if TYPE_CHECKING:
    from bot.bootstrap.running import Bot

_SLACK_OF_TICKS = timedelta(minutes=2)
"""How much later than its interval a tick may have ended: sending takes a turn of up to 20 seconds, and time-outs."""


class Health:
    """The readiness checks of one running bot."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    def checks(self) -> Mapping[str, Callable[[], Check]]:
        """The checks by name. The socket is asked for only where there is one."""
        checks: dict[str, Callable[[], Check]] = {
            "database": self._database,
            "ticks": self._ticks,
            "token": self._token,
            "work": self._work,
        }
        if not self._bot.http:
            checks["socket"] = self._socket
        return checks

    def _database(self) -> Check:
        try:
            self._bot.file.check()
        except StorageUnavailable as error:
            return Check(ok=False, detail=str(error))
        found = current(self._bot.archive.database)
        if found != head():
            return Check(ok=False, detail=f"schema {found}, {head()} is needed: run digest-bot migrate")
        return Check(ok=True, detail=f"reachable, schema {found}")

    def _ticks(self) -> Check:
        limits = {name: every + _SLACK_OF_TICKS for name, every in self._bot.periods().items()}
        hung, stale = self._bot.watch.hung(), self._bot.watch.stale(limits)
        if hung:
            return Check(ok=False, detail=f"running for too long: {', '.join(hung)}")
        if stale:
            return Check(ok=False, detail=f"not ended well lately: {', '.join(stale)}")
        return Check(ok=True, detail="recent")

    def _token(self) -> Check:
        blocks = self._bot.delivery.team_blocks()
        if blocks:
            block = next(iter(blocks.values()))
            return Check(ok=False, detail=f"{block.reason}: {block.advice}")
        return Check(ok=True, detail="accepted")

    def _socket(self) -> Check:
        connected = self._bot.front.is_connected()
        self._bot.metrics.socket_connected.set(connected)
        problem = self._bot.front.problem()
        return Check(ok=connected, detail="connected" if connected else f"{problem}: it is tried again")

    def _work(self) -> Check:
        problem = self._bot.front.work.problem()
        return Check(ok=problem is None, detail=problem or "nothing is stuck")
