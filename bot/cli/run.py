"""The verb `digest-bot run`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bot.cli.options import config_option, verb
from bot.web import EVERYWHERE


@verb(
    "run",
    example="SLACK_BOT_TOKEN=xoxb-... SLACK_APP_TOKEN=xapp-... digest-bot run\n"
    "SLACK_BOT_TOKEN=xoxb-... SLACK_SIGNING_SECRET=... PORT=3000 digest-bot run --http",
)
@click.option("--http", is_flag=True, help="Take commands over HTTP (port from PORT) instead of Socket Mode.")
@click.option(
    "--host",
    default=EVERYWHERE,
    show_default=True,
    help="Address on which PORT is opened; 127.0.0.1 lets in this machine alone.",
)
@click.option("--now", is_flag=True, help="Deliver what is new at once, then go on by the schedule.")
@config_option
def command(http: bool, host: str, now: bool, config_path: Path) -> None:  # noqa: FBT001 - click's
    """Deliver the digest and answer /digest until stopped (SIGTERM or Ctrl-C). SIGHUP reads config.yaml again.

    Tokens come from the environment: SLACK_BOT_TOKEN, and SLACK_APP_TOKEN (or SLACK_SIGNING_SECRET with --http).
    DATABASE_URL goes before the configuration's database. Where PORT is set, /healthz, /readyz and /metrics are
    served there.

    Where Slack or the database is away at the start, it is waited for; a refused token or password, an old schema or
    a wrong config.yaml ends the start with exit code 2.
    """
    import structlog

    from bot import log
    from bot.bootstrap.assemble import assemble
    from bot.bootstrap.patience import once_possible
    from bot.bootstrap.running import Bot
    from bot.config import Config, load, read_secrets
    from bot.errors import ConfigError
    from bot.runtime import Hangup

    log.configure()
    hangup = Hangup()
    hangup.heed()  # nothing is running yet that could reload, but the file may be read already
    secrets = read_secrets(os.environ, http=http)
    port = _port(os.environ.get("PORT"), needed=http)

    config: Config | None = None
    refused = ""

    def is_read_anew() -> bool:
        nonlocal config, refused
        hangup.is_pending = False
        try:
            config = load(config_path)
        except ConfigError as error:
            if config is None:
                raise
            if str(error) != refused:
                refused = str(error)
                structlog.get_logger("bot.cli").error("configuration_refused", error=refused)
            return False
        refused = ""
        return True

    def make() -> Bot:
        is_read_anew()  # whatever was waited for, the file is read after it
        while True:
            assert config is not None  # noqa: S101 - the first reading gave one, or ended the start
            bot = assemble(config, secrets, http=http, port=port, host=host, reread=lambda: load(config_path))
            if not (hangup.is_pending and is_read_anew()):
                return bot
            bot.close()  # made of what is old by now, and nothing of it runs yet

    bot = once_possible(make)
    try:
        bot.runtime(now=now, hangup=hangup).run()
    finally:
        bot.close()


def _port(value: str | None, *, needed: bool) -> int | None:
    if not value:
        if needed:
            raise click.UsageError("set PORT to the port to listen on, for example PORT=3000")
        return None
    if not (value.isascii() and value.isdigit() and int(value) < 65536):  # noqa: PLR2004 - a port's size
        raise click.UsageError(f"PORT is {value!r}, not a port number")
    return int(value)
