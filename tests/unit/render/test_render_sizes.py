"""However many entries, days and channels there are, and however long their titles: one valid message, which counts the rest."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.model import Language, Verdict
from bot.render.messages import Renderer
from bot.render.views import CarriedGroup, CarriedLine, EditionView, HomeGroup, HomeView, RootLine, RootView
from bot.text import vocabulary
from tests.unit.render import nasty, seeds
from tests.unit.render.judges import judge, judge_view, links, walk

SLOW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
DAY = seeds.DAYS[1]
RENDERER = Renderer(vocabulary=vocabulary.load())

TITLES = st.one_of(
    st.text(max_size=400),
    st.lists(st.sampled_from(nasty.TOKENS), max_size=20).map("".join),
    st.sampled_from(("一条不长不短的标题", "&" * 1_000, "字" * 1_000, "👨‍👩‍👧" * 200, "word " * 200)),
)
LINKS = st.sampled_from((None, seeds.permalink(1), "https://example.com/" + "x" * 2_900))
COUNTS = st.sampled_from((0, 1, 2, 29, 30, 31, 100, 101, 2_734))


@st.composite
def some_lines(draw, counts=COUNTS):
    """Lines that differ in title, repository, verdict and link: a few kinds, by turns."""
    kinds = draw(st.lists(st.tuples(TITLES, TITLES, st.sampled_from((None, *Verdict)), LINKS), min_size=1, max_size=4))
    lines = [
        RootLine(entry_id=number, title=title, repo=repo or "o/n", verdict=verdict, link=link)
        for number, (title, repo, verdict, link) in enumerate(kinds)
    ]
    return tuple(replace(lines[number % len(lines)], entry_id=number) for number in range(draw(counts)))


@st.composite
def some_groups(draw):
    titles = draw(st.lists(TITLES, min_size=1, max_size=3))
    link = draw(LINKS)
    return tuple(
        CarriedGroup(
            day=DAY - timedelta(days=ago),
            link=link,
            lines=tuple(CarriedLine(title=titles[n % len(titles)], link=link) for n in range(lines)),
            changed=draw(st.integers(0, 3)),
        )
        for ago, lines in enumerate(draw(st.lists(st.sampled_from((1, 2, 11, 500)), max_size=30)))
    )


@SLOW
@given(
    lines=some_lines(),
    groups=some_groups(),
    every=st.integers(1, 5),
    folded=st.booleans(),
    language=st.sampled_from(list(Language)),
    several=st.booleans(),
)
def test_the_head_of_any_slot_is_valid(lines, groups, every, folded, language, several):
    view = RootView(
        local_date=DAY,
        lines=lines,
        carried=groups,
        repeated=tuple(range(1, len(lines) + 1, every)),
        editions=len(groups) + 2,
        skipped=len(lines),
        folded=folded,
        late=seeds.late(),
    )
    style = seeds.style(language, show_repo=several)
    judge(RENDERER.root(view, style))
    judge(RENDERER.compact(view, style))


@SLOW
@given(lines=some_lines(), total=st.integers(0, 5_000), channels=st.sampled_from((0, 1, 3, 25)))
def test_any_list_for_a_reader_is_valid(lines, total, channels):
    style = seeds.style()
    judge(RENDERER.edition(EditionView(day=DAY, lines=lines), style))
    judge(RENDERER.saved(lines, style, total=total))
    names = [f"C{number:03}" for number in range(channels)]
    groups = tuple(HomeGroup(channel_id=name, lines=lines) for name in names)
    view = HomeView(local_date=DAY, today=groups, saved=lines, saved_total=total)
    judge_view(RENDERER.home(view, style), mentions=frozenset(names))


def flood(count: int, title: str = "调度器在抢占之后归还预算，新请求不再饿死") -> tuple[RootLine, ...]:
    return tuple(
        RootLine(entry_id=number, title=f"{title} {number}", repo="acme/widgets") for number in range(1, count + 1)
    )


@pytest.mark.parametrize(("language", "words"), [(Language.ZH, "还有 2704 条"), (Language.EN, "2704 more")])
def test_thousands_of_entries_are_thirty_lines_and_the_number_of_the_rest(language, words):
    repeated = tuple(range(1, 2_735, 2))
    view = RootView(local_date=DAY, lines=flood(2_734), repeated=repeated, folded=True)
    message = RENDERER.compact(view, seeds.style(language))
    judge(message)
    assert len(re.findall(r"^\d+\. ", message.text, re.MULTILINE)) == 30
    assert words in message.text
    assert "1367" in message.text, "how many stand in two digests, not which"
    (menu,) = [one for one in walk(message.blocks) if one.get("type") == "static_select"]
    assert len(menu["options"]) >= 60
    assert all(len(option["text"]["text"]) <= 75 for option in menu["options"])


def test_many_earlier_days_are_counted_and_the_newest_are_listed():
    groups = tuple(
        CarriedGroup(
            day=DAY - timedelta(days=ago),
            link=seeds.permalink(ago),
            lines=tuple(CarriedLine(title=f"第 {ago} 天的第 {n} 条", link=seeds.permalink(n)) for n in range(1, 4)),
        )
        for ago in range(20, 0, -1)
    )
    message = RENDERER.root(RootView(local_date=DAY, lines=flood(2), carried=groups), seeds.style())
    judge(message)
    assert "另 45 条在更早的导读里发过，不再重发。" in message.text
    assert [day for day in range(1, 21) if f"第 {day} 天的第 1 条" in message.text] == [1, 2, 3, 4, 5]
    assert len(links(message)) == 5 * 4


def test_channels_beyond_what_a_home_tab_takes_are_counted():
    groups = tuple(HomeGroup(channel_id=f"C{number:03}", lines=flood(3)) for number in range(25))
    view = RENDERER.home(HomeView(local_date=DAY, today=groups, saved=()), seeds.style())
    texts = [one["text"] for one in walk(view["blocks"]) if one.get("type") == "text"]
    assert "还有 15 条" in texts


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize(
    ("piece", "times"),
    [
        ("`a` `b` `c` ", 4_000),
        ("tests/a.py #48017 ", 3_000),
        ("一句话，没有完。", 40_000),
        ("&", 80_000),
        ("1) `a`；2) #1；3) c。\n\n", 3_000),
    ],
)
def test_a_text_of_any_length_opens_in_a_window_and_says_where_its_rest_is(piece, times, language):
    entry = replace(seeds.seed_entries()[0], body=piece * times)
    view = RENDERER.modal(entry, seeds.style(language=language), saved=False, thread_link=seeds.permalink(1))
    judge_view(view)
    said = {Language.ZH: "其余见频道里的消息", Language.EN: "the rest is in the channel's messages"}[language]
    assert [said in str(block) for block in view["blocks"]].count(True) == 1
    assert said in str(view["blocks"][-3])


def test_a_text_that_fits_into_a_window_is_whole_and_says_nothing_more():
    entry = replace(seeds.seed_entries()[0], body="`a` `b` " * 800)
    view = RENDERER.modal(entry, seeds.style(), saved=False)
    judge_view(view)
    assert sum(one["text"] == "a" for one in walk(view["blocks"]) if one.get("type") == "text") == 800
    assert "放不下" not in str(view)
