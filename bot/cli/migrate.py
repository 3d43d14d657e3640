"""The verb `digest-bot migrate`."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import config_option, verb


@verb("migrate", example="DATABASE_URL=postgresql://localhost/digest digest-bot migrate")
@config_option
def command(config_path: Path) -> None:
    """Bring the database to this version's schema. An existing SQLite file is copied beside itself first."""
    from bot.config import load
    from bot.storage.engine import open_database, shown
    from bot.storage.migrate import head, migrate

    config = load(config_path)
    database = open_database(config.database, source=config.database_source)
    try:
        changed = migrate(database)
    finally:
        database.close()
    done = "migrated to" if changed else "already has"
    click.echo(f"{shown(config.database)} {done} schema {head()}.")
