"""Options that several verbs share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

SOME_FAILED = 1
CANNOT_RUN = 2

config_option = click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("config.yaml"),
    show_default=True,
    help="The configuration file.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def epilog(example: str) -> str:
    """The end of a --help: `example`, each line as it would be typed."""
    lines = "\n".join(f"  $ {line}" for line in example.split("\n"))
    return f"\b\nExample:\n{lines}"


def verb(name: str, *, example: str, takes_dashes: bool = False) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command whose --help ends with `example`; with `takes_dashes`, unknown options are arguments."""
    return click.command(name, epilog=epilog(example), context_settings={"ignore_unknown_options": takes_dashes})


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 entry`, `2 entries`: the number with its word."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def print_json(value: Any) -> None:
    """Print a JSON value for another program: UTF-8, readable, one document."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))
