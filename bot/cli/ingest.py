"""The verb `digest-bot ingest`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import SOME_FAILED, config_option, counted, json_option, print_json, verb

if TYPE_CHECKING:
    from bot.ingest.service import Taken


@verb("ingest", example="digest-bot ingest\ndigest-bot ingest seeds/000_382cd8b32110c293.txt")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1)
@json_option
@config_option
def command(paths: tuple[Path, ...], as_json: bool, config_path: Path) -> None:  # noqa: FBT001 - click's
    """Take the inbox's files, or the named ones, into the archive now. Nothing is posted by this.

    Exit code 1 if a file was set aside or could not be read.
    """
    from bot.bootstrap.archive import INBOX, open_archive
    from bot.config import load
    from bot.inboxes.folder import FolderInbox, InboxUnavailable, read_file

    config = load(config_path)
    archive = open_archive(config)
    unreadable: list[str] = []
    taken: list[Taken] = []
    try:
        arrivals = []
        if paths:
            for path in paths:
                try:
                    arrivals.append(read_file(path, archive.clock))
                except InboxUnavailable as error:
                    unreadable.append(str(error))
        else:
            look = FolderInbox(config.inbox_path, archive.clock).look(force=True)
            arrivals = list(look)
            unreadable = [f"{name}: {problem.reason}" for name, problem in look.unreadable]
        taken.extend(
            archive.ingest.take(source=INBOX, name=one.name, data=one.data, arrived_at=one.arrived_at)
            for one in arrivals
        )
        archive.ingest.keep({one.name: one.document for one in taken if one.name != one.document.name})
    finally:
        archive.close()
    if as_json:
        print_json({"documents": [_json(one) for one in taken], "unreadable": unreadable})
    else:
        for one in taken:
            click.echo(_line(one))
        for reason in unreadable:
            click.echo(reason, err=True)
    if unreadable or any(one.problems for one in taken):
        raise SystemExit(SOME_FAILED)


def _json(one: Taken) -> dict[str, object]:
    return {
        "document": one.name,
        "state": one.document.state.value,
        "edition": one.document.edition.isoformat(),
        "known": one.known,
        "appearances": one.appearances,
        "new_entries": one.new_entries,
        "revised": one.revised,
        "problems": [{"line": problem.line, "reason": problem.reason} for problem in one.problems],
    }


def _line(one: Taken) -> str:
    name = one.name
    if one.problems:
        first = one.problems[0]
        more = f" (and {len(one.problems) - 1} more)" if len(one.problems) > 1 else ""
        return f"{name}: set aside, line {first.line}: {first.reason}{more}"
    if one.known:
        return f"{name}: known already"
    new = counted(one.new_entries, "new entry", "new entries")
    return f"{name}: {counted(one.appearances, 'appearance')}, {new}, {one.revised} revised"
