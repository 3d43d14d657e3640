"""The archive for the verbs that need what is in it: reading makes no database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bot.bootstrap.archive import Archive
    from bot.config import Config

_HOW_TO_BEGIN = (
    "`digest-bot ingest` takes the inbox's files, `digest-bot run` delivers them, too; `digest-bot demo` shows it all."
)


@contextmanager
def archive_to_read(config_path: Path) -> Iterator[Archive]:
    """Open the configured archive. One that is not there yet reads as an empty one, and is not made by reading.

    Standard error says so, and what to do where it has no entries. Raises what `open_archive` raises, and ConfigError.
    """
    from bot.bootstrap.archive import open_archive
    from bot.config import load
    from bot.storage.plan_store import newest_candidates

    config = load(config_path)
    with ExitStack() as stack:
        if (path := _not_there_yet(config)) is not None:
            click.echo(f"There is no database {path} yet: {_HOW_TO_BEGIN}", err=True)
            folder = stack.enter_context(TemporaryDirectory(prefix="digest-bot-"))
            config = config.model_copy(update={"database": f"sqlite:///{folder}/empty.db"})
        archive = open_archive(config)
        stack.callback(archive.close)
        if path is None and next(newest_candidates(archive.database, 1), None) is None:
            click.echo(f"There are no entries yet: {_HOW_TO_BEGIN}", err=True)
        yield archive


def _not_there_yet(config: Config) -> Path | None:
    from bot.storage.engine import open_database
    from bot.storage.migrate import forgotten

    database = open_database(config.database, source=config.database_source)
    try:
        path = database.path
        # Where the copy of a lost one lies, opening says what to do.
        return path if path is not None and not path.exists() and forgotten(database) is None else None
    finally:
        database.close()
