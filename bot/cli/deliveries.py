"""The verb `digest-bot deliveries`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import click

from bot.cli.options import SOME_FAILED, config_option, epilog, json_option, print_json, verb
from bot.cli.reading import archive_to_read

if TYPE_CHECKING:
    from bot.delivery.desk import Standing

_WIDTH = 160
"""Columns where no terminal says how many there are."""
_TS = re.compile(r"[0-9]{10}\.[0-9]{6}")
_LINK = re.compile(r"https?://[^/\s]+/archives/([A-Z0-9]+)/p([0-9]{10})([0-9]{6})(?:\?(\S*))?")
_STATES = ("planned", "sending", "sent", "failed", "uncertain", "held", "skipped")
_EXAMPLE = (
    "digest-bot deliveries --state held\n"
    "digest-bot deliveries settle 3f2a 'https://example.slack.com/archives/C0123/p1796086800000100'\n"
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
    it is there, `settle KEY 'LINK'` with what Copy link gives; if it is not, `retry KEY`. KEY is the beginning of the
    key that the list shows.
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


def _standing(_context: click.Context, _parameter: click.Parameter, value: str) -> Standing:
    """Where the message stands. Kept in any other form than Slack's own, no later change of it would find the ts."""
    from bot.delivery.desk import Standing

    if _TS.fullmatch(value):
        return Standing(ts=value)
    link = _LINK.fullmatch(value.strip(" <>"))
    if link is None:
        raise click.BadParameter(
            f"{value!r} is neither a link to a message nor a ts, such as 1796086800.000100. In Slack, open the menu of "
            "the message (More actions) and choose Copy link."
        )
    channel_id, seconds, fraction, query = link.groups()
    ts = f"{seconds}.{fraction}"
    thread_ts = parse_qs(query or "").get("thread_ts", [ts])[0]
    if not _TS.fullmatch(thread_ts):
        raise click.BadParameter(f"{value!r} names the thread {thread_ts!r}, which is no ts. Copy the link again.")
    return Standing(ts=ts, thread_ts=thread_ts if thread_ts != ts else None, channel_id=channel_id)


@verb(
    "settle", example="digest-bot deliveries settle 3f2a 'https://example.slack.com/archives/C0123/p1796086800000100'"
)
@click.argument("key")
@click.argument("link", callback=_standing)
@_config_option
@click.pass_obj
def settle(configured: Path, config_path: Path | None, key: str, link: Standing) -> None:
    """The message stands in Slack under this link (or ts): count it as sent."""
    _decide(config_path or configured, key, link)


@verb("retry", example="digest-bot deliveries retry 3f2a")
@click.argument("key")
@_config_option
@click.pass_obj
def retry(configured: Path, config_path: Path | None, key: str) -> None:
    """The message is not in the channel: send it again."""
    _decide(config_path or configured, key, None)


command.add_command(settle)
command.add_command(retry)


def _decide(config_path: Path, key: str, found: Standing | None) -> None:
    from bot.delivery.desk import decide

    with archive_to_read(config_path) as archive:
        delivery = archive.deliveries.by_key(key)
        if found and found.channel_id and delivery and delivery.channel.channel_id != found.channel_id:
            raise click.BadParameter(
                f"the link leads to the channel {found.channel_id}, but {key} was for {delivery.channel.channel_id}."
            )
        done = decide(archive.deliveries, key, found, now=archive.clock.now())
    if not done:
        click.echo(f"No held or failed delivery has a key that begins with {key}; see digest-bot deliveries.", err=True)
        raise SystemExit(SOME_FAILED)
    click.echo("Settled." if found else "It will be sent again.")


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
