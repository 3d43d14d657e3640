"""The verb `digest-bot documents`."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import config_option, json_option, print_json, verb
from bot.cli.reading import archive_to_read

_ANY_WIDTH = 100_000
"""More columns than a line can have."""


@verb("documents", example="digest-bot documents\ndigest-bot documents --state quarantined --json")
@click.option("--state", type=click.Choice(["accepted", "quarantined"]), help="Only those in this state.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=200, show_default=True, help="The newest so many.")
@json_option
@config_option
def command(state: str | None, limit: int, as_json: bool, config_path: Path) -> None:  # noqa: FBT001 - click's
    """List the digest files met so far, and line and reason of those that were set aside."""
    from bot.storage.listing import list_documents

    with archive_to_read(config_path) as archive:
        rows = list_documents(archive.database, state=state, limit=limit)
    if as_json:
        print_json(rows)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None)
    for heading in ("file", "edition", "state", "entries", "line", "reason"):
        table.add_column(heading, overflow="fold")  # a name that is cut cannot be opened
    for row in rows:
        problems = row["problems"] or [{"line": "", "reason": ""}]
        first = problems[0]
        reason = first["reason"] + (f" (and {len(problems) - 1} more)" if len(problems) > 1 else "")
        cells = (row["document"], row["edition"], row["state"], row["entries"], first["line"], reason)
        table.add_row(*(Text(str(cell)) for cell in cells))
    console = Console()
    if not console.is_terminal:
        console.width = _ANY_WIDTH
        console.width = console.measure(table).maximum  # a line a file, for other programs
    console.print(table)
