"""Texts that are meant to break a message: shared by the property tests and the fuzzer."""

from __future__ import annotations

import random

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
from bot.render.limits import is_blank
from bot.render.messages import Renderer
from bot.render.views import (
    CarriedGroup,
    CarriedLine,
    Change,
    Edited,
    EditionView,
    HomeGroup,
    HomeView,
    Place,
    RootLine,
    RootView,
    Style,
)
from bot.text.spans import parse, parse_inline, plain
from tests.unit.render import seeds
from tests.unit.render.judges import judge, judge_view, shown, squeezed

TOKENS = (
    *"`*_~<>|&@#:/\\\"'{}[]()%$\n\t ，。；：！？、「」“”（）＊｀\u3000\u200b\u200d\ufeff\u2028\x00\x7f\u202e\ud800",
    *("`", "``", "**", "~~", "{{", "}}", "{%", "%}", "{#", "#}", "\r\n", "\n\n", "${", "]]>", "-->"),
    *("<!channel>", "<@U012ABC>", "<!subteam^S01>", "<#C01>", "@here", "&amp;", "&lt;", ":smile:"),
    *(
        "https://example.com/a?b=c",
        "http://",
        "[文](https://e.com)",
        "[x](javascript:1)",
        "#48017",
        "owner/repo#12",
    ),
    *(
        "tests/v1/e2e/utils.py",
        "vllm.py",
        "input_budget",
        "schedule()",
        "--flag",
        "A::b",
        "FlashAttention",
        "1.2/3",
    ),
    *("1) ", "2) ", "3) ", "；", "值得精读", "建议阅读", "-55%~-65%", "+54/-24", "显存", "中文", "word", "x"),
    *(
        "👨‍👩‍👧",
        "🇨🇳",
        "e\u0301",
        "👍🏽",
        "1️⃣",
        "\u0301",
        "각",
        "字" * 200,
        "&" * 200,
        "w" * 300,
        "长句子。" * 80,
    ),
)
LETTERS = ("a", "字", "\U0001f600", "\u0e33", "\U000e0041", "\uffff", "\x1b", "\x85", "<", "&", '"', "\\")


def text(chance: random.Random, most: int = 40) -> str:
    """Tokens and stray characters, sometimes very many."""
    length = chance.choice((0, 1, 3, most // 4, most, most * (20 if chance.random() < 0.02 else 1)))
    return "".join(chance.choice(TOKENS) if chance.random() < 0.8 else chance.choice(LETTERS) for _ in range(length))


def render_all(renderer: Renderer, vocabulary, title: str, body: str, chance: random.Random) -> None:
    """Every kind of message with these texts in every place, before every judge. Raises AssertionError or worse."""
    language = chance.choice(list(Language))
    how = seeds.style(language, cut_at=chance.choice((None, 1, 140, 600)), show_repo=chance.random() < 0.5)
    start = chance.randrange(len(body) + 1)
    entry = Entry(
        id=chance.randrange(1, 2**63),
        repo=chance.choice(("o/n", title or "o/n")),
        title=title,
        body=body,
        revision=1,
        edition=seeds.DAYS[0],
        editions=seeds.DAYS,
        url=chance.choice((None, "https://e.com/?a&b<c>", body)),
        extraction=Extraction(
            verdict=chance.choice((None, *Verdict)),
            verdict_span=chance.choice((None, Span(start=start, end=min(len(body), start + 4)))),
        ),
    )
    for part in renderer.entry(entry, seeds.style(language, cut_at=None)):
        judge(part)
    _all_is_shown(renderer, vocabulary, entry, language)
    kinds = (_entry, _heads, _lists, _search, _sentences)
    for kind in chance.sample(kinds, 2):
        kind(renderer, entry, how, chance)


def _entry(renderer: Renderer, entry: Entry, how: Style, chance: random.Random) -> None:
    edited = chance.choice((None, Edited(at=seeds.late().posted, what=Change.BOTH)))
    for part in renderer.entry(entry, how, edited=edited, overtaken=chance.random() < 0.5):
        judge(part)
    for part in renderer.shared(entry, how, user_id="U1", user_name=entry.title, comment=entry.body):
        judge(part, mentions=frozenset({"U1"}))
    judge_view(renderer.modal(entry, how, saved=True, thread_link=chance.choice((None, "https://e.com"))))
    judge_view(renderer.share_form(entry, how, channel_id="C1"), mentions=frozenset({"C1"}))


def _lines(entry: Entry, chance: random.Random) -> tuple[RootLine, ...]:
    return tuple(
        RootLine(entry_id=n, title=entry.title, repo=entry.repo, verdict=entry.extraction.verdict, link=entry.url)
        for n in range(chance.choice((1, 2, 7, 31)))
    )


def _heads(renderer: Renderer, entry: Entry, how: Style, chance: random.Random) -> None:
    carried = CarriedGroup(day=seeds.DAYS[0], link=entry.url, lines=(CarriedLine(title=entry.title, link=entry.body),))
    lines = _lines(entry, chance)
    view = RootView(local_date=seeds.DAYS[1], lines=lines, carried=(carried,), repeated=(1,))
    judge(renderer.root(view, how))
    judge(renderer.compact(view, how))


def _lists(renderer: Renderer, entry: Entry, how: Style, chance: random.Random) -> None:
    lines = _lines(entry, chance)
    judge(renderer.edition(EditionView(day=seeds.DAYS[0], lines=lines), how))
    judge(renderer.saved(lines, how))
    groups = (HomeGroup(channel_id="C1", lines=lines),)
    view = HomeView(local_date=seeds.DAYS[0], today=groups, saved=lines)
    judge_view(renderer.home(view, how), mentions=frozenset({"C1"}))


def _search(renderer: Renderer, entry: Entry, how: Style, chance: random.Random) -> None:
    start = chance.randrange(len(entry.body) + 1)
    snippet = Snippet(text=entry.body, matches=(Span(start=start, end=start + 2),), cut_before=True, cut_after=False)
    hit = AnswerHit(entry=entry, score=1.0, snippet=snippet)
    query = EntryQuery(text=entry.title)
    more, offset = chance.random() < 0.5, chance.choice((0, 5))
    answer = Answer(query=query, hits=(hit,) * 3, total=3, more=more, offset=offset)
    found = renderer.search(answer, how, places={entry.id: Place(link=entry.url, replies=1)})
    judge(found)
    judge_view(renderer.search_modal(how, query=entry.body, answer=found))
    tried = (WordCount(word=entry.title, count=0), WordCount(word=entry.body, count=3, more=True))
    judge(renderer.search(Answer(query=query, tried=tried, near=(entry.body, entry.title)), how))


def _sentences(renderer: Renderer, entry: Entry, how: Style, chance: random.Random) -> None:
    judge(renderer.sentence("saved", how, title=entry.title))
    judge(renderer.alert(entry.body, how))


def _all_is_shown(renderer: Renderer, vocabulary, entry: Entry, language: Language) -> None:
    """The visible characters of an entry are those of its text with the markers gone."""
    bare = Entry(id=1, repo="o/n", title=entry.title, body=entry.body, revision=1, edition=entry.edition)
    parts = renderer.entry(bare, seeds.style(language, cut_at=None))
    title = plain(parse_inline(entry.title, repo="o/n", vocabulary=vocabulary))
    body = plain(parse(entry.body, repo="o/n", vocabulary=vocabulary), numbers=False)
    expected = squeezed(title + body)
    if not is_blank(entry.title) and not is_blank(entry.body):
        assert shown(parts) == expected.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
