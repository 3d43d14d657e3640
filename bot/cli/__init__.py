"""`digest-bot`: thin verbs over the services. A verb's module is imported when the verb is asked for, not before."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from bot import __version__
from bot.cli.options import CANNOT_RUN
from bot.errors import DigestBotError

_VERBS = {
    "demo": ("bot.cli.demo", "See the whole thing work, without a Slack account."),
    "run": ("bot.cli.run", "Deliver the digest and answer /digest, with the real Slack or a local one."),
    "workspace": ("bot.cli.workspace", "Run the local Slack workspace alone."),
    "check": ("bot.cli.check", "Say whether configuration, templates, glossary and database are usable."),
    "migrate": ("bot.cli.migrate", "Bring the database to this version's schema."),
    "ingest": ("bot.cli.ingest", "Take digest files now."),
    "documents": ("bot.cli.documents", "List the digest files met so far, and what is wrong with those set aside."),
    "parse": ("bot.cli.parse", "Show what a digest file holds, without taking it."),
    "preview": ("bot.cli.preview", "Show how a digest file will look, without a token or a network."),
    "search": ("bot.cli.search", "Find past entries, as /digest does."),
    "deliveries": ("bot.cli.deliveries", "List what was posted, what waits and what is held; settle or retry."),
    "status": ("bot.cli.status", "Say what a person must see."),
    "reindex": ("bot.cli.reindex", "Build the search index anew, while the bot runs."),
    "manifest": ("bot.cli.manifest", "Print the app manifest to paste at api.slack.com/apps."),
}

_LOGGING = ("run", "demo", "workspace")
"""Verbs that stay and set up their own logs; for the others, warnings on standard error are enough."""


class _Verbs(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        command = import_module(_VERBS[cmd_name][0]).command
        assert isinstance(command, click.Command)  # noqa: S101 - a programming error, not an input
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_module, help_text) in _VERBS.items()])


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="digest-bot")
@click.pass_context
def cli(context: click.Context) -> None:
    """Deliver a team's daily digest to Slack once, and find it again in Chinese and English.

    Start with `digest-bot demo`. Every command has an example in its --help.
    Exit codes: 0 fine, 1 some things failed, 2 cannot run.
    """
    if context.invoked_subcommand not in _LOGGING and "--help" not in sys.argv:
        import_module("bot.log").configure(level="ERROR")


def main() -> None:
    """The console script. Errors of ours are one message on stderr and exit code 2, without a trace."""
    try:
        cli(standalone_mode=True)
    except DigestBotError as error:
        for line in str(error).split("\n"):
            click.echo(f"digest-bot: {line}", err=True)
        sys.exit(CANNOT_RUN)
