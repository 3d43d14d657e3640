"""The verb `digest-bot workspace`."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import CANNOT_RUN, config_option, verb


@verb(
    "workspace",
    example="digest-bot workspace --port 8155\n"
    "SLACK_API_URL=http://127.0.0.1:8155/api/ SLACK_BOT_TOKEN=... SLACK_APP_TOKEN=... digest-bot run",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8155, show_default=True, help="0 takes a free one.")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Keep every message in this folder.")
@click.option("--rate-limits", is_flag=True, help="Answer 429 as Slack does: one message a second a channel, tiers.")
@click.option("--channel", "channels", multiple=True, metavar="NAME", help="Make this channel too, with the bot in it.")
@config_option
def command(
    port: int,
    keep: Path | None,
    rate_limits: bool,  # noqa: FBT001 - click's
    channels: tuple[str, ...],
    config_path: Path,
) -> None:
    """Run the local Slack workspace alone, on loopback, until Ctrl-C.

    It makes the channels that the configuration names, if there is one here, with the bot in them, and prints its
    address and the tokens that a bot needs. They are worth nothing anywhere else.
    """
    from bot.config import load
    from bot.demo import named_channels
    from bot.slack.manifest import manifest
    from bot.workspace.errors import WorkspaceError
    from bot.workspace.server import LocalWorkspace

    configured = named_channels(load(config_path)) if config_path.exists() else ()
    workspace = LocalWorkspace(
        port, keep=keep, rate_limits=rate_limits, manifest=manifest(), channels=(*configured, *channels)
    )
    try:
        workspace.start()
    except WorkspaceError as error:
        click.echo(f"digest-bot: {error}", err=True)
        raise SystemExit(CANNOT_RUN) from error
    click.echo(f"The local workspace is at {workspace.url}/ (Ctrl-C ends it). For a bot:")
    click.echo(f"  export SLACK_API_URL={workspace.api_url}")
    click.echo(f"  export SLACK_BOT_TOKEN={workspace.bot_token} SLACK_APP_TOKEN={workspace.app_token}")
    workspace.run_forever()
