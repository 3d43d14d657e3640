"""Faults people have reported about bots of this kind, group C (message format), with the right values.

17 one text over a limit: `test_17_*` here; whole messages of any size: `test_render_sizes.py`
19 more than fifty blocks: `test_19_*` here; thousands of entries at once: `tests/e2e/test_layouts.py`
21 `<...>`, `|` and `>` in a title: `test_21_*`
22 `<!channel>` and `<@U...>` in a digest: `test_22_*`
23 code and emphasis beside Chinese: `test_23_*`
24 `*`, `_` and `~` in data: `test_24_*`
27 quotes and line breaks in a template's value: `test_27_*`; any value in any place: `test_render_properties.py`
"""

from __future__ import annotations

import json
from datetime import date

import pytest

from bot.model import Answer, AnswerHit, Entry, EntryQuery, Extraction, Language, Snippet, Span, Verdict
from bot.render.messages import Renderer
from bot.render.views import CarriedGroup, CarriedLine, EditionView, Place, RootLine, RootView
from bot.text import vocabulary
from bot.text.spans import parse, parse_inline, plain
from tests.unit.render.judges import judge, judge_view, links, shown, squeezed, walk
from tests.unit.render.seeds import style

DAY = date(2026, 12, 1)


@pytest.fixture(scope="module")
def renderer():
    return Renderer(vocabulary=vocabulary.load())


def entry(title="标题", body="正文。", **more) -> Entry:
    return Entry(**{"id": 1, "repo": "o/n", "title": title, "body": body, "revision": 1, "edition": DAY, **more})


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("标题", "中" * 3_001),
        ("标题", "中" * 30_001),
        ("题" * 151, "正文"),
        ("题" * 5_000, "正文"),
        ("标题", "&" * 1_000),
        ("&" * 151, "<" * 5_000),
        ("标题", "`" + "c" * 9_000 + "`"),
        ("标题", "`a` b " * 2_000),
        ("标题", "[" + "l" * 5_000 + "](https://example.com/" + "u" * 2_900 + ")"),
        ("标题", "https://example.com/" + "u" * 5_000),
        ("标题", "#48017 " * 1_500),
        ("标题", "👨‍👩‍👧" * 1_500),
    ],
)
def test_17_a_text_over_every_limit_is_split_and_complete(renderer, title, body):
    parts = renderer.entry(entry(title, body), style(cut_at=None))
    for part in parts:
        judge(part)
    words = vocabulary.load()
    assert shown(parts) == squeezed(plain(parse_inline(title, vocabulary=words)) + plain(parse(body, vocabulary=words)))


def test_17_a_message_is_valid_wherever_a_long_title_stands(renderer):
    long = entry("&" * 500, "x")
    line = RootLine(entry_id=1, title=long.title, repo="o/n", link="https://e.com/1")
    judge(renderer.root(RootView(local_date=DAY, lines=(line,) * 31), style()))
    judge(renderer.compact(RootView(local_date=DAY, lines=(line,) * 31), style()))
    judge_view(renderer.modal(long, style(), saved=False))


def test_19_forty_hits_of_three_blocks_fit_and_every_one_is_there(renderer):
    hits = tuple(
        AnswerHit(
            entry=entry(f"命中 {number}", id=number),
            score=1.0,
            snippet=Snippet(text="一句话", matches=(Span(start=0, end=1),), cut_before=True, cut_after=True),
        )
        for number in range(40)
    )
    pages = [
        renderer.search(
            Answer(query=EntryQuery(text="命中"), hits=hits[at : at + 5], offset=at, total=40, more=at < 35),
            style(),
        )
        for at in range(0, 40, 5)
    ]
    for page in pages:
        judge(page)
        assert len(page.blocks) <= 50
    read = " ".join(page.text for page in pages)
    assert all(f"{number + 1}. 命中 {number} " in read for number in range(40))
    states = [
        json.loads(one["value"]) for page in pages for one in walk(page.blocks) if one.get("action_id") == "search_next"
    ]
    assert [state["from"] for state in states] == [5, 10, 15, 20, 25, 30, 35]


def test_19_more_than_thirty_lines_say_how_many_more(renderer):
    lines = tuple(RootLine(entry_id=n, title=f"条目 {n}", repo="o/n") for n in range(45))
    carried = CarriedGroup(day=DAY, link=None, lines=tuple(CarriedLine(title=f"旧 {n}") for n in range(14)))
    message = renderer.root(RootView(local_date=DAY, lines=lines, carried=(carried,)), style())
    judge(message)
    assert "30. 条目 29\n还有 15 条" in message.text
    assert "- 旧 9\n- 还有 4 条" in message.text


@pytest.mark.parametrize(
    "title", ["Add HashMap<K, V> & fix a->b", "<https://evil.example|点我>", "a|b", "x\ny", "<!channel>"]
)
def test_21_a_title_is_literal_and_links_only_to_its_own_address(renderer, title):
    (message,) = renderer.entry(entry(title, url="https://github.com/o/n/pull/1?a=1&b=<2>|3"), style())
    judge(message)
    assert squeezed("".join(label for label, _ in links(message))) == squeezed(title)
    assert {url for _, url in links(message)} == {"https://github.com/o/n/pull/1?a=1&b=<2>|3"}
    line = RootLine(entry_id=1, title=title, repo="o/n", link="https://acme.slack.com/archives/C/p1")
    judge(renderer.root(RootView(local_date=DAY, lines=(line, line)), style()))


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "https://e.com/" + "x" * 3_000, ""])
def test_21_an_address_that_cannot_be_a_link_is_none(renderer, url):
    (message,) = renderer.entry(entry(url=url), style())
    judge(message)
    assert links(message) == []


SUMMONS = "请 <!channel> 看 <@U012ABC> <!subteam^S01> @here <!date^1^{date}|x> <#C012>"


def test_22_nothing_from_a_digest_calls_anybody(renderer):
    nasty = entry(SUMMONS, SUMMONS)
    line = RootLine(entry_id=1, title=SUMMONS, repo=SUMMONS)
    answer = Answer(query=EntryQuery(text=SUMMONS), hits=(AnswerHit(entry=nasty, score=1.0),), total=1)
    for language in Language:
        how = style(language, show_repo=True)
        for message in (
            *renderer.entry(nasty, how),
            renderer.root(RootView(local_date=DAY, lines=(line, line)), how),
            renderer.compact(RootView(local_date=DAY, lines=(line,)), how),
            renderer.search(answer, how, places={1: Place(link="https://e.com")}),
            renderer.search(Answer(query=EntryQuery(text=SUMMONS)), how),
            renderer.edition(EditionView(day=DAY, lines=(line,)), how),
            renderer.saved((line,), how),
            renderer.sentence("saved", how, title=SUMMONS),
            renderer.alert(SUMMONS, how),
        ):
            judge(message)
            assert "&lt;!channel&gt;" in message.text
        judge_view(renderer.modal(nasty, how, saved=False))


def test_22_a_share_names_the_sharer_and_nobody_else(renderer):
    (message,) = renderer.shared(entry(SUMMONS), style(), user_id="U0ME", user_name="<!here>", comment=SUMMONS)
    judge(message, mentions=frozenset({"U0ME"}))
    assert message.text.startswith("@&lt;!here&gt; 分享了一条导读：请 &lt;!channel&gt;")


def test_23_code_and_emphasis_beside_chinese_are_shown_as_such(renderer):
    (message,) = renderer.entry(entry(body="重构`kv_cache`调度，**重点**看锁"), style())
    pieces = [one for one in walk(message.blocks) if one.get("type") == "text"][1:]
    assert [(one["text"], one.get("style")) for one in pieces] == [
        ("\n重构", None),
        ("kv_cache", {"code": True}),
        ("调度，", None),
        ("重点", {"bold": True}),
        ("看锁", None),
    ]


def test_24_characters_of_data_are_never_markup(renderer):
    title, body = "cron */5 * * * * 支持", "use __init__ and a_b ~x~ > y *z* _q_ ＊＿｀＞"
    (message,) = renderer.entry(entry(title, body), style())
    judge(message)
    assert shown([message]) == squeezed(title + body)
    assert not [one for one in walk(message.blocks) if {"italic", "strike"} & set(one.get("style", ()))]


def test_27_values_are_serialised_never_pasted(renderer):
    title, body = '修复 "KV cache" C:\\tmp', 'tab\t"quote" {{ 7*7 }} {% raw %} {# no #}\n第二行 \u2028 end'
    (message,) = renderer.entry(entry(title, body), style())
    judge(message)
    assert shown([message]) == squeezed(title + body)
    assert "{{ 7*7 }}" in message.text


@pytest.mark.parametrize("blank", ["", " ", "\u3000", "\u200b\ufeff", "\n\t"])
def test_a_blank_title_or_text_still_gives_a_message(renderer, blank):
    for title, body in ((blank, "正文"), ("标题", blank), (blank, blank)):
        for language in Language:
            (message,) = renderer.entry(entry(title, body), style(language))
            judge(message)


def test_a_verdict_that_is_not_in_the_text_begins_the_paragraph(renderer):
    known = Extraction(verdict=Verdict.MUST_READ)
    (message,) = renderer.entry(entry(extraction=known), style())
    assert message.text == "标题\n精读 正文。"


def test_a_repository_s_name_stands_before_the_title_where_there_are_several(renderer):
    (message,) = renderer.entry(entry(repo="vllm-project/vllm"), style(show_repo=True))
    assert message.text == "vllm · 标题\n正文。"


def test_several_repositories_have_their_names_over_their_lists(renderer):
    lines = tuple(RootLine(entry_id=n, title=f"条目 {n}", repo=f"o/{'ab'[n // 2]}") for n in range(4))
    message = renderer.root(RootView(local_date=DAY, lines=lines, repeated=(1, 2, 4)), style())
    judge(message)
    assert message.text.splitlines() == [
        "a、b 导读 · 12月1日 周二",
        "4 条",
        "a",
        "1. 条目 0",
        "2. 条目 1",
        "b",
        "3. 条目 2",
        "4. 条目 3",
        "第 1、2、4 条在两期导读里都有，只发一次。",
    ]


def test_a_long_query_still_turns_the_page(renderer):
    query = "很长的 & 查询 " * 400
    answer = Answer(
        query=EntryQuery(text=query),
        hits=(AnswerHit(entry=entry(), score=1.0),),
        total=9,
        more=True,
        total_more=True,
    )
    message = renderer.search(answer, style())
    judge(message)
    (state,) = (json.loads(one["value"]) for one in walk(message.blocks) if one.get("action_id") == "search_next")
    assert query.startswith(state["q"])
    assert len(state["q"]) > 100
    assert "9+ 条" in message.text
