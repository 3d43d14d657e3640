"""The verb `digest-bot status`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.options import SOME_FAILED, config_option, counted, json_option, print_json, verb
from bot.cli.reading import archive_to_read

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from bot.bootstrap.archive import Archive


@verb("status", example="digest-bot status\ndigest-bot status --json")
@json_option
@config_option
def command(as_json: bool, config_path: Path) -> None:  # noqa: FBT001 - click's
    """Say how delivery stands and what a person must see. Exit code 1 if somebody has to do something."""
    from bot.storage.listing import list_alerts, list_documents
    from bot.storage.stats import deliveries_by_state, entry_count

    with archive_to_read(config_path) as archive:
        database, zone = archive.database, archive.config.inbox.timezone
        status = archive.deliveries.status(archive.clock.now())
        report: dict[str, Any] = {
            "deliveries": deliveries_by_state(database),
            "entries": entry_count(database),
            "quarantined": list_documents(database, state="quarantined"),
            "held": [delivery.key for delivery in status.held],
            "channels": _channels(archive),
            "workspaces": [
                {"team": team, "blocked": block.reason, "advice": block.advice}
                for team, block in status.team_blocks.items()
            ],
            "alerts": list_alerts(database),
        }
    needs_somebody = bool(
        report["quarantined"]
        or report["held"]
        or report["workspaces"]
        or report["alerts"]
        or any(channel["blocked"] for channel in report["channels"])
    )
    if as_json:
        print_json(report)
    else:
        _print(report, zone)
    if needs_somebody:
        raise SystemExit(SOME_FAILED)


def _channels(archive: Archive) -> list[dict[str, Any]]:
    """The known channels, each with its next slot; then those that Slack was not asked for yet."""
    from bot.bootstrap.policies import schedule_of
    from bot.delivery.slots import next_due
    from bot.storage.listing import list_channels

    now = archive.clock.now()
    configured = {channel.channel: channel.schedule for channel in archive.config.channels}
    rows = list_channels(archive.database)
    named = {name for row in rows for name in (row["name"], row["channel"])}
    rows += [
        {"team": None, "channel": None, "name": name, "waiting": 0, "blocked": None, "advice": None}
        for name in configured
        if name not in named
    ]
    for row in rows:
        schedule = configured.get(row["name"]) or configured.get(row["channel"])
        due = next_due(schedule_of(schedule), now) if schedule is not None else None
        row["next_slot"] = due.due_at.astimezone(schedule.timezone).isoformat() if due and schedule else None
        row["timezone"] = schedule.timezone.key if schedule is not None else None
        row["alerts"] = archive.config.alerts.channel in (row["name"], row["channel"])
    return rows


def _print(report: dict[str, Any], zone: ZoneInfo) -> None:
    from bot.bootstrap.arrivals import cause_of
    from bot.delivery.alerts import held

    states = ", ".join(f"{count} {state}" for state, count in report["deliveries"].items() if count)
    click.echo(f"{report['entries']} entries; deliveries: {states or 'none yet'}")
    for workspace in report["workspaces"]:
        click.echo(f"Slack refuses the token ({workspace['blocked']}): {workspace['advice']}")
    for channel in report["channels"]:
        click.echo(_channel_line(channel))
    said: set[str] = set()
    for document in report["quarantined"]:
        first = document["problems"][0]
        said.add(cause_of(document["document"]))
        since = _local(document["arrived_at"], zone)
        click.echo(f"{document['document']} is set aside since {since}, line {first['line']}: {first['reason']}")
    for key in report["held"]:
        said.add(held(key))
        click.echo(f"held: {key[:8]} (look in the channel, then: digest-bot deliveries settle or retry)")
    for alert in report["alerts"]:
        if alert["cause"] not in said:
            click.echo(f"since {_local(alert['since'], zone)} ({counted(alert['count'], 'time')}): {alert['text']}")


def _channel_line(channel: dict[str, Any]) -> str:
    name = channel["name"] or channel["channel"]
    if channel["channel"] not in (None, name):
        name = f"{name} ({channel['channel']})"
    waiting = counted(channel["waiting"], "message waits", "messages wait")
    return f"{name}: {waiting}, {_prospect(channel)}"


def _prospect(channel: dict[str, Any]) -> str:
    if channel["blocked"]:
        return f"blocked ({channel['blocked']}): {channel['advice']}"
    if channel["next_slot"]:
        return f"next digest {datetime.fromisoformat(channel['next_slot']):%a %Y-%m-%d %H:%M} {channel['timezone']}"
    if channel["timezone"]:
        return "no digest within a year"
    return "for alerts" if channel["alerts"] else "not in the configuration"


def _local(instant: str, zone: ZoneInfo) -> str:
    return f"{datetime.fromisoformat(instant).astimezone(zone):%Y-%m-%d %H:%M} {zone.key}"
