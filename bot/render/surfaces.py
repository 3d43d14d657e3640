"""Modals and the Home tab."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.errors import MessageInvalid
from bot.model import Entry, Json, Message
from bot.render import actions, limits
from bot.render.entries import body_parts, entry_values
from bot.render.kit import Kit
from bot.render.pieces import Element, Pieces, inline, numbered, plain_text, section
from bot.render.rich_text import weight
from bot.render.split import shorten
from bot.render.views import HomeGroup, HomeView, RootLine

_LATER: Final = 5
"""An entry names at most so many days on which it was listed again."""
_WIDTHS: Final = (150, 75, 40)
_LINES: Final = 30
_GROUPS: Final = 20
_WINDOW: Final = limits.VIEW_PAYLOAD - 10_000
"""What the parts of an entry may weigh in a window; the rest is for its title, its controls and a team's template."""
_PARTS: Final = limits.VIEW_BLOCKS - 10


def metadata(**values: object) -> str:
    """What a view carries for its listener: a JSON object, to be read with `read_metadata`."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def read_metadata(value: str) -> Mapping[str, Any]:
    """What `metadata` wrote; an empty object for anything else, as old views may carry anything."""
    try:
        read = json.loads(value)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def modal(
    kit: Kit,
    entry: Entry,
    *,
    saved: bool,
    thread_link: str | None,
    share_to: str | None,
    state: Mapping[str, object],
) -> dict[str, Any]:
    """An entry opened whole, with what can be done with it. `share_to`: the channel it may be shared to."""
    words = kit.words
    values = entry_values(kit, entry)
    first, *more = _that_fit(kit, body_parts(values["title"], values["body"]))
    later = [words.date(day) for day in dict.fromkeys(entry.editions) if day > entry.edition][:_LATER]
    key = "first_posted_again" if later else "first_posted"
    shown = {
        "title": values["title"],
        "body": first,
        "more": more,
        "facts": words.say(key, repo=entry.repo, date=words.date(entry.edition), again=words.listed(later)),
        "entry_id": str(entry.id),
        "save": "" if saved else words.say("save"),
        "unsave": words.say("unsave") if saved else "",
        "share": words.say("share") if share_to else "",
        "thread": words.say("thread") if thread_link else "",
        "link": thread_link or "",
    }
    carried = metadata(entry=entry.id, channel=share_to, **state)
    return kit.view("modal", shown, _frame(kit, "modal", actions.ENTRY_VIEW, carried))


def _that_fit(kit: Kit, parts: Sequence[list[Element]]) -> list[list[Element]]:
    """As many parts as a window takes, and a line that says where the rest is."""
    kept: list[list[Element]] = []
    room = _WINDOW
    for part in parts:
        room -= weight(part) + limits.FRAME
        if room < 0 or len(kept) == _PARTS:
            return [*kept, inline(kit.words.say("modal_cut"))]
        kept.append(part)
    return kept


def share_form(kit: Kit, entry: Entry, *, channel_id: str, state: Mapping[str, object]) -> dict[str, Any]:
    """The form that asks for a word before an entry is posted in the reader's name."""
    channel: Element = {"type": "channel", "channel_id": channel_id}
    shown = {
        "target": kit.words.pieces("share_target", channel=channel),
        "title": kit.title(kit.short_title(entry.title, limits.PLAIN_TEXT), repo=entry.repo),
        "comment": kit.words.say("share_comment"),
    }
    carried = metadata(entry=entry.id, channel=channel_id, **state)
    frame = _frame(kit, "share_title", actions.SHARE_VIEW, carried, submit="share_submit")
    return kit.view("share", shown, frame, mentions={channel_id})


def search_modal(
    kit: Kit, *, query: str, answer: Message | None, example: str, state: Mapping[str, object]
) -> dict[str, Any]:
    """The search field, and under it an answer that `answers.search` made."""
    blocks: Sequence[Json] = answer.blocks if answer else ()
    shown = {
        "ask": kit.words.say("ask"),
        "hint": kit.words.say("ask_hint", example=example),
        "query": "" if limits.is_blank(query) else shorten(query, limits.PLACEHOLDER),
        "answer": list(blocks),
    }
    frame = _frame(kit, "search_title", actions.SEARCH_VIEW, metadata(**state), submit="search_submit")
    return kit.view("search_modal", shown, frame)


def _frame(kit: Kit, title: str, callback: str, carried: str, *, submit: str | None = None) -> dict[str, Any]:
    frame: dict[str, Any] = {
        "type": "modal",
        "callback_id": callback,
        "title": plain_text(kit.words.say(title), limits.VIEW_TITLE),
        "close": plain_text(kit.words.say("close"), limits.VIEW_TITLE),
        "private_metadata": carried,
    }
    if submit:
        frame["submit"] = plain_text(kit.words.say(submit), limits.VIEW_TITLE)
    return frame


def home(kit: Kit, view: HomeView) -> dict[str, Any]:
    """The Home tab of one reader."""
    for width in _WIDTHS[:-1]:
        try:
            return _home(kit, view, width)
        except MessageInvalid:
            continue
    return _home(kit, view, _WIDTHS[-1])


def _home(kit: Kit, view: HomeView, width: int) -> dict[str, Any]:
    words = kit.words
    sent = [group for group in view.today if group.lines]
    groups: list[Pieces] = [_home_group(kit, group, width) for group in sent[:_GROUPS]]
    rest = sum(len(group.lines) for group in sent[_GROUPS:])
    if rest:
        groups.append(kit.words.count("more", rest))
    total = max(view.saved_total, len(view.saved))
    shown = {
        "today": words.say("today", day=words.day(view.local_date)),
        "today_none": "" if groups else words.say("today_none"),
        "groups": groups,
        "saved": words.count("saved", total),
        "saved_list": _home_list(kit, view.saved, total, width),
        "saved_none": "" if view.saved else words.say("saved_none"),
        "pick": words.say("pick"),
        "remove": words.say("remove"),
        "options": kit.options([(line.title, line.entry_id) for line in view.saved[:_LINES]]),
        "ask": words.say("ask"),
        "hint": words.say("ask_hint", example=view.ask_example),
        "tip": words.say("home_tip"),
    }
    frame = {"type": "home", "callback_id": actions.HOME_VIEW}
    return kit.view("home", shown, frame, mentions={group.channel_id for group in view.today})


def _home_group(kit: Kit, group: HomeGroup, width: int) -> list[Pieces]:
    channel: Element = {"type": "channel", "channel_id": group.channel_id}
    return [section([channel]), *_home_list(kit, group.lines, len(group.lines), width)]


def _home_list(kit: Kit, lines: Sequence[RootLine], total: int, width: int) -> list[Pieces]:
    shown = lines[:_LINES]
    if width == _WIDTHS[-1]:
        shown = [replace(line, link=None) for line in shown]  # addresses without end are the one thing left to cut
    listed: list[Pieces] = [numbered([kit.tagged(line, width) for line in shown])]
    rest = total - min(len(lines), _LINES)
    if lines and rest > 0:
        listed.append(section(kit.words.count("more", rest)))
    return listed
