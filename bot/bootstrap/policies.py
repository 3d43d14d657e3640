"""From the configuration's words to the small values that the services take."""

from __future__ import annotations

from datetime import time
from pathlib import Path

from bot.config import ChannelConfig, Config, PolicyConfig, ScheduleConfig
from bot.delivery.policy import ChannelPolicy, DeliverySettings, Schedule, SlotTime, Style, Wanted, WhenEmpty
from bot.model import Channel
from bot.render.views import Style as RenderStyle


def channel_policy(config: Config, channel: ChannelConfig, resolved: Channel, *, many_repos: bool) -> ChannelPolicy:
    """What a channel wants. `many_repos`: whether entries of several repositories can reach it."""
    schedule = channel.schedule
    return ChannelPolicy(
        channel=resolved,
        name=channel.channel,
        schedule=schedule_of(schedule),
        wanted=wanted_by(channel.policy),
        style=channel_style(config, channel, many_repos=many_repos),
        first_run_limit=channel.first_run_limit,
        catch_up=schedule.catch_up,
        late_grace=schedule.late_after,
        max_messages=channel.max_messages,
        when_empty=WhenEmpty(channel.when_empty.value),
    )


def schedule_of(schedule: ScheduleConfig) -> Schedule:
    """When a channel's slots are due."""
    return Schedule(
        times=tuple(SlotTime(at=time.fromisoformat(at), days=schedule.days) for at in schedule.at),
        zone=schedule.timezone,
        skip_dates=frozenset(schedule.skip_dates),
        pause_until=schedule.pause_until,
    )


def wanted_by(policy: PolicyConfig) -> Wanted:
    """Which entries a policy chooses."""
    return Wanted(
        repos=policy.include.repositories,
        not_repos=policy.exclude.repositories,
        topics=policy.include.topics,
        not_topics=policy.exclude.topics,
    )


def channel_style(config: Config, channel: ChannelConfig, *, many_repos: bool) -> Style:
    """How a channel's messages look."""
    folder = templates_folder(config, channel)
    return Style(
        language=channel.language,
        layout=channel.layout,
        zone=channel.schedule.timezone,
        cut_at=channel.cut_at,
        name_repos=many_repos,
        templates=str(folder) if folder else None,
    )


def templates_folder(config: Config, channel: ChannelConfig | None) -> Path | None:
    """The folder with the templates of a channel's own, or the team's; None for the built-in ones."""
    named = (channel.templates if channel else None) or config.templates
    return config.base / named if named else None


def render_style(style: Style) -> RenderStyle:
    """The renderer's form of a style."""
    return RenderStyle(
        language=style.language,
        layout=style.layout,
        cut_at=style.cut_at,
        show_repo=style.name_repos,
        zone=style.zone,
        templates_dir=Path(style.templates) if style.templates else None,
    )


def delivery_settings(config: Config) -> DeliverySettings:
    """How sending behaves."""
    delivery = config.delivery
    return DeliverySettings(
        pace=delivery.pace.total_seconds(),
        ceiling_per_minute=delivery.ceiling_per_minute,
        lease=delivery.lease,
        post_timeout=delivery.post_timeout.total_seconds(),
        settle=delivery.settle,
        order_wait=delivery.order_wait,
        max_attempts=delivery.max_attempts,
        workers=delivery.workers,
        alert_quiet=config.alerts.every,
    )
