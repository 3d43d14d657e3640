"""The head of a slot: root and compact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from bot.errors import MessageInvalid
from bot.model import Layout, Message, Verdict
from bot.render.kit import Kit, repo_name
from bot.render.pieces import Element, bold, inline, link, numbered, section
from bot.render.views import CarriedGroup, Late, RootLine, RootView


@dataclass(frozen=True, slots=True)
class _Size:
    """How much of a slot is shown; the rest is counted."""

    lines: int
    title: int
    groups: int
    """Earlier days whose carried entries are listed; the newest are."""
    carried: int
    """Lines of each of them."""
    options: int
    linked: bool = True


_SIZES: Final = (
    _Size(30, 150, groups=5, carried=10, options=100),
    _Size(30, 75, groups=5, carried=10, options=60),
    _Size(30, 60, groups=3, carried=5, options=30),
    _Size(15, 60, groups=2, carried=3, options=30),
    _Size(5, 40, groups=1, carried=1, options=15, linked=False),
)
"""Tried in turn until the message fits. The last fits whatever there is: everything in it is bounded."""
_NAMED: Final = 3
"""At most so many repositories are named in the head."""
_RUNS: Final = 10
"""More runs of positions than this are counted instead of named."""


def root(kit: Kit, view: RootView, *, template: str) -> Message:
    """The root (or, with template `compact`, the whole slot). Raises MessageInvalid if it cannot be short enough."""
    for size in _SIZES[:-1]:
        try:
            return kit.message(template, _values(kit, view, template, size))
        except MessageInvalid:
            continue
    return kit.message(template, _values(kit, view, template, _SIZES[-1]))


def _values(kit: Kit, view: RootView, template: str, size: _Size) -> dict[str, Any]:
    compact = template == "compact"
    verdicts = {line.verdict for line in view.lines}
    alone = len(view.lines) == 1 and kit.style.layout is Layout.CHANNEL and not compact
    shown = () if alone else view.lines[: size.lines]
    if not size.linked:
        shown = tuple(replace(line, link=None) for line in shown)
    values: dict[str, Any] = {
        "head": kit.words.say("head", name=_name(kit, view.lines), day=kit.words.day(view.local_date)),
        "count": count(kit, view.lines),
        "lists": lists(kit, shown, size.title, tags=compact or len(verdicts) > 1),
        "more": _more(kit, len(view.lines) - size.lines),
        "notes": list(_notes(kit, view)),
        "carried": list(_all_carried(kit, view.carried, size)),
        "late": _late(kit, view.late),
    }
    if compact:
        values["pick"] = kit.words.say("pick")
        values["options"] = kit.options([(line.title, line.entry_id) for line in view.lines[: size.options]])
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
        kit.words.say(f"part.{kind or 'none'}", n=verdicts.count(kind)) for kind in (*Verdict, None) if kind in known
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
        yield section(_repeated(kit, view))
    if view.folded:
        yield section(kit.words.say("folded"))
    if view.skipped:
        yield section(kit.words.count("skipped", view.skipped))


def _repeated(kit: Kit, view: RootView) -> str:
    runs = _runs(view.repeated)
    if len(runs) > _RUNS:
        return kit.words.count("repeated_many", view.editions, count=len(set(view.repeated)))
    key = "repeated" if len(view.repeated) > 1 else "repeated_one"
    return kit.words.count(key, view.editions, numbers=_ranges(kit, runs))


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """The numbers in order, neighbours together."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _ranges(kit: Kit, runs: Sequence[Sequence[int]]) -> str:
    """`2、5–8`: neighbours joined."""
    # Two neighbours read better as "5、6" than as "5–6".
    pair = 2
    names = [f"{run[0]}–{run[-1]}" if len(run) > pair else kit.words.listed([*map(str, run)]) for run in runs]
    return kit.words.listed(names)


def _all_carried(kit: Kit, groups: Sequence[CarriedGroup], size: _Size) -> Iterator[Element]:
    """The newest days with their lines; of the days before them only how many entries there are."""
    earlier, shown = groups[: -size.groups], groups[-size.groups :]
    if earlier:
        total = sum(len(group.lines) for group in earlier)
        yield from filter(None, [section(kit.words.count("carried_earlier", total))])
    for group in shown:
        yield from _carried(kit, group, size)


def _carried(kit: Kit, group: CarriedGroup, size: _Size) -> Iterator[Element]:
    day = kit.words.say("carried_link", date=kit.words.date(group.day))
    name = link(day, group.link if size.linked else None)
    sentence = kit.words.count_pieces("carried", len(group.lines), link=name)
    if group.changed:
        sentence += inline(kit.words.count("carried_changed", group.changed))
    yield from filter(None, [section(sentence)])
    items = [
        link(kit.short_title(line.title, size.title), line.link if size.linked else None)
        for line in group.lines[: size.carried]
    ]
    if len(group.lines) > size.carried:
        items.append(inline(kit.words.count("more", len(group.lines) - size.carried)))
    sections = [line for line in map(section, items) if line]
    yield {"type": "rich_text_list", "style": "bullet", "elements": sections}


def _late(kit: Kit, late: Late | None) -> str:
    if late is None:
        return ""
    due, posted = late.due.astimezone(kit.style.zone), late.posted.astimezone(kit.style.zone)
    same_day = due.date() == posted.date()
    say = kit.words.time if same_day else kit.words.moment
    return kit.words.say("late", due=say(due), posted=say(posted), zone=kit.words.zone(kit.style.zone))
