"""The nastiest entry that a digest could hold, and a message of every kind made from it: for checking templates."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from bot.errors import MessageInvalid, TemplateError
from bot.model import (
    Answer,
    AnswerHit,
    Entry,
    EntryQuery,
    Extraction,
    Language,
    Snippet,
    Span,
    Verdict,
    WordCount,
)
from bot.render.messages import Renderer
from bot.render.views import (
    CarriedGroup,
    CarriedLine,
    Change,
    Edited,
    EditionView,
    HelpView,
    HomeGroup,
    HomeView,
    Late,
    Place,
    RootLine,
    RootView,
    Style,
)
from bot.text.vocabulary import Vocabulary

_DAY: Final = date(2026, 12, 1)
_NASTY: Final = (
    '"引号" \\ {{ 7*7 }} {% raw %} <!channel> <@U012ABC> <https://evil.example|点我> a|b & `kv_cache` *x* _y_ ~z~ '
    "C:\\tmp \t👨‍👩‍👧🇨🇳e\u0301 \u202e\u200b \u2028 #48017 tests/a.py 1) 一；2) 二；3) 三。"
)
_LINK: Final = "https://example.slack.com/archives/C0SAMPLE/p1796086800000100"


def sample_entries() -> tuple[Entry, ...]:
    """A nasty entry, one that is far too long, one that is nearly empty."""
    nasty = Entry(
        id=2**53,
        repo="owner/name-with_everything.in-it",
        title=_NASTY,
        body="值得精读。" + _NASTY,
        revision=3,
        edition=_DAY,
        editions=(_DAY, date(2026, 12, 2)),
        url="https://example.com/?a=b&c=<d>|e",
        extraction=Extraction(
            verdict=Verdict.MUST_READ,
            verdict_span=Span(start=0, end=4),
            audience=("维护者", _NASTY),
            topics=("rocm",),
            pull_requests=("#48017",),
        ),
    )
    long = Entry(
        id=2,
        repo="o/" + "n" * 100,
        title="标题很长 & 没有完" * 150,
        body=("很长的一句话 & `code_word`，没有完。" * 12 + "\n\n") * 40,
        revision=1,
        edition=_DAY,
        extraction=Extraction(verdict=Verdict.SKIM),
    )
    empty = Entry(id=3, repo="o/n", title="\u200b", body="\u3000", revision=1, edition=_DAY)
    return nasty, long, empty


def check_templates(folder: Path | None, *, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The faults of the templates in `folder` (and of the built-in ones), each with template, line and block.

    Every template is rendered with the nastiest entries, in every language. Nothing is raised.
    """
    faults: dict[str, None] = {}

    def report(template: str, reason: str) -> None:
        faults.setdefault(reason if reason.startswith(template) else f"{template}: {reason}")

    renderer = Renderer(vocabulary=vocabulary, on_fallback=report)
    for language in Language:
        for repo in (False, True):
            style = Style(language=language, show_repo=repo, templates_dir=folder)
            try:
                for _ in render_everything(renderer, style):
                    pass
            except (MessageInvalid, TemplateError) as error:
                report("built-in", str(error))
    return tuple(faults)


def render_everything(renderer: Renderer, style: Style) -> Iterator[object]:
    """One message or view of every kind, from the samples."""
    entries = sample_entries()
    lines = tuple(
        RootLine(
            entry_id=entry.id,
            title=entry.title,
            repo=entry.repo,
            verdict=entry.extraction.verdict,
            link=_LINK,
        )
        for entry in entries
    )
    now = datetime(2026, 12, 2, 1, tzinfo=UTC)
    carried = CarriedGroup(
        day=_DAY,
        link=_LINK,
        lines=tuple(CarriedLine(title=line.title, link=_LINK) for line in lines * 5),
        changed=2,
    )
    view = RootView(
        local_date=_DAY,
        lines=lines * 20,
        carried=(carried, carried),
        repeated=(1, 3, 4, 5),
        late=Late(due=now, posted=now),
        skipped=7,
        folded=True,
    )
    yield renderer.root(view, style)
    yield renderer.compact(view, style)
    yield renderer.root(RootView(local_date=_DAY, lines=lines[:1]), style)
    uncut = Style(language=style.language, show_repo=style.show_repo, templates_dir=style.templates_dir, cut_at=None)
    for entry in entries:
        for kind in (style, uncut):
            yield renderer.entry(entry, kind, edited=Edited(at=now, what=Change.BOTH), overtaken=True)
        yield renderer.shared(entry, style, user_id="U1", user_name="<!here>", comment=_NASTY * 30)
        for saved in (False, True):
            yield renderer.modal(entry, style, saved=saved, thread_link=_LINK, share_to="C1")
        yield renderer.share_form(entry, style, channel_id="C1")
    # Short enough to be whole, long enough to be cut.
    middle = "一句 & 话。" * 60
    yield renderer.entry(
        Entry(id=4, repo="o/n", title=_NASTY, body=_NASTY + middle, revision=1, edition=_DAY),
        Style(language=style.language, templates_dir=style.templates_dir, cut_at=200),
    )
    yield from _answers(renderer, style, entries, lines)


def _answers(
    renderer: Renderer, style: Style, entries: tuple[Entry, ...], lines: tuple[RootLine, ...]
) -> Iterator[object]:
    snippet = Snippet(text=_NASTY * 3, matches=(Span(start=1, end=3),), cut_before=True, cut_after=True)
    hits = tuple(AnswerHit(entry=entry, score=1.0, snippet=snippet) for entry in entries)
    query = EntryQuery(text=_NASTY * 20)
    places = {entry.id: Place(link=_LINK, replies=3, reactions=1) for entry in entries}
    answer = Answer(query=query, hits=hits, total=10, total_more=True, more=True)
    page = renderer.search(answer, style, places=places)
    yield page
    yield renderer.search(Answer(query=query, hits=hits[:1], total=1, relaxed=True), style)
    tried = tuple(WordCount(word=_NASTY, count=count) for count in (0, 1))
    yield renderer.search(Answer(query=query, tried=tried, near=(_NASTY, "x")), style)
    yield renderer.search_modal(style, query=_NASTY, answer=page)
    yield renderer.help(HelpView(words=_NASTY, days=("today", "2026-11-30")), style)
    yield renderer.edition(EditionView(day=_DAY, lines=lines * 20), style)
    yield renderer.edition(EditionView(day=_DAY, lines=()), style)
    yield renderer.saved(lines * 20, style, total=100)
    yield renderer.saved((), style)
    groups = (HomeGroup(channel_id="C1", lines=lines * 5),)
    yield renderer.home(HomeView(local_date=_DAY, today=groups, saved=lines * 5, saved_total=99), style)
    yield renderer.home(HomeView(local_date=_DAY, today=(), saved=()), style)
    yield renderer.empty(_DAY, style)
    yield renderer.alert(_NASTY * 99, style)
    yield renderer.sentence("saved", style, title=_NASTY * 99)
    yield renderer.verdict_changed(None, Verdict.SKIP, style)
    yield renderer.verdict_changed(Verdict.SKIM, None, style, named=lines[0])
    yield renderer.text_changed(style)
    yield renderer.text_changed(style, named=lines[0])
    yield renderer.text_ended(style)
