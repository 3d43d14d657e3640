"""The verb `digest-bot deliveries`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from bot.cli.options import SOME_FAILED, config_option, epilog, json_option, print_json, verb
from bot.cli.reading import archive_to_read

_WIDTH = 160
"""Columns where no terminal says how many there are."""
_TS = re.compile(r"[0-9]{10}\.[0-9]{6}")
_STATES = ("planned", "sending", "sent", "failed", "uncertain", "held", "skipped")
_EXAMPLE = (
    "digest-bot deliveries --state held\n"
    "digest-bot deliveries settle 3f2a 1796086800.000100\n"
    "digest-bot deliveries retry 3f2a"
)


@click.group("deliveries", epilog=epilog(_EXAMPLE), invoke_without_command=True)
@click.option("--state", type=click.Choice(_STATES), help="Only those in this state.")
@click.option("--channel", help="Only those of this channel ID.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=200, show_default=True, help="The newest so many.")
@json_option
@config_option
@click.pass_context
def command(
    context: click.Context,
    state: str | None,
    channel: str | None,
    limit: int,
    as_json: bool,  # noqa: FBT001 - click's
    config_path: Path,
) -> None:
    """List what was posted, what waits and what is held, in the order of sending.

    A held message is one that may stand in the channel and could not be looked for. Look in the channel yourself: if
    it is there, `settle KEY TS`; if it is not, `retry KEY`. KEY is the beginning of the key that the list shows.
    """
    context.obj = config_path
    if context.invoked_subcommand is not None:
        return
    from bot.storage.listing import list_channels, list_deliveries

    with archive_to_read(config_path) as archive:
        rows = list_deliveries(archive.database, state=state, channel_id=channel, limit=limit)
        names = {str(one["channel"]): str(one["name"] or one["channel"]) for one in list_channels(archive.database)}
        entries = archive.deliveries.entries([row["entry_id"] for row in rows if row["entry_id"] is not None])
        titles = {entry_id: entry.title for entry_id, entry in entries.items()}
    if as_json:
        print_json(rows)
    else:
        _print(rows, names, titles)


_config_option = click.option(
    "--config", "config_path", type=click.Path(path_type=Path, dir_okay=False), help="The configuration file."
)
"""After the verb as well as before it: `deliveries --config FILE settle` and `deliveries settle --config FILE`."""


def _stamp(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """The ts, as Slack writes it. Kept in any other form, no later change of the message would find it."""
    if not _TS.fullmatch(value):
        raise click.BadParameter(
            f"{value!r} is no ts, such as 1796086800.000100. Copy the message's link in Slack: "
            "it ends with p1796086800000100, which is the ts with a dot missing before its last six digits."
        )
    return value


@verb("settle", example="digest-bot deliveries settle 3f2a 1796086800.000100")
@click.argument("key")
@click.argument("ts", callback=_stamp)
@_config_option
@click.pass_obj
def settle(configured: Path, config_path: Path | None, key: str, ts: str) -> None:
    """The message stands in the channel with this ts: count it as sent."""
    _decide(config_path or configured, key, ts)


@verb("retry", example="digest-bot deliveries retry 3f2a")
@click.argument("key")
@_config_option
@click.pass_obj
def retry(configured: Path, config_path: Path | None, key: str) -> None:
    """The message is not in the channel: send it again."""
    _decide(config_path or configured, key, None)


command.add_command(settle)
command.add_command(retry)


def _decide(config_path: Path, key: str, ts: str | None) -> None:
    from bot.delivery.desk import decide

    with archive_to_read(config_path) as archive:
        done = decide(archive.deliveries, key, ts, now=archive.clock.now())
    if not done:
        click.echo(f"No held or failed delivery has a key that begins with {key}; see digest-bot deliveries.", err=True)
        raise SystemExit(SOME_FAILED)
    click.echo("Settled." if ts else "It will be sent again.")


def _print(rows: list[dict[str, Any]], names: Mapping[str, str], titles: Mapping[int, str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    table = Table("key", "channel", "kind", "state", "ts", "tries", "error", "title", box=None)
    for row in rows:
        channel, title = names.get(row["channel"], row["channel"]), titles.get(row["entry_id"], "")
        cells = [row["key"][:8], channel, *(row[name] for name in ("kind", "state", "ts", "attempts", "error")), title]
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in cells))
    console.print(table)
