"""The verb `digest-bot preview`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import SOME_FAILED, config_option, verb
from bot.errors import DigestBotError

if TYPE_CHECKING:
    from bot.bootstrap.preview import Post
    from bot.model import Message

_WIDTH = 100
_BUILDER_BLOCKS = 50
"""As many blocks as a message may have, and so as Slack's builder shows."""


@verb(
    "preview",
    example="digest-bot preview seeds/000_382cd8b32110c293.txt\n"
    "digest-bot preview seeds/000_382cd8b32110c293.txt --layout thread --format html --output preview.html",
)
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "blocks", "html"]),
    default="text",
    show_default=True,
    help="For the terminal, as the JSON that is sent, or as a page that looks like Slack.",
)
@click.option("--language", type=click.Choice(["zh", "en"]), help="In place of the channel's.")
@click.option("--layout", type=click.Choice(["channel", "thread", "compact"]), help="In place of the channel's.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write there, not on the terminal.")
@config_option
def command(
    file: Path, form: str, language: str | None, layout: str | None, output: Path | None, config_path: Path
) -> None:
    """Show how a digest file will look, without a token or a network: root and entries as they would be posted.

    Style and templates are those of the first channel in the configuration, if there is one. With --format blocks, a
    link that opens them in Slack's Block Kit Builder goes to standard error, or how to paste them there where a link
    would be too long. Exit code 1 if the file does not fit.
    """
    from bot.bootstrap.preview import preview
    from bot.config import Config, load
    from bot.model import Language, Layout

    config = load(config_path) if config_path.exists() else Config()
    found = preview(
        file.read_bytes(),
        name=file.name,
        config=config,
        language=Language(language) if language else None,
        layout=Layout(layout) if layout else None,
        on_fallback=lambda name, reason: click.echo(f"The built-in template stands in for {name}: {reason}", err=True),
    )
    for problem in found.problems:
        click.echo(f"{file.name}, line {problem.line}: {problem.reason}", err=True)
    if found.problems:
        raise SystemExit(SOME_FAILED)
    make = {"text": _text, "blocks": _blocks, "html": _html}[form]
    made = make(found.posts, file.name, to_file=output is not None)
    if output is None:
        click.echo(made)
    else:
        try:
            output.write_text(made + "\n", encoding="utf-8")
        except OSError as error:
            raise DigestBotError(f"{output}: {error.strerror}. Name a file in a folder that is there") from None
    if form == "blocks":
        _builder_link(found.posts)


def _text(posts: tuple[Post, ...], name: str, *, to_file: bool) -> str:
    import io
    import sys

    from rich.console import Console

    from bot.render.preview import terminal

    # Width and colours are those of the terminal, where there is one.
    screen = Console()
    colours = not to_file and sys.stdout.isatty()
    width = min(screen.width, _WIDTH) if colours else _WIDTH
    console = Console(file=io.StringIO(), width=width, force_terminal=colours, highlight=False)
    console.print(name, style="bold", markup=False)
    for post in posts:
        console.print(terminal(post.message, replies=post.replies))
    assert isinstance(console.file, io.StringIO)  # noqa: S101 - given above
    return console.file.getvalue().rstrip("\n")


def _blocks(posts: tuple[Post, ...], _name: str, *, to_file: bool) -> str:  # noqa: ARG001 - one form for all
    return json.dumps(
        [{**_sent(post.message), "thread": [_sent(reply) for reply in post.replies]} for post in posts],
        ensure_ascii=False,
        indent=2,
    )


def _html(posts: tuple[Post, ...], name: str, *, to_file: bool) -> str:  # noqa: ARG001 - one form for all
    from bot.workspace.html import PlainResolver, page, render_row, render_thread

    def row(message: Message) -> str:
        return render_row({**_sent(message), "username": "digest-bot", "bot_id": "B0"}, PlainResolver())

    rows = []
    for post in posts:
        rows.append(row(post.message))
        if post.replies:
            rows.append(render_thread(row(reply) for reply in post.replies))
    return page(name, *rows).rstrip("\n")


def _sent(message: Message) -> dict[str, object]:
    return {"text": message.text, "blocks": list(message.blocks)}


def _builder_link(posts: tuple[Post, ...]) -> None:
    from bot.render.preview import BUILDER, builder_link

    messages = [message for post in posts for message in (post.message, *post.replies)]
    blocks = [block for message in messages for block in message.blocks]
    link, shown = builder_link(blocks[:_BUILDER_BLOCKS])
    if link is None:
        click.echo(
            f"Too much for a link to Slack's Block Kit Builder. Open {BUILDER} and paste one of the printed messages "
            'there: {"blocks": [...]}.',
            err=True,
        )
        return
    part = "" if shown == len(blocks) else f" (the first {shown} of {len(blocks)} blocks)"
    click.echo(f"In Slack's Block Kit Builder{part}: {link}", err=True)
