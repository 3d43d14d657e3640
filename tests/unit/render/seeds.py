"""The twelve entries of the two seed digests, and the views that the message design shows of them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.ingest.extract import extract
from bot.ingest.parse import parse
from bot.model import (
    Answer,
    AnswerHit,
    Entry,
    EntryQuery,
    Language,
    Order,
    Snippet,
    Span,
    WordCount,
)
from bot.render.views import CarriedGroup, CarriedLine, Late, Place, RootLine, RootView, Style
from bot.text import vocabulary

ROOT = Path(__file__).parents[3]
DAYS = (date(2026, 12, 1), date(2026, 12, 2))
FILES = ("000_382cd8b32110c293.txt", "001_4f63b06047f4c719.txt")
SHANGHAI = ZoneInfo("Asia/Shanghai")


def style(language: Language = Language.ZH, **changes) -> Style:
    return Style(language=language, **{"zone": SHANGHAI, **changes})


def seed_entries() -> list[Entry]:
    return list(_seed_entries())


@cache
def _seed_entries() -> tuple[Entry, ...]:
    words = vocabulary.load()
    found: dict[str, Entry] = {}
    for name, day in zip(FILES, DAYS, strict=True):
        for parsed in parse((ROOT / "seeds" / name).read_bytes(), name=name).entries:
            earlier = found.get(parsed.title)
            found[parsed.title] = Entry(
                id=earlier.id if earlier else len(found) + 1,
                repo=parsed.repo,
                title=parsed.title,
                body=parsed.body,
                revision=1,
                edition=earlier.edition if earlier else day,
                editions=(*earlier.editions, day) if earlier else (day,),
                extraction=extract(parsed.title, parsed.body, vocabulary=words),
            )
    return tuple(found.values())


def permalink(entry_id: int) -> str:
    """The placeholders of the design: entries 1-8 on the first day, 9-12 on the second."""
    day = 1796086800 if entry_id <= 8 else 1796173196
    return f"https://acme.slack.com/archives/C0VLLM/p{day + entry_id}000100"


def lines(numbers, *, linked: bool = False) -> tuple[RootLine, ...]:
    entries = {entry.id: entry for entry in seed_entries()}
    return tuple(
        RootLine(
            entry_id=number,
            title=entries[number].title,
            repo=entries[number].repo,
            verdict=entries[number].extraction.verdict,
            link=permalink(number) if linked else None,
        )
        for number in numbers
    )


def first_day(**changes) -> RootView:
    return RootView(**{"local_date": DAYS[0], "lines": lines(range(1, 9)), **changes})


def carried() -> CarriedGroup:
    return CarriedGroup(
        day=DAYS[0],
        link="https://acme.slack.com/archives/C0VLLM/p1796086800000100",
        lines=tuple(CarriedLine(title=line.title, link=permalink(line.entry_id)) for line in lines(range(5, 9))),
    )


def second_day(**changes) -> RootView:
    return RootView(**{"local_date": DAYS[1], "lines": lines(range(9, 13)), "carried": (carried(),), **changes})


def late() -> Late:
    return Late(
        due=datetime(2026, 12, 1, 1, 0, tzinfo=UTC),
        posted=datetime(2026, 12, 1, 2, 12, tzinfo=UTC),
    )


def hit(number: int, words: str = "", passage: str = "") -> AnswerHit:
    entry = seed_entries()[number - 1]
    snippet = None
    if passage:
        start = passage.index(words)
        snippet = Snippet(
            text=passage,
            matches=(Span(start=start, end=start + len(words)),),
            cut_before=True,
            cut_after=True,
        )
    return AnswerHit(entry=entry, score=1.0, snippet=snippet)


def answer(query: str, hits, **changes) -> Answer:
    query_value = EntryQuery(text=query, order=Order.NEW)
    return Answer(query=query_value, hits=tuple(hits), **{"total": len(hits), **changes})


def five_of_eight() -> Answer:
    return answer(
        "vllm 修复",
        [
            hit(12, "修复", "一个 upstream issue 修复后及时回退本地 workaround"),
            hit(11),
            hit(9),
            hit(7, "修复", "尤其是评审中 SSRF 问题的发现与修复过程：它示范了「新入口复用时必须继承"),
            hit(6),
        ],
        total=8,
        more=True,
    )


def two_hits() -> Answer:
    return answer(
        "vllm rocm",
        [hit(8, "ROCm", "以及如何在测试代码中做平台差异化（ROCm 的 AITER/FlashAttention"), hit(4)],
    )


def no_hits() -> Answer:
    return answer("vllm xpu", [], tried=(WordCount(word="vllm", count=12), WordCount(word="xpu", count=0)))


def places(found: Answer) -> dict[int, Place]:
    return {one.entry.id: Place(link=permalink(one.entry.id)) for one in found.hits}
