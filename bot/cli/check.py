"""The verb `digest-bot check`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import SOME_FAILED, config_option, verb

if TYPE_CHECKING:
    from bot.config import Config

_NEWEST = 20_000
"""So many entries are compared with policies: a second's work."""


@verb("check", example="digest-bot check --config config.yaml")
@config_option
def command(config_path: Path) -> None:
    """Say whether configuration, inbox, templates, glossary and database are usable. Asks Slack nothing.

    Every template is rendered with the nastiest entry we know. A policy that names what no entry so far has is warned
    of: it may be meant so. Exit code 1 if something is wrong, 2 if the configuration or the database cannot be read at
    all.
    """
    from bot.config import load

    config = load(config_path)
    wrong = False
    for name, examine in (
        ("configuration", _configuration),
        ("inbox", _inbox),
        ("templates", _templates),
        ("glossary", _glossary),
        ("database", _database),
    ):
        faults = list(examine(config))
        wrong = wrong or bool(faults)
        click.echo(f"{name}: {'ok' if not faults else ''}".rstrip())
        for fault in faults:
            click.echo(f"  {fault}")
    warnings = _policies(config)
    click.echo(f"policies: {'ok' if not warnings else ''}".rstrip())
    for warning in warnings:
        click.echo(f"  warning: {warning}")
    if wrong:
        raise SystemExit(SOME_FAILED)


def _configuration(config: Config) -> Iterator[str]:
    if not config.channels:
        yield "no channels: nothing will be delivered; name one under channels:"


def _inbox(config: Config) -> Iterator[str]:
    if not config.inbox_path.is_dir():
        yield f"{config.inbox_path} is no folder: create it, or correct inbox.path"


def _templates(config: Config) -> Iterator[str]:
    from bot.bootstrap.templates import template_faults

    yield from template_faults(config)


def _glossary(config: Config) -> Iterator[str]:
    from bot.bootstrap.archive import load_glossary

    yield from (str(fault) for fault in load_glossary(config).contradictions())


def _policies(config: Config) -> tuple[str, ...]:
    from bot.bootstrap.unmatched import unmatched
    from bot.errors import StorageError
    from bot.storage.engine import open_database
    from bot.storage.migrate import current, head
    from bot.storage.plan_store import newest_candidates

    database = open_database(config.database, source=config.database_source)
    try:
        is_there = database.path is None or database.path.exists()
        archived = newest_candidates(database, _NEWEST) if is_there and current(database) == head() else ()
        return unmatched(config, archived)
    except StorageError:
        return ()  # what is wrong with it was said above
    finally:
        database.close()


def _database(config: Config) -> Iterator[str]:
    from bot.errors import StorageUnavailable
    from bot.storage.engine import open_database, shown
    from bot.storage.migrate import current, forgotten, head

    database = open_database(config.database, source=config.database_source)
    try:
        if advice := forgotten(database):
            yield advice
            return
        # Asking must not create a SQLite file: `check` changes nothing.
        if database.path is not None and not database.path.exists():
            return
        found = current(database)
        if found != head():
            yield f"{shown(config.database)} has schema {found or 'none'}, {head()} is needed: run digest-bot migrate"
    except StorageUnavailable as error:
        yield str(error)
    finally:
        database.close()
