"""The verb `digest-bot status`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.cli.options import SOME_FAILED, config_option, json_option, print_json, verb


@verb("status", example="digest-bot status\ndigest-bot status --json")
@json_option
@config_option
def command(as_json: bool, config_path: Path) -> None:  # noqa: FBT001 - click's
    """Say how delivery stands and what a person must see. Exit code 1 if somebody has to do something."""
    from bot.bootstrap.archive import open_archive  # noqa: PLC0415 - --help must not wait for it
    from bot.config import load  # noqa: PLC0415
    from bot.delivery.doors import NOT_CONFIGURED  # noqa: PLC0415
    from bot.storage.listing import list_alerts, list_channels, list_documents  # noqa: PLC0415
    from bot.storage.stats import deliveries_by_state, entry_count  # noqa: PLC0415

    archive = open_archive(load(config_path))
    try:
        database = archive.database
        status = archive.deliveries.status(archive.clock.now())
        report: dict[str, Any] = {
            "deliveries": deliveries_by_state(database),
            "entries": entry_count(database),
            "quarantined": list_documents(database, state="quarantined"),
            "held": [delivery.key for delivery in status.held],
            "channels": list_channels(database),
            "workspaces": [
                {"team": team, "blocked": block.reason, "advice": block.advice}
                for team, block in status.team_blocks.items()
            ],
            "alerts": list_alerts(database),
        }
    finally:
        archive.close()
    needs_somebody = bool(
        report["quarantined"]
        or report["held"]
        or report["workspaces"]
        or report["alerts"]
        # What a channel that was taken out of the configuration had planned waits for nobody.
        or any(channel["blocked"] not in (None, NOT_CONFIGURED) for channel in report["channels"])
    )
    if as_json:
        print_json(report)
    else:
        _print(report)
    if needs_somebody:
        raise SystemExit(SOME_FAILED)


def _print(report: dict[str, Any]) -> None:
    states = ", ".join(f"{count} {state}" for state, count in report["deliveries"].items() if count)
    click.echo(f"{report['entries']} entries; deliveries: {states or 'none yet'}")
    for workspace in report["workspaces"]:
        click.echo(f"Slack refuses the token ({workspace['blocked']}): {workspace['advice']}")
    for channel in report["channels"]:
        name = channel["name"] or channel["channel"]
        blocked = f"blocked ({channel['blocked']}): {channel['advice']}" if channel["blocked"] else "open"
        click.echo(f"{name} ({channel['channel']}): {channel['waiting']} waiting, {blocked}")
    for document in report["quarantined"]:
        first = document["problems"][0]
        click.echo(f"{document['document']} is set aside, line {first['line']}: {first['reason']}")
    for key in report["held"]:
        click.echo(f"held: {key[:8]} (look in the channel, then: digest-bot deliveries settle or retry)")
    for alert in report["alerts"]:
        click.echo(f"since {alert['since']} ({alert['count']} times): {alert['text']}")
