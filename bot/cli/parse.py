"""The verb `digest-bot parse`."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import SOME_FAILED, config_option, json_option, print_json, verb


@verb("parse", example="digest-bot parse seeds/000_382cd8b32110c293.txt --json")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@json_option
@config_option
def command(file: Path, as_json: bool, config_path: Path) -> None:  # noqa: FBT001 - click's
    """Show what a digest file holds, without taking it. Exit code 1 if it does not fit the format."""
    from bot.bootstrap.archive import load_vocabulary
    from bot.bootstrap.clock import SystemClock
    from bot.config import Config, load
    from bot.ingest.parse import parse
    from bot.ingest.report import parse_report

    # A file can be looked at before anything is configured; only a team's own topics need the configuration.
    config = load(config_path) if config_path.exists() else Config()
    today = SystemClock().now().astimezone(config.inbox.timezone).date()
    report = parse_report(file.name, parse(file.read_bytes(), name=file.name, today=today), load_vocabulary(config))
    if as_json:
        print_json(report)
    else:
        _print_table(report)
    if report["problems"]:
        raise SystemExit(SOME_FAILED)


def _print_table(report: dict[str, object]) -> None:
    from rich.console import Console
    from rich.table import Table

    entries, problems = report["entries"], report["problems"]
    assert isinstance(entries, list)  # noqa: S101 - parse_report's own shape
    assert isinstance(problems, list)  # noqa: S101
    console = Console()
    table = Table("#", "line", "repository", "verdict", "title", box=None)
    for entry in entries:
        cells = (entry["position"], entry["line"], entry["repo"], entry["verdict"] or "", entry["title"])
        table.add_row(*(_literal(cell) for cell in cells))
    console.print(table)
    for problem in problems:
        console.print(_literal(f"line {problem['line']}: {problem['reason']}"), style="red")


def _literal(cell: object) -> str:
    from rich.markup import escape

    return escape(str(cell))
