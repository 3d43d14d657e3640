"""Slack out of reach: said once in the log when it begins, told once when it lasts, over with the first answer."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog

from bot.delivery.outcome import Never, NotNow, Outcome, Scope, Unknown
from bot.delivery.person import Alarm

_log = structlog.get_logger("bot.delivery")


class Outages:
    """What the ends of calls say about whether each workspace can be reached."""

    def __init__(self, alarm: Alarm, after: timedelta) -> None:
        """`after`: how long no call may get through before a person is told."""
        self._alarm = alarm
        self._after = after
        self._since: dict[str, datetime] = {}
        self._fine: set[str] = set()
        """Workspaces that answered last, so that nothing needs to be cleared."""

    def saw(self, team_id: str, outcome: Outcome | None, now: datetime) -> None:
        """Take note of how a call ended."""
        if outcome is None or isinstance(outcome, Never):
            return  # perhaps nothing was sent at all
        if isinstance(outcome, Unknown) or (isinstance(outcome, NotNow) and outcome.scope is Scope.CALL):
            self._missed(team_id, outcome.reason, now)
        elif team_id not in self._fine:
            self._fine.add(team_id)
            began = self._since.pop(team_id, None)
            if began is not None:
                _log.info("slack_reached_again", team=team_id, seconds=round((now - began).total_seconds()))
            self._alarm.clear(_cause(team_id))  # also what an earlier process has told

    def _missed(self, team_id: str, reason: str, now: datetime) -> None:
        self._fine.discard(team_id)
        if team_id not in self._since:
            self._since[team_id] = now
            _log.warning("slack_not_reached", team=team_id, reason=reason)
        since = self._since[team_id]
        if now - since >= self._after:
            text = f"Slack cannot be reached since {since:%Y-%m-%d %H:%M} UTC ({reason}): messages wait, none is lost."
            self._alarm.raise_alert(_cause(team_id), text)


def _cause(team_id: str) -> str:
    return f"team:{team_id}:outage"
