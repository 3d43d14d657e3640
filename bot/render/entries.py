"""An entry's own message: whole, cut to a preview, continued in parts, brought up to date, or shared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from bot.model import Entry, Message
from bot.render import limits
from bot.render.kit import Kit, repo_name
from bot.render.pieces import Element, bold, inline, link, section, text_piece, usable, without_link
from bot.render.rich_text import WORST, Room, cut, length, split
from bot.render.split import shorten
from bot.render.views import Edited

_TITLE: Final = Room(text=1_000, payload=5_000)
"""A longer title goes on as bold text."""
_RESERVE: Final = 400
"""Characters kept free for repository, tag, notes, and what a team's template adds."""
_PART_TITLE: Final = 120
_NAME: Final = 80
_REMARK: Final = 1_000
"""As much of a sharer's comment as is shown; the form takes half of it."""


def entry(kit: Kit, entry: Entry, *, edited: Edited | None = None, overtaken: bool = False) -> tuple[Message, ...]:
    """The message, and the parts that continue it in its thread."""
    values = entry_values(kit, entry)
    values["edited"] = _edited(kit, edited)
    values["note"] = kit.words.say("overtaken") if overtaken else ""
    lines: list[Element] = values["body"]
    most = kit.style.cut_at
    parts = body_parts(values["title"], lines)
    values["body"] = parts[0]
    if most is not None and length(lines) > most:
        beginning = cut(lines, most)
        # Short characters may weigh much: a row of links or code is cut by its payload before it is by its length.
        first = _cut(kit, entry, values, body_parts(values["title"], beginning)[0] or beginning)
    else:
        first = kit.message("entry", values)
    return (first, *_continued(kit, entry, parts[1:]))


def entry_values(kit: Kit, entry: Entry) -> dict[str, Any]:
    """The values that every template with an entry may use."""
    title, rest = _title(kit, entry)
    known = entry.extraction
    body = [*rest, *kit.body(entry)]
    marked = known.verdict is None or known.verdict_span is not None
    return {
        "title": title,
        "title_text": entry.title,
        "body": body,
        "body_text": entry.body,
        "tag": "" if marked or known.verdict is None else kit.words.tag(known.verdict),
        "verdict": "" if known.verdict is None else kit.words.tag(known.verdict),
        "repo": repo_name(entry.repo) if kit.style.show_repo else "",
        "repo_name": entry.repo,
        "url": entry.url or "",
        "edition": kit.words.date(entry.edition),
        "audience": list(known.audience),
        "topics": list(known.topics),
        "pull_requests": list(known.pull_requests),
        "edited": "",
        "note": "",
    }


def _title(kit: Kit, entry: Entry) -> tuple[list[Element], list[Element]]:
    """The title as pieces, and what of it is too long for a title as bold lines."""
    title = kit.title(entry.title, repo=entry.repo)
    if usable(entry.url):
        # The whole title is one link: links to pull requests inside it would compete with its own.
        title = link([without_link(piece) for piece in title], entry.url)
    if len(title) == 1 and len(entry.title) * WORST < _TITLE.text:
        return title, []
    first, *rest = split([{"type": "rich_text_section", "elements": title}], _TITLE, _TITLE)
    lines = [section(bold(part)) for part in rest]
    return inline(first), [line for line in lines if line]


def body_parts(title: Sequence[Element], lines: Sequence[Element]) -> tuple[list[Element], ...]:
    """The lines of a body in as many parts as Slack's limits ask for; the first has room for the title."""
    head = sum(limits.weight(piece.get("text", "")) + len(piece.get("url", "")) for piece in title)
    first = Room(text=limits.TEXT - head - _RESERVE, payload=limits.PAYLOAD - head - 2 * _RESERVE)
    later = Room(text=limits.TEXT - 2 * _RESERVE, payload=limits.PAYLOAD - 3 * _RESERVE)
    return split(lines, first, later)


def _continued(kit: Kit, entry: Entry, parts: Sequence[list[Element]]) -> tuple[Message, ...]:
    if not parts:
        return ()
    title = kit.short_title(entry.title, _PART_TITLE)
    total = len(parts) + 1
    return tuple(
        kit.message(
            "entry_part",
            {"head": kit.words.say("continued", title=title, part=number, parts=total), "body": part},
        )
        for number, part in enumerate(parts, start=2)
    )


def _cut(kit: Kit, entry: Entry, values: dict[str, Any], beginning: Sequence[Element]) -> Message:
    """The beginning with a button; read aloud it is all, for a reader who cannot see the button."""
    whole = kit.aloud("entry", values)
    full = kit.words.say("full")
    shown = {
        **values,
        "body": beginning,
        "entry_id": str(entry.id),
        "full": full,
        "full_label": full + kit.words.say("colon") + kit.short_title(entry.title, limits.LABEL),
    }
    return kit.message("entry_cut", shown, aloud=whole)


def _edited(kit: Kit, edited: Edited | None) -> str:
    if edited is None:
        return ""
    when = kit.words.moment(edited.at.astimezone(kit.style.zone))
    return kit.words.say("edited", when=when, what=kit.words.say(f"edited_{edited.what.value}"))


def shared(kit: Kit, entry: Entry, *, user_id: str, user_name: str | None, comment: str = "") -> tuple[Message, ...]:
    """The entry with who shared it; continued in its thread like every entry."""
    values = entry_values(kit, entry)
    user: Element = {"type": "user", "user_id": user_id}
    name = "@" + shorten(user_name or user_id, _NAME)
    remark = shorten(comment, _REMARK)
    if limits.is_blank(remark):
        values["sharer"] = kit.words.pieces("shared", user=user)
    else:
        values["sharer"] = kit.words.pieces("shared_comment", user=user, comment=remark)
    parts = body_parts([*values["title"], text_piece(name), text_piece(remark)], values["body"])
    values["body"] = parts[0]
    names = {user_id: name}
    first = kit.message("shared", values, mentions={user_id}, names=names)
    return (first, *_continued(kit, entry, parts[1:]))
