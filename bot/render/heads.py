"""The head of a slot: root and compact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from bot.errors import MessageInvalid
from bot.model import Layout, Message, Verdict
from bot.render.kit import Kit, repo_name
from bot.render.pieces import Element, bold, inline, link, numbered, section
from bot.render.views import CarriedGroup, Late, RootLine, RootView

_SIZES: Final = ((30, 10, 150), (30, 10, 75), (30, 5, 60), (15, 3, 60), (5, 1, 40))
"""How many lines, how many carried ones and how long a title, tried in turn until the message fits."""
_NAMED: Final = 3
"""At most so many repositories are named in the head."""


def root(kit: Kit, view: RootView, *, template: str) -> Message:
    """The root (or, with template `compact`, the whole slot). Raises MessageInvalid if it cannot be short enough."""
    for size in _SIZES[:-1]:
        try:
            return kit.message(template, _values(kit, view, template, size))
        except MessageInvalid:
            continue
    return kit.message(template, _values(kit, view, template, _SIZES[-1]))


def _values(kit: Kit, view: RootView, template: str, size: tuple[int, int, int]) -> dict[str, Any]:
    most, carried, width = size
    compact = template == "compact"
    verdicts = {line.verdict for line in view.lines}
    alone = len(view.lines) == 1 and kit.style.layout is Layout.CHANNEL and not compact
    shown = () if alone else view.lines[:most]
    values: dict[str, Any] = {
        "head": kit.words.say("head", name=_name(kit, view.lines), day=kit.words.day(view.local_date)),
        "count": count(kit, view.lines),
        "lists": lists(kit, shown, width, tags=compact or len(verdicts) > 1),
        "more": _more(kit, len(view.lines) - most),
        "notes": list(_notes(kit, view)),
        "carried": [line for group in view.carried for line in _carried(kit, group, carried, width)],
        "late": _late(kit, view.late),
    }
    if compact:
        values["pick"] = kit.words.say("pick")
        values["options"] = kit.options([(line.title, line.entry_id) for line in view.lines])
    return values


def _name(kit: Kit, lines: Sequence[RootLine]) -> str:
    names = list(dict.fromkeys(repo_name(line.repo) for line in lines))
    if not names or len(names) > _NAMED:
        return kit.words.say("name_plain")
    return kit.words.say("name", name=kit.words.listed(names))


def count(kit: Kit, lines: Sequence[RootLine]) -> str:
    """`8 条，都值得精读`, or how many there are of each verdict."""
    verdicts = [line.verdict for line in lines]
    total = len(verdicts)
    known = set(verdicts)
    if not total:
        return kit.words.say("empty_slot")
    if known == {None}:
        return kit.words.count("count", total)
    if len(known) == 1:
        (verdict,) = known
        return kit.words.count(f"all.{verdict}", total)
    parts = [
        kit.words.say(f"part.{kind or 'none'}", n=verdicts.count(kind))
        for kind in (*Verdict, None)
        if kind in known
    ]
    return kit.words.count("mixed", total, parts=" · ".join(parts))


def lists(kit: Kit, lines: Sequence[RootLine], width: int, *, tags: bool) -> list[Element]:
    """The numbered lines; with several repositories, the name of each over its own. Numbers run through."""
    found: list[Element] = []
    several = len({line.repo for line in lines}) > 1
    position = 0
    for repo, group in groupby(lines, key=lambda line: line.repo):
        listed = numbered([kit.tagged(line, width, tags=tags) for line in group])
        if listed is None:
            continue
        if several:
            found += filter(None, [section(bold(repo_name(repo)))])
        if position:
            listed["offset"] = position
        position += len(listed["elements"])
        found.append(listed)
    return found


def _more(kit: Kit, rest: int) -> Element | None:
    return section(kit.words.count("more", rest)) if rest > 0 else None


def _notes(kit: Kit, view: RootView) -> Iterator[Element | None]:
    if view.repeated:
        key = "repeated" if len(view.repeated) > 1 else "repeated_one"
        yield section(kit.words.count(key, view.editions, numbers=_ranges(kit, view.repeated)))
    if view.folded:
        yield section(kit.words.say("folded"))
    if view.skipped:
        yield section(kit.words.count("skipped", view.skipped))


def _ranges(kit: Kit, numbers: Sequence[int]) -> str:
    """`2、5–8`: neighbours joined."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    # Two neighbours read better as "5、6" than as "5–6".
    pair = 2
    names = [f"{run[0]}–{run[-1]}" if len(run) > pair else kit.words.listed([*map(str, run)]) for run in runs]
    return kit.words.listed(names)


def _carried(kit: Kit, group: CarriedGroup, most: int, width: int) -> Iterator[Element]:
    name = link(kit.words.say("carried_link", date=kit.words.date(group.day)), group.link)
    sentence = kit.words.count_pieces("carried", len(group.lines), link=name)
    if group.changed:
        sentence += inline(kit.words.count("carried_changed", group.changed))
    yield from filter(None, [section(sentence)])
    items = [link(kit.short_title(line.title, width), line.link) for line in group.lines[:most]]
    if len(group.lines) > most:
        items.append(inline(kit.words.count("more", len(group.lines) - most)))
    sections = [line for line in map(section, items) if line]
    yield {"type": "rich_text_list", "style": "bullet", "elements": sections}


def _late(kit: Kit, late: Late | None) -> str:
    if late is None:
        return ""
    due, posted = late.due.astimezone(kit.style.zone), late.posted.astimezone(kit.style.zone)
    same_day = due.date() == posted.date()
    say = kit.words.time if same_day else kit.words.moment
    return kit.words.say("late", due=say(due), posted=say(posted), zone=kit.words.zone(kit.style.zone))
