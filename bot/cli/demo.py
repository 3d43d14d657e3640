"""The verb `digest-bot demo`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import SOME_FAILED, config_option, counted, verb

if TYPE_CHECKING:
    from rich.console import Console

    from bot.demo import Scene
    from bot.ingest.service import Taken

WIDTH = 140
"""Columns where no terminal says how many there are: titles stay on one line."""


@verb("demo", example="digest-bot demo\ndigest-bot demo --once")
@click.option("--once", is_flag=True, help="Deliver, print what was posted where, and end.")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Keep bot and workspace in this folder.")
@click.option("--port", type=click.IntRange(0, 65535), help="The workspace's port; default: 8155.")
@config_option
def command(once: bool, keep: Path | None, port: int | None, config_path: Path) -> None:  # noqa: FBT001 - click's
    """See the whole thing work, without a Slack account.

    Starts a local Slack workspace on loopback and the bot against it, takes the inbox's digest files, delivers them now
    instead of at the channel's hour, and prints the address to open. Each demo starts afresh, unless DATABASE_URL is
    set (the bot's state is kept there) or --keep is given. With --once: exit code 1 if something could not be taken
    or posted.
    """
    from rich.console import Console

    from bot import demo, log
    from bot.config import load

    log.configure(level="WARNING")
    config = load(config_path)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, WIDTH)
    if port is None and not once:
        port = demo.PORT
    with demo.open_scene(config, port=port, keep=keep, database_given=bool(os.environ.get("DATABASE_URL"))) as scene:
        console.print(f"Local Slack workspace: {scene.workspace.url}/")
        if os.environ.get("DATABASE_URL"):
            console.print("DATABASE_URL is set: what its database says was posted is not posted again.")
        taken = demo.take_documents(scene)
        _print_documents(console, taken)
        if not once:
            scene.bot.front.start()
        new = _deliver(console, scene)
        if once:
            _print_messages(console, scene)
        owed = scene.bot.delivery.status()
        failed = bool(owed.held or owed.channel_blocks or any(one.problems for one in taken))
        console.print(f"{counted(new, 'new message')}.")
        if once:
            if failed:
                console.print("Some things failed: see above.", style="red")
                raise SystemExit(SOME_FAILED)
            return
        console.print(f"\nOpen {scene.workspace.url}/ and try: /digest vllm rocm   (Ctrl-C ends the demo)")
        demo.stay(scene)


def _deliver(console: Console, scene: Scene) -> int:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from bot import demo

    sent = 0
    columns = (TextColumn("Posting"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("posting", total=None)
        for step in demo.deliver(scene):
            sent = step.sent
            bar.update(task, completed=step.sent, total=step.sent + step.owed)
    return sent


def _print_documents(console: Console, taken: tuple[Taken, ...]) -> None:
    from rich.table import Table
    from rich.text import Text

    if not taken:
        console.print("There are no digest files in the inbox.")
        return
    table = Table(
        "digest file", "edition", "appearances", "new entries", "note", title="Picked up", title_justify="left"
    )
    for one in taken:
        note = f"set aside, line {one.problems[0].line}: {one.problems[0].reason}" if one.problems else ""
        note = "taken before" if one.known else note
        cells = (one.document.name, one.document.edition.isoformat(), one.appearances, one.new_entries, note)
        table.add_row(*(Text(str(cell)) for cell in cells))
    console.print(table)
    new = sum(one.new_entries for one in taken)
    console.print(
        f"{counted(len(taken), 'document')}, {counted(sum(one.appearances for one in taken), 'appearance')}, "
        f"{counted(new, 'new entry', 'new entries')}."
    )


def _print_messages(console: Console, scene: Scene) -> None:
    from rich.table import Table
    from rich.text import Text

    from bot import demo
    from bot.delivery.values import entry_of

    bot = scene.bot
    names = {policy.channel.channel_id: policy.name for policy in bot.refresh_policies().values()}
    messages = demo.posted(scene)
    ids = [entry_id for one in messages if (entry_id := entry_of(one.subject)) is not None]
    entries = bot.archive.deliveries.entries(ids)
    table = Table("#", "channel", "kind", "ts", "editions", "title", title="Posted", title_justify="left")
    for number, one in enumerate(messages, start=1):
        entry = entries.get(entry_of(one.subject) or 0)
        title = entry.title if entry else f"digest of {one.subject.partition(':')[2].partition('/')[0]}"
        editions = str(len(entry.editions)) if entry else ""
        channel = names.get(one.channel.channel_id, one.channel.channel_id)
        table.add_row(*(Text(str(cell)) for cell in (number, channel, one.kind.value, one.ts, editions, title)))
    console.print(table)
    roots = sum(one.kind.value == "root" for one in messages)
    both = sum(len(entry.editions) > 1 for entry in entries.values())
    both_say = counted(both, "entry stands", "entries stand")
    console.print(
        f"{counted(roots, 'root')} and {counted(len(messages) - roots, 'entry message')}; "
        f"{both_say} in more than one document and {'was' if both == 1 else 'were'} posted once."
    )
