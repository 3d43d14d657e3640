"""The verb `digest-bot workspace`."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import verb


@verb(
    "workspace",
    example="digest-bot workspace --port 8155\n"
    "SLACK_API_URL=http://127.0.0.1:8155/api/ SLACK_BOT_TOKEN=... SLACK_APP_TOKEN=... digest-bot run",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8155, show_default=True, help="0 takes a free one.")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Keep every message in this folder.")
@click.option("--rate-limits", is_flag=True, help="Answer 429 as Slack does: one message a second a channel, tiers.")
@click.option("--channel", "channels", multiple=True, metavar="NAME", help="Make this channel, with the bot in it.")
def command(port: int, keep: Path | None, rate_limits: bool, channels: tuple[str, ...]) -> None:  # noqa: FBT001 - click's
    """Run the local Slack workspace alone, on loopback, until Ctrl-C.

    It prints its address and the tokens that a bot needs. They are worth nothing anywhere else.
    """
    from bot.workspace.server import LocalWorkspace  # noqa: PLC0415 - --help must not wait for it

    workspace = LocalWorkspace(port, keep=keep, rate_limits=rate_limits)
    workspace.start()
    for name in channels:
        workspace.create_channel(name.removeprefix("#"))
    click.echo(f"The local workspace is at {workspace.url}/ (Ctrl-C ends it). For a bot:")
    click.echo(f"  export SLACK_API_URL={workspace.api_url}")
    click.echo(f"  export SLACK_BOT_TOKEN={workspace.bot_token} SLACK_APP_TOKEN={workspace.app_token}")
    workspace.run_forever()
