"""A digest file as a channel would get it: its messages, made without a database, a token or a network."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from bot.bootstrap.archive import load_vocabulary
from bot.bootstrap.policies import channel_style, render_style
from bot.config import ChannelConfig, Config
from bot.ingest.extract import extract
from bot.ingest.names import edition_from_name
from bot.ingest.parse import parse
from bot.model import Entry, Language, Layout, Message, Problem
from bot.render.messages import Renderer
from bot.render.templates import Fallback
from bot.render.views import RootLine, RootView, Style


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A message of the channel, and what follows in its thread."""

    message: Message
    replies: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A file as a channel would get it; nothing where the file does not fit."""

    posts: tuple[Post, ...] = ()
    problems: tuple[Problem, ...] = ()


def preview(
    data: bytes,
    *,
    name: str,
    config: Config,
    language: Language | None = None,
    layout: Layout | None = None,
    on_fallback: Fallback | None = None,
) -> Preview:
    """Make the messages of all entries of a file in the style of the first configured channel.

    `language` and `layout` go before that channel's. Raises MessageInvalid only for a fault of ours.
    """
    channel = config.channels[0] if config.channels else ChannelConfig(channel="#preview")
    changed = {"language": language or channel.language, "layout": layout or channel.layout}
    channel = channel.model_copy(update=changed)
    document = parse(data, name=name)
    if document.problems:
        return Preview(problems=document.problems)
    vocabulary = load_vocabulary(config)
    renderer = Renderer(vocabulary=vocabulary, on_fallback=on_fallback)
    day = document.edition or edition_from_name(name) or datetime.now(UTC).astimezone(channel.schedule.timezone).date()
    entries = [
        Entry(
            id=number,
            repo=parsed.repo,
            title=parsed.title,
            body=parsed.body,
            revision=1,
            edition=day,
            editions=(day,),
            url=parsed.url,
            extraction=extract(parsed.title, parsed.body, vocabulary=vocabulary, repo=parsed.repo),
        )
        for number, parsed in enumerate(document.entries, start=1)
    ]
    several = len({entry.repo for entry in entries}) > 1
    style = render_style(channel_style(config, channel, many_repos=several))
    return Preview(posts=_posts(renderer, style, day, entries, most=channel.max_messages))


def _posts(renderer: Renderer, style: Style, day: date, entries: list[Entry], *, most: int) -> tuple[Post, ...]:
    folded = len(entries) > most
    view = RootView(local_date=day, lines=tuple(_line(entry) for entry in entries), folded=folded)
    compact = folded or style.layout is Layout.COMPACT
    root = renderer.compact(view, style) if compact else renderer.root(view, style)
    if folded:
        return (Post(message=root),)
    made = [renderer.entry(entry, style) for entry in entries]
    if style.layout is not Layout.CHANNEL:
        return (Post(message=root, replies=tuple(part for parts in made for part in parts)),)
    return (Post(message=root), *(Post(message=first, replies=tuple(rest)) for first, *rest in made))


def _line(entry: Entry) -> RootLine:
    return RootLine(entry_id=entry.id, title=entry.title, repo=entry.repo, verdict=entry.extraction.verdict)
