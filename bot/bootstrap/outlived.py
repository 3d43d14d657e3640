"""Alerts whose cause the present configuration, or this process, cannot have: nothing else would ever end them."""

from __future__ import annotations

from collections.abc import Collection

from bot.config import Config
from bot.delivery.person import Alarm
from bot.model import Channel

_OF_AN_EARLIER_PROCESS = ("configuration", "tick:")
"""What a process tells of itself: one that begins has read its configuration, and its ticks have not failed yet."""


def end_outlived(alarm: Alarm, config: Config, channels: Collection[Channel], *, begins: bool) -> None:
    """Clear them. `channels`: all that the configuration means, as far as Slack shows them; `begins`: at the start.

    Another replica's ticks may have been told of, too: its `/readyz` still says so. Raises StorageUnavailable.
    """
    named = [channel.channel for channel in config.channels]
    sought = {*named, *(one for references in config.search.confined.values() for one in references)}
    live = {f"channel-unknown:{reference}" for reference in sought} | {f"alert-channel:{config.alerts.channel}"}
    beginnings = ["channel-unknown:", "alert-channel:", *(_OF_AN_EARLIER_PROCESS if begins else ())]
    if len(channels) == len(named):  # else one of them may be a channel that Slack does not show just now
        live |= {f"channel:{channel.team_id}/{channel.channel_id}" for channel in channels}
        beginnings += ["channel:", "channel-twice:"]
    for beginning in beginnings:
        for cause in alarm.standing(beginning) - live:
            alarm.clear(cause)
