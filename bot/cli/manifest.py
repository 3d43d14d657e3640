"""The verb `digest-bot manifest`."""

from __future__ import annotations

import click

from bot.cli.options import print_json, verb


@verb("manifest", example="digest-bot manifest\ndigest-bot manifest --http https://digest.example.com")
@click.option("--http", "http_url", metavar="URL", help="For Slack over HTTP: the public address of `run --http`.")
def command(http_url: str | None) -> None:
    """Print the app manifest: paste it at https://api.slack.com/apps, Create New App, From a manifest.

    Without --http the app is of the Socket Mode kind (`digest-bot run`); with it, of the HTTP kind
    (`digest-bot run --http`). An app is one or the other.
    """
    from bot.slack.manifest import manifest  # noqa: PLC0415 - --help must not wait for it

    print_json(manifest(http_url))
