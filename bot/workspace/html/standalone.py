"""A page in one file that looks like a channel, for previews: no server, no script, nothing fetched."""

from __future__ import annotations

from importlib.resources import files

from bot.workspace.html.markup import Html, element, join, language, text

_SHEETS = ("theme.css", "blocks.css")


def standalone_page(title: str, *bodies: str) -> str:
    """Return a complete HTML document around bodies that this package rendered."""
    folder = files("bot.workspace").joinpath("page")
    # Our own style sheets, kept with the live page so that both look alike; they hold no "</style".
    style = Html("".join(folder.joinpath(name).read_text("utf-8") for name in _SHEETS))
    head = join(
        [
            Html('<meta charset="utf-8">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            element("title", None, text(title)),
            element("style", None, style),
        ]
    )
    heading = element("h1", {"class": "preview-title", "lang": language(title)}, text(title))
    content = element("main", {"class": "preview"}, heading, *(Html(body) for body in bodies))
    document = element("html", {"lang": "en"}, element("head", None, head), element("body", None, content))
    return "<!doctype html>\n" + document + "\n"
