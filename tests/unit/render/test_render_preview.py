"""The preview shows what the message says, and cannot drive the terminal."""

from __future__ import annotations

import io
import json
from urllib.parse import unquote

from rich.console import Console

from bot.model import Entry
from bot.render.messages import Renderer
from bot.render.preview import as_json, builder_link, terminal
from bot.render.sample import render_everything
from bot.text import vocabulary
from tests.unit.render import seeds


def printed(message, **more) -> str:
    console = Console(file=io.StringIO(), width=400, force_terminal=False, legacy_windows=False)
    console.print(terminal(message, **more))
    return console.file.getvalue()


def test_every_word_of_a_root_and_an_entry_is_printed():
    renderer = Renderer(vocabulary=vocabulary.load())
    root = renderer.root(seeds.second_day(late=seeds.late()), seeds.style())
    (entry,) = renderer.entry(seeds.seed_entries()[0], seeds.style())
    shown = printed(root, replies=[entry])
    for line in (root.text + "\n" + entry.text).splitlines():
        assert line.removeprefix("- ") in shown


def test_the_builder_link_holds_the_blocks():
    (message,) = Renderer(vocabulary=vocabulary.load()).entry(seeds.seed_entries()[0], seeds.style())
    link, shown = builder_link(message.blocks)
    assert link is not None
    assert shown == len(message.blocks)
    address, _, payload = link.partition("#")
    assert address == "https://app.slack.com/block-kit-builder"
    assert json.loads(unquote(payload)) == {"blocks": list(message.blocks)}
    assert json.loads(as_json(message)) == {"text": message.text, "blocks": list(message.blocks)}


def test_escape_sequences_and_markup_of_a_digest_stay_characters():
    entry = Entry(
        id=1,
        repo="o/n",
        title="[red]x[/red] \x1b[31m",
        body="\x1b]8;;https://e\x07",
        revision=1,
        edition=seeds.DAYS[0],
    )
    (message,) = Renderer(vocabulary=vocabulary.load()).entry(entry, seeds.style())
    shown = printed(message)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "[red]x[/red]" in shown


def test_every_kind_of_message_can_be_printed():
    renderer = Renderer(vocabulary=vocabulary.load())
    for made in render_everything(renderer, seeds.style()):
        for message in made if isinstance(made, tuple) else (made,):
            if not isinstance(message, dict):
                assert printed(message)
