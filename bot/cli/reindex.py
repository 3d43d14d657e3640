"""The verb `digest-bot reindex`."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import config_option, verb


@verb("reindex", example="digest-bot reindex")
@click.option("--all", "everything", is_flag=True, help="Also what is up to date already.")
@config_option
def command(everything: bool, config_path: Path) -> None:  # noqa: FBT001 - click's
    """Build the search index anew, while the bot runs. What was done stays done when it is interrupted."""
    from rich.progress import Progress

    from bot.bootstrap.archive import open_archive
    from bot.config import load
    from bot.storage.search_reindex import forget, reindex, tidy

    archive = open_archive(load(config_path))
    try:
        if everything:
            with archive.database.transaction() as connection:
                forget(connection)
        with Progress() as progress:
            task = progress.add_task("Indexing", total=None)
            done = reindex(
                archive.database.reading,
                archive.database.transaction,
                lambda indexed, total: progress.update(task, completed=indexed, total=total),
            )
        tidy(archive.database.transaction)
    finally:
        archive.close()
    click.echo(f"{done} entries indexed.")
