"""The verb `digest-bot search`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import config_option, json_option, print_json, verb
from bot.cli.reading import archive_to_read

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from bot.model import Answer, Reading, Span


@verb("search", example="digest-bot search vllm rocm\ndigest-bot search 投机解码 --limit 3 --json", takes_dashes=True)
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Hits to print.")
@json_option
@config_option
def command(words: tuple[str, ...], limit: int, as_json: bool, config_path: Path) -> None:  # noqa: FBT001 - click's
    """Find past entries, as /digest does.

    A word with - before it must not be there: digest-bot search 缓存 -显存. One that is an option, too, goes behind --

    With --json, beside query, hits and more: total and total_more (counted to ten at least); hint (kind, value, text),
    what was not read as meant; relaxed, whether words were taken apart; readings, each way in which the words were
    looked for, the last one that of the hits (repo, relaxed, terms: word, and any_of with every form that means the
    same, as the index has it); and where nothing is found tried (word, count, more), each word alone, and near, other
    queries that do find something.
    """
    from bot.bootstrap.archive import open_answers

    query = " ".join(words)
    with archive_to_read(config_path) as archive:
        today = datetime.now(UTC).astimezone(archive.config.inbox.timezone).date()
        answer = open_answers(archive).search(query, channel=None, today=today, limit=limit)
    if as_json:
        print_json(_json(query, answer))
    else:
        _print(answer)


def _json(query: str, answer: Answer) -> dict[str, object]:
    return {
        "query": query,
        "hint": _hint_json(answer),
        "readings": [_reading(reading) for reading in answer.readings],
        "relaxed": answer.relaxed,
        "total": answer.total,
        "total_more": answer.total_more,
        "more": answer.more,
        "hits": [
            {
                "entry_id": hit.entry.id,
                "repo": hit.entry.repo,
                "title": hit.entry.title,
                "score": hit.score,
                "editions": [edition.isoformat() for edition in hit.entry.editions],
            }
            for hit in answer.hits
        ],
        "tried": [{"word": word.word, "count": word.count, "more": word.more} for word in answer.tried],
        "near": list(answer.near),
    }


def _hint_json(answer: Answer) -> dict[str, object] | None:
    query = answer.query
    return {"kind": query.hint.value, "value": query.hint_value, "text": _hint(answer)} if query.hint else None


def _reading(reading: Reading) -> dict[str, object]:
    from bot.text.tokens import spelt

    narrowed = reading.query.narrowed
    return {
        "repo": narrowed.word if narrowed else None,
        "relaxed": reading.relaxed,
        "terms": [
            {"word": term.word, "any_of": [" & ".join(map(spelt, form)) for form in term.alternatives]}
            for term in reading.query.terms
        ],
    }


def _hint(answer: Answer) -> str | None:
    """What was not read as it was meant."""
    from bot.model import QueryHint

    query = answer.query
    match query.hint:
        case QueryHint.UNKNOWN_QUALIFIER:
            return f"There is no {query.hint_value}: it was read as plain words."
        case QueryHint.UNKNOWN_VALUE:
            return f"{query.hint_value} means nothing here and was left out."
        case QueryHint.NO_VALUE:
            return f"{query.hint_value} wants a value, for example {_with_value(query.hint_value or '')}"
        case QueryHint.TOO_LONG:
            return "That is long; its end was left out."
        case QueryHint.EMPTY:
            return "There is nothing in it to search for."
        case _:
            return None


def _with_value(written: str) -> str:
    from bot.model import Language
    from bot.readers.qualifiers import kind_of
    from bot.render.words import Words

    return written + Words(Language.EN).say(f"value.{kind_of(written)}")


def _print(answer: Answer) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    hint = _hint(answer)
    if hint:
        console.print(Text(hint, style="dim"))
    if answer.relaxed:
        console.print(Text("Nothing has the words whole; these have their parts.", style="dim"))
    for hit in answer.hits:
        console.print(_marked(hit.entry.title, hit.title_matches, style="bold"))
        console.print(Text(f"{hit.entry.repo} · {hit.entry.edition.isoformat()}", style="dim"))
        if hit.snippet:
            console.print(_marked(hit.snippet.text, hit.snippet.matches))
        console.print()
    if answer.more:
        console.print("There are more: raise --limit.")
    if not answer.hits:
        _print_what_to_try(console, answer)


def _marked(text: str, matches: tuple[Span, ...], *, style: str = "") -> Text:
    from rich.text import Text

    marked = Text(text, style=style)
    for span in matches:
        marked.stylize("yellow", span.start, span.end)
    return marked


def _print_what_to_try(console: Console, answer: Answer) -> None:
    from rich.text import Text

    console.print("Nothing found.")
    for word in answer.tried:
        console.print(Text(f"  {word.word}: {word.count}{'+' if word.more else ''}"))
    for near in answer.near:
        console.print(Text(f"Did you mean: {near}"))
