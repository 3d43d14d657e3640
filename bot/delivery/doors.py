"""Closed doors: channels and workspaces that refuse, who is told, and how they open again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import structlog

from bot.delivery.alerts import failed, failure, settled
from bot.delivery.outage import Outages
from bot.delivery.outcome import TEAM_REFUSALS, Never, NotNow, Outcome, Scope, Sent, of_post
from bot.delivery.person import Alarm
from bot.delivery.policy import DeliverySettings
from bot.delivery.ports import Poster, SendStorage
from bot.delivery.values import AnswerKind, Block, Record
from bot.delivery.verdict import block_of
from bot.model import Channel, Delivery, DeliveryState

_log = structlog.get_logger("bot.delivery")

_SEEN_BY_THE_CHECK = frozenset({"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"})
"""Refusals that `auth.test` gives, too. The others (a missing scope, say) are over when a message is taken."""


class Doors:
    """Blocks channels and workspaces, tells people once, and lifts the block when Slack takes something again."""

    def __init__(self, storage: SendStorage, poster: Poster, alarm: Alarm, settings: DeliverySettings) -> None:
        self._storage = storage
        self._poster = poster
        self._alarm = alarm
        self._settings = settings
        self._asked = False
        self._accepted: set[str] = set()
        """Workspaces that took a message last, so that nothing needs to be cleared."""
        self._outages = Outages(alarm, settings.outage_after)

    def heed(
        self,
        delivery: Delivery,
        outcome: Outcome | None,
        record: Record,
        now: datetime,
        *,
        was_blocked: bool,
        is_late: bool = False,
    ) -> None:
        """Do what an outcome asks for beyond its own delivery.

        `is_late`: it was written down after the claim had run out. People may have been told meanwhile that nobody
        knows whether the message stands.
        """
        channel = delivery.channel
        self._outages.saw(channel.team_id, outcome, now)
        if isinstance(outcome, Sent):
            if channel.team_id not in self._accepted:
                self._accepted.add(channel.team_id)
                self._alarm.clear(f"team:{channel.team_id}")  # also what an earlier process has told
            if was_blocked:
                self.open(channel)
            if is_late:
                settled(delivery.key, self._alarm.clear)
        elif isinstance(outcome, NotNow) and (block := block_of(outcome, now, self._settings)) is not None:
            if outcome.scope is Scope.TEAM:
                self._close_team(channel.team_id, block, now)
            else:
                self.close(channel, block, now)
        if record.state is DeliveryState.FAILED:
            advice = outcome.advice if isinstance(outcome, Never) else None
            text = failure(replace(delivery, error=record.error), advice)
            self._alarm.raise_alert(failed(delivery.key), text, about=channel)

    def close(self, channel: Channel, block: Block, now: datetime) -> None:
        """Block the channel and tell people why."""
        if self._storage.block_channel(channel, block, now):
            _log.warning("channel_blocked", channel=channel.channel_id, reason=block.reason, advice=block.advice)
        text = f"Nothing can be posted to <#{channel.channel_id}> ({block.reason}). {block.advice}"
        self._alarm.raise_alert(_cause(channel), text, about=channel)

    def open(self, channel: Channel) -> None:
        """Lift the channel's block: something was taken, or the bot was invited."""
        if self._storage.unblock_channel(channel):
            _log.info("channel_open_again", channel=channel.channel_id)
        self._alarm.clear(_cause(channel))

    def token_refused(self, team_id: str, reason: str, now: datetime) -> None:
        """Close the workspace: Slack has refused the token to a call that was no post."""
        advice = TEAM_REFUSALS[reason]
        self._close_team(team_id, Block(reason=reason, advice=advice, until=now + self._settings.team_retry), now)

    def template_broken(self, channel: Channel, advice: str, now: datetime) -> None:
        """Hold the channel until its template is mended: no message of it can be made."""
        until = now + self._settings.channel_retry
        self.close(channel, Block(reason="template", advice=advice, until=until), now)

    def knock(self, now: datetime) -> None:
        """Ask each blocked workspace, at most once an interval over all replicas, and once when this process starts."""
        first, self._asked = not self._asked, True
        for team_id, block in self._storage.team_blocks().items():
            due = block.until <= now
            if not first and not due:
                continue
            if due and not self._storage.probe_team(team_id, now, now + self._settings.team_retry):
                continue
            answer = self._poster.check(team_id)
            if answer.kind is AnswerKind.OK:
                if self._storage.unblock_team(team_id):
                    _log.info("workspace_open_again", team=team_id)
                if block.reason in _SEEN_BY_THE_CHECK:
                    self._alarm.clear(f"team:{team_id}")
            else:
                _log.debug("workspace_still_closed", team=team_id, outcome=repr(of_post(answer)))

    def _close_team(self, team_id: str, block: Block, now: datetime) -> None:
        self._accepted.discard(team_id)
        if self._storage.block_team(team_id, block, now):
            _log.error("workspace_blocked", team=team_id, reason=block.reason, advice=block.advice)
        self._alarm.raise_alert(f"team:{team_id}", f"Slack refuses the token ({block.reason}). {block.advice}")


def _cause(channel: Channel) -> str:
    return f"channel:{channel.team_id}/{channel.channel_id}"
