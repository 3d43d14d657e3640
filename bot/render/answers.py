"""What one reader is answered: hits, nothing found, help, an edition, what they have saved."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final

from bot.errors import MessageInvalid
from bot.model import Answer, AnswerHit, Message, Order, Snippet, WordCount
from bot.render import limits
from bot.render.heads import count
from bot.render.kit import Kit, repo_name
from bot.render.pieces import Element, Pieces, bold, code, inline, numbered, section, text_piece
from bot.render.split import ceiling, shorten
from bot.render.views import EditionView, HelpView, Place, RootLine

_QUERY: Final = 200
"""A longer query is shown shortened."""
_TITLE: Final = 150
_SNIPPET: Final = 240
_LIST_SIZES: Final = ((30, 150), (30, 60), (15, 60), (5, 40))
_WORDS: Final = 10


def search_state(query: str, *, start: int) -> str:
    """The value of the button that turns the page: a JSON object, at most as long as a button's value may be.

    The query is shortened if it must be; it then finds what its first words find.
    """
    kept = query
    while True:
        state = json.dumps({"q": kept, "from": start}, ensure_ascii=False)
        over = limits.measure(state) - limits.BUTTON_VALUE
        if over <= 0:
            return state
        kept = kept[: ceiling(kept, limits.measure(kept) - max(over, 1))]


def read_search_state(value: str) -> tuple[str, int]:
    """The query and the start that `search_state` wrote. Raises ValueError for anything else."""
    state = json.loads(value)
    if not isinstance(state, dict) or not isinstance(state.get("q"), str) or type(state.get("from")) is not int:
        raise ValueError("not a state of the search")
    return state["q"], state["from"]


def search(kit: Kit, answer: Answer, places: Mapping[int, Place], *, today: date | None = None) -> Message:
    """One page of hits; `nothing` where there is none. Dates of other years than today's show theirs."""
    if not answer.hits:
        return nothing(kit, answer)
    listed = numbered([_hit(kit, answer, hit, places.get(hit.entry.id, Place()), today) for hit in answer.hits])
    if listed is not None and answer.offset:
        listed["offset"] = answer.offset
    options = kit.options([(hit.entry.title, hit.entry.id) for hit in answer.hits])
    last = answer.offset + len(answer.hits)
    following = answer.total - last
    values = {
        "head": _head(kit, answer),
        "hits": listed,
        "pick": kit.words.say("pick"),
        "options": options,
        "only": kit.words.say("full") if len(options) == 1 else "",
        "next": "",
        "state": "",
    }
    if answer.more:
        page = len(answer.hits)
        step = page if following <= 0 or answer.total_more else min(page, following)
        values["next"] = kit.words.count("next", step)
        values["state"] = search_state(answer.query.text, start=last)
    return kit.message("search", values)


def _head(kit: Kit, answer: Answer) -> list[Element]:
    query = _code(answer.query.text)
    total = max(answer.total, answer.offset + len(answer.hits))
    shown = f"{total}+" if answer.total_more else str(total)
    form = total + 1 if answer.total_more else total
    first, last = answer.offset + 1, answer.offset + len(answer.hits)
    key = "relaxed" if answer.relaxed else "found"
    if answer.offset:
        return kit.words.count_pieces(f"{key}_page", form, shown=shown, query=query, first=str(first), last=str(last))
    if answer.relaxed:
        return kit.words.count_pieces("relaxed", form, shown=shown, query=query)
    order = "new" if answer.query.order is Order.NEW else "best"
    if total > last or answer.total_more:
        return kit.words.count_pieces(f"found_first.{order}", form, shown=shown, query=query, at_first=str(last))
    return kit.words.count_pieces(f"found.{order}", form, shown=shown, query=query)


def _hit(kit: Kit, answer: Answer, hit: AnswerHit, place: Place, today: date | None) -> list[Element]:
    entry = hit.entry
    line = RootLine(
        entry_id=entry.id,
        title=entry.title,
        repo=entry.repo,
        verdict=entry.extraction.verdict,
        link=place.link,
    )
    facts = [kit.words.date(entry.edition, today=today)]
    if kit.style.show_repo and answer.repo is None:
        facts.insert(0, repo_name(entry.repo))
    if place.replies:
        facts.append(kit.words.count("replies", place.replies))
    if place.reactions:
        facts.append(kit.words.count("reactions", place.reactions))
    return [
        *kit.tagged(line, _TITLE),
        *inline("".join(f" · {fact}" for fact in facts)),
        *(_snippet(hit.snippet) if hit.snippet else ()),
    ]


def _snippet(snippet: Snippet) -> list[Element]:
    """The passage on a line of its own, what matched in bold."""
    text = snippet.text
    if limits.is_blank(text):
        return []
    end = ceiling(text, _SNIPPET)
    found = [text_piece("\n" + "…" * snippet.cut_before)]
    position = 0
    for span in snippet.matches:
        start, stop = max(position, span.start), min(span.end, end)
        if start >= stop:
            continue
        found.append(text_piece(_one_line(text[position:start])))
        found += bold(text_piece(_one_line(text[start:stop])))
        position = stop
    found.append(text_piece(_one_line(text[position:end]) + "…" * (snippet.cut_after or end < len(text))))
    return [piece for piece in found if piece["text"]]


def _one_line(text: str) -> str:
    return text.replace("\n", " ")


def _code(text: str) -> list[Element]:
    shown = shorten(text, _QUERY)
    return inline("…") if limits.is_blank(shown) else code(shown)


def nothing(kit: Kit, answer: Answer) -> Message:
    """Nothing found (or no further page): what each word finds alone, near words, and what to try."""
    query = _code(answer.query.text)
    if answer.offset:
        return kit.message("sentence", {"sentence": kit.words.pieces("no_more", query=query)})
    near = [_code(word) for word in answer.near[:3]]
    values = {
        "head": kit.words.pieces("none", query=query),
        "apart": _apart(kit, answer.tried[:_WORDS]),
        "near": kit.words.pieces("did_you_mean", words=_joined(near, kit.words.listed(["", ""]))) if near else "",
        "tip": kit.words.pieces(_tip(answer.tried), help=code(kit.words.say("help_command"))),
    }
    return kit.message("nothing", values)


def _tip(tried: Sequence[WordCount]) -> str:
    several = len(tried) > 1
    if several and any(not word.count for word in tried) and any(word.count for word in tried):
        return "none_tip"
    if several and all(word.count for word in tried):
        return "together_tip"
    return "plain_tip"


def _apart(kit: Kit, tried: Sequence[WordCount]) -> Pieces:
    if len(tried) < 2:  # noqa: PLR2004 - one word alone was the query itself
        return ""
    counts = [
        kit.words.pieces("apart_count", word=_code(word.word), n=f"{word.count}+" if word.more else str(word.count))
        for word in tried
    ]
    return kit.words.pieces("apart", counts=_joined(counts, kit.words.say("apart_separator")))


def _joined(parts: Sequence[list[Element]], separator: str) -> list[Element]:
    found: list[Element] = []
    for number, part in enumerate(parts):
        if number:
            found += inline(separator)
        found += part
    return found


def help_message(kit: Kit, view: HelpView) -> Message:
    """The query language, by examples."""
    words = kit.words
    separator = words.listed(["", ""])

    def example(query: str, key: str, more: Sequence[str] = ()) -> list[Element]:
        listed = _joined([_code(word) for word in more], separator)
        return [*_code(query), *inline("  "), *words.pieces(key, more=listed)]

    examples = [
        example(view.words, "help_words"),
        example(view.phrase, "help_phrase"),
        example(view.without, "help_without"),
        example(view.repository, "help_repository", (*view.more, words.say("help_verdict"))),
        example(view.path, "help_path"),
        example(view.since, "help_since"),
    ]
    if view.days:
        first, *rest = view.days
        examples.append(example(first, "help_days" if rest else "help_day", rest))
    one, other = view.cross
    values = {
        "head": words.say("help_head"),
        "note": words.say("help_note"),
        "examples": examples,
        "cross": words.say("help_cross", one=one, other=other),
        "save": words.pieces("help_save", command=code(words.say("saved_command"))),
    }
    return kit.message("help", values)


def edition(kit: Kit, view: EditionView) -> Message:
    """The entries of one day."""
    if not view.lines:
        key = "edition_latest_none" if view.day is None else "edition_none"
        day = kit.words.day(view.day) if view.day else ""
        return kit.message("sentence", {"sentence": kit.words.say(key, day=day)})
    head = kit.words.day(view.day) if view.day else kit.words.say("name_plain")
    return _listed(kit, view.lines, {"head": head, "count": count(kit, view.lines), "remove": ""})


def saved(kit: Kit, lines: Sequence[RootLine], *, total: int) -> Message:
    """What the reader has saved, newest first, with a menu to take one away."""
    if not lines:
        sentence = [*inline(kit.words.say("saved_none") + "\n"), *inline(kit.words.say("home_tip"))]
        return kit.message("sentence", {"sentence": sentence})
    head = kit.words.count("saved", max(total, len(lines)))
    return _listed(kit, lines, {"head": head, "count": "", "remove": kit.words.say("remove")}, total=total)


def _listed(kit: Kit, lines: Sequence[RootLine], values: Mapping[str, Any], *, total: int = 0) -> Message:
    """The list, shorter step by step until it fits."""
    for size in _LIST_SIZES[:-1]:
        try:
            return kit.message("list", {**values, **_list_values(kit, lines, total, size)})
        except MessageInvalid:
            continue
    return kit.message("list", {**values, **_list_values(kit, lines, total, _LIST_SIZES[-1])})


def _list_values(kit: Kit, lines: Sequence[RootLine], total: int, size: tuple[int, int]) -> dict[str, Any]:
    most, width = size
    shown = lines[:most]
    if size == _LIST_SIZES[-1]:
        shown = [replace(line, link=None) for line in shown]  # addresses without end are the one thing left to cut
    rest = max(total, len(lines)) - min(most, len(lines))
    return {
        "hits": numbered([kit.tagged(line, width) for line in shown]),
        "more": section(kit.words.count("more", rest)) if rest > 0 else None,
        "pick": kit.words.say("pick"),
        "options": kit.options([(line.title, line.entry_id) for line in lines[:most]]),
    }
