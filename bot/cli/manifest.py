"""The verb `digest-bot manifest`."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import config_option, print_json, verb


@verb("manifest", example="digest-bot manifest\ndigest-bot manifest --http https://digest.example.com")
@click.option("--http", "http_url", metavar="URL", help="For Slack over HTTP: the public address of `run --http`.")
@click.option("--language", type=click.Choice(["zh", "en"]), help="Of menus and hints; default: the first channel's.")
@config_option
def command(http_url: str | None, language: str | None, config_path: Path) -> None:
    """Print the app manifest: paste it at https://api.slack.com/apps, Create New App, From a manifest.

    Without --http the app is of the Socket Mode kind (`digest-bot run`); with it, of the HTTP kind
    (`digest-bot run --http`). An app is one or the other.
    """
    from bot.config import Config, load
    from bot.model import Language
    from bot.slack.manifest import manifest

    if http_url is not None and not http_url.startswith("https://"):
        raise click.BadParameter(
            f"{http_url!r} does not begin with https://, and Slack takes no other", param_hint="--http"
        )
    config = load(config_path) if config_path.exists() else Config()
    channels = config.channels
    chosen = Language(language) if language else channels[0].language if channels else Language.EN
    print_json(manifest(http_url, language=chosen))
