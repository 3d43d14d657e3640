"""`bot.delivery.ports.MessageMaker` over the renderer: delivery's rows become the renderer's views."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import groupby

from bot.bootstrap.policies import render_style
from bot.delivery.policy import Style
from bot.delivery.values import RootView, SentMessage, Wording
from bot.model import Channel, Entry, Layout, Message, Verdict
from bot.render.messages import Renderer
from bot.render.views import CarriedGroup, CarriedLine, Change, Edited, Late, RootLine
from bot.render.views import RootView as RenderRootView

Permalink = Callable[[str, str, str | None], str]
"""(channel_id, ts, thread_ts) -> the message's address."""


class RenderedMessages:
    """Makes what delivery sends. Pure but for the permalink, which is computed from the workspace's address."""

    def __init__(self, renderer: Renderer, *, permalink: Permalink) -> None:
        self._renderer = renderer
        self._permalink = permalink
        # In the morning many channels are owed the same head: it is rendered once.
        self._root = lru_cache(maxsize=64)(renderer.root)

    def forget(self) -> None:
        """Make every head anew: the templates are others now."""
        self._root.cache_clear()

    def root(self, view: RootView, style: Style) -> Message:
        """Make a slot's root; the compact one opens every entry."""
        compact = view.slot.layout is Layout.COMPACT or view.slot.detail.get("compact", False)
        make = self._renderer.compact if compact else self._root
        return make(self._root_view(view, style), render_style(style))

    def empty(self, view: RootView, style: Style) -> Message:
        """Make the one line of an empty slot."""
        return self._renderer.empty(view.slot.slot.local_date, render_style(style))

    def entry(self, entry: Entry, style: Style, *, overtaken: bool) -> tuple[Message, ...]:
        """Make an entry's message and the parts that continue it."""
        return self._renderer.entry(entry, render_style(style), overtaken=overtaken)

    def entry_update(
        self, entry: Entry, style: Style, *, changed: tuple[str, ...], at: datetime
    ) -> tuple[Message, ...]:
        """Make the message that replaces a sent entry, and the parts that continue it."""
        title, body = "title" in changed, "body" in changed or "verdict" in changed
        what = Change.BOTH if title and body else Change.TITLE if title else Change.BODY
        edited = Edited(at=at.astimezone(style.zone), what=what)
        return self._renderer.entry(entry, render_style(style), edited=edited)

    def entry_end(self, style: Style) -> Message:
        """Make what stands in place of a part that a shorter text does not need any more."""
        return self._renderer.text_ended(render_style(style))

    def entry_reply(
        self, entry: Entry, before: Wording, style: Style, *, channel: Channel, sent: SentMessage | None
    ) -> Message:
        """Make the line in the thread of an entry that has changed; it names the entry in a thread of several."""
        old = Verdict(before.verdict) if before.verdict else None
        named = None
        if sent is None or sent.thread_ts is not None:
            named = self._line(entry, sent, channel.channel_id)
        elif sent.ts == sent.root_ts:  # its line in a compact root: a link there would lead to where one is
            named = self._line(entry, None, channel.channel_id)
        if old is not entry.extraction.verdict:
            return self._renderer.verdict_changed(old, entry.extraction.verdict, render_style(style), named=named)
        return self._renderer.text_changed(render_style(style), named=named)

    def alert(self, text: str) -> Message:
        """Make a plain message of ours."""
        return self._renderer.alert(text)

    def _root_view(self, view: RootView, style: Style) -> RenderRootView:
        slot = view.slot.slot
        entries = [entry for entry in view.entries if entry.id not in view.slot.dropped]
        told = {date.fromisoformat(day) for day in view.slot.detail.get("editions", ())}
        counts = [sum(edition in told for edition in entry.editions) for entry in entries]
        return RenderRootView(
            local_date=slot.local_date,
            lines=tuple(self._line(entry, view.sent.get(entry.id), slot.channel.channel_id) for entry in entries),
            carried=self._carried(view, slot.channel.channel_id),
            repeated=tuple(position for position, count in enumerate(counts, start=1) if count > 1),
            editions=max(counts, default=0),
            late=_late(slot.due_at, view.late_minutes, style),
            skipped=int(view.slot.detail.get("skipped", 0)),
            folded=bool(view.slot.detail.get("flood", False)),
        )

    def _line(self, entry: Entry, sent: SentMessage | None, channel_id: str) -> RootLine:
        return RootLine(
            entry_id=entry.id,
            title=entry.title,
            repo=entry.repo,
            verdict=entry.extraction.verdict,
            link=self._permalink(channel_id, sent.ts, sent.thread_ts) if sent else None,
        )

    def _carried(self, view: RootView, channel_id: str) -> tuple[CarriedGroup, ...]:
        known = [(entry, sent) for entry in view.carried if (sent := view.carried_sent.get(entry.id)) is not None]

        def when(pair: tuple[Entry, SentMessage]) -> tuple[date, str]:
            _entry, sent = pair
            return (sent.slot_date or view.slot.slot.local_date, sent.root_ts or "")

        groups = []
        for (day, root_ts), members in groupby(sorted(known, key=when), key=when):
            pairs = list(members)
            groups.append(
                CarriedGroup(
                    day=day,
                    link=self._permalink(channel_id, root_ts, None) if root_ts else None,
                    lines=tuple(
                        CarriedLine(title=entry.title, link=self._permalink(channel_id, sent.ts, sent.thread_ts))
                        for entry, sent in pairs
                    ),
                    changed=sum(entry.revision > sent.told_revision for entry, sent in pairs),
                )
            )
        return tuple(groups)


def _late(due_at: datetime, minutes: int, style: Style) -> Late | None:
    if minutes <= 0:
        return None
    posted_at = due_at + timedelta(minutes=minutes)
    return Late(due=due_at.astimezone(style.zone), posted=posted_at.astimezone(style.zone))
