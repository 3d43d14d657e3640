"""The desk: what one reader asks, answered from the archive in the reader's language. See `ports.Desk`."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from bot.model import Channel, Entry, EntryQuery, Json, Message, QueryHint
from bot.readers.answer import Answers
from bot.readers.marks import Discussion, Marks
from bot.readers.qualifiers import kind_of
from bot.render.answers import read_search_state
from bot.render.messages import Renderer
from bot.render.views import EditionView, HelpView, HomeGroup, HomeView, Style
from bot.slack.places import Places
from bot.slack.ports import Archive, Reader, Said
from bot.slack.turns import Turns

PAGE = 5
EDITION = 100
"""Lines of one edition that are looked up; the renderer says how many more there are."""
SAVED = 30
KEPT = 500
"""Beyond this many, a reader's older saved entries are not counted."""
HOME_SAVED = 10
HOME_LINES = 20

GONE = Said(key="entry_gone", values={})


class ReadingDesk:
    """The half of `ports.Desk` that only reads and keeps; `sharing.Sharing` posts."""

    def __init__(
        self,
        *,
        answers: Answers,
        archive: Archive,
        marks: Marks,
        discussion: Discussion,
        places: Places,
        renderer: Renderer,
        style: Callable[[Channel | None], Style],
        now: Callable[[], datetime],
        help_view: Callable[[Reader], HelpView] = lambda _reader: HelpView(),
        observe: Callable[[float], None] = lambda _seconds: None,
    ) -> None:
        """`style(None)` is the style of the Home tab and of direct messages. `observe` gets the seconds of a search."""
        self._answers = answers
        self._archive = archive
        self._marks = marks
        self._discussion = discussion
        self._places = places
        self._renderer = renderer
        self._style = style
        self._now = now
        self._help_view = help_view
        self._observe = observe
        self._turns = Turns()

    # --- messages ---

    def latest(self, reader: Reader) -> Message:
        """The newest edition of this channel, else of all."""
        day = self._archive.latest(_channel(reader)) or self._archive.latest(None)
        if day is None:
            return self._renderer.edition(EditionView(day=None, lines=()), self.style(reader))
        return self._edition(reader, day)

    def help(self, reader: Reader) -> Message:
        """The query language by examples."""
        return self._renderer.help(self._help_view(reader), self.style(reader))

    def saved(self, reader: Reader) -> Message:
        """What the reader keeps."""
        entries = self._saved(reader)
        lines = self._places.lines(reader, entries[:SAVED])
        return self._renderer.saved(lines, self.style(reader), total=len(entries))

    def search(self, reader: Reader, text: str) -> Message:
        """The first page of what is found."""
        with self._turns.taken():
            return self._found(reader, text, 0)

    def page(self, reader: Reader, state: str) -> Message:
        """A further page."""
        try:
            query, start = read_search_state(state)
        except ValueError:
            return self.sentence(reader, "failed")
        with self._turns.taken():
            return self._found(reader, query, max(0, start))

    # --- views ---

    def entry(self, reader: Reader, entry_id: int) -> dict[str, Any] | None:
        """The entry whole."""
        found = self._archive.entry(entry_id)
        if found is None:
            return None
        keeps = bool(self._marks.saved_among(reader.team_id, reader.user_id, [entry_id]))
        return self._renderer.modal(
            found,
            self.style(reader),
            saved=keeps,
            thread_link=self._places.discussion(reader, found),
            share_to=share_target(reader),
        )

    def search_form(self, reader: Reader, *, query: str = "", answer: Message | None = None) -> dict[str, Any]:
        """The search modal."""
        return self._renderer.search_modal(self.style(reader), query=query, answer=answer, channel=reader.channel_id)

    def share_form(self, reader: Reader, entry_id: int) -> dict[str, Any] | None:
        """The form before an entry is shared."""
        found, target = self._archive.entry(entry_id), share_target(reader)
        if found is None or target is None:
            return None
        return self._renderer.share_form(found, self.style(reader), channel_id=target)

    def home(self, reader: Reader) -> dict[str, Any]:
        """The Home tab: today in the reader's own channels, and what the reader keeps."""
        style = self.style(reader)
        today = self._today(style)
        saved = self._saved(reader)
        sent = self._archive.sent_on(reader.team_id, today)
        groups = tuple(
            HomeGroup(
                channel_id=channel_id,
                lines=self._places.lines(_in(reader, channel_id), entries[:HOME_LINES]),
            )
            for channel_id, entries in sent.items()
            if self._places.is_reader_in(reader, channel_id)
        )
        view = HomeView(
            local_date=today,
            today=groups,
            saved=self._places.lines(reader, saved[:HOME_SAVED]),
            saved_total=len(saved),
        )
        return self._renderer.home(view, style)

    # --- keeping ---

    def keep(self, reader: Reader, entry_id: int, *, saved: bool) -> Said:
        """Save, or take out."""
        found = self._archive.entry(entry_id)
        if found is None:
            return GONE
        act = self._marks.save if saved else self._marks.unsave
        act(reader.team_id, reader.user_id, entry_id)
        return Said(key="saved" if saved else "unsaved", values={"title": found.title})

    def keep_message(self, reader: Reader, *, channel_id: str, ts: str) -> Said:
        """Save the entry that a message shows."""
        entry_id = self._discussion.entry_at(reader.team_id, channel_id, ts)
        if entry_id is None:
            return Said(key="not_an_entry", values={})
        return self.keep(reader, entry_id, saved=True)

    # --- words ---

    def sentence(self, reader: Reader, key: str, **values: str) -> Message:
        """A sentence of ours."""
        return self._renderer.sentence(key, self.style(reader), **values)

    def sentence_view(self, reader: Reader, key: str, **values: str) -> Json:
        """A sentence of ours as a modal: the search modal with the sentence as its answer."""
        return self.search_form(reader, answer=self.sentence(reader, key, **values))

    def style(self, reader: Reader) -> Style:
        """How this reader is answered: as the channel is, where the channel is one of ours."""
        return self._style(_channel(reader))

    # --- inside ---

    def _found(self, reader: Reader, text: str, start: int) -> Message:
        style = self.style(reader)
        begun = time.perf_counter()
        answer = self._answers.search(text, channel=_asking(reader), today=self._today(style), limit=PAGE, offset=start)
        self._observe(time.perf_counter() - begun)
        if answer.query.edition is not None:
            return self._edition(reader, answer.query.edition)
        hint = self._hint(reader, answer.query)
        if hint is not None and not answer.hits:
            return hint
        places = self._places.of(reader, [hit.entry for hit in answer.hits])
        found = self._renderer.search(answer, style, places=places)
        return found if hint is None else _together(hint, found)

    def _hint(self, reader: Reader, query: EntryQuery) -> Message | None:
        """What the reader should know of how the words were read: hits alone would hide a filter not applied."""
        value = query.hint_value or ""
        if query.hint is QueryHint.EMPTY:
            return self.sentence(reader, "empty_query", example=HelpView().words)
        if query.hint is QueryHint.NO_VALUE:
            return self._renderer.no_value(value, kind_of(value), self.style(reader))
        if query.hint is QueryHint.UNKNOWN_VALUE and kind_of(value) in ("since", "before"):
            return self.sentence(reader, "bad_date", word=value.partition(":")[2])
        if query.hint in (QueryHint.UNKNOWN_QUALIFIER, QueryHint.UNKNOWN_VALUE):
            return self.sentence(reader, "unknown_qualifier", word=value)
        return None

    def _edition(self, reader: Reader, day: date) -> Message:
        answer = self._answers.edition(day, channel=_asking(reader), limit=EDITION)
        entries: list[Entry] = [hit.entry for hit in answer.hits]
        view = EditionView(day=day, lines=self._places.lines(reader, entries))
        return self._renderer.edition(view, self.style(reader))

    def _saved(self, reader: Reader) -> list[Entry]:
        kept = (one.entry for one in self._marks.saved(reader.team_id, reader.user_id, KEPT))
        return [entry for entry in kept if self._may_list(reader, entry)]

    def _may_list(self, reader: Reader, entry: Entry) -> bool:
        """Whether an entry may stand in a list of the reader's: a confined one only in its channels, and in private."""
        return all(
            any(self._is_here(reader, channel) for channel in channels)
            for channels in self._answers.confining(entry.repo)
        )

    def _is_here(self, reader: Reader, channel: Channel) -> bool:
        if share_target(reader) is not None:
            return channel == _channel(reader)
        # The Home tab and direct messages are seen by the reader alone.
        return channel.team_id == reader.team_id and self._places.is_reader_in(reader, channel.channel_id)

    def _today(self, style: Style) -> date:
        return self._now().astimezone(style.zone).date()


def _together(hint: Message, found: Message) -> Message:
    return Message(text=f"{hint.text}\n{found.text}", blocks=(*hint.blocks, *found.blocks))


def share_target(reader: Reader) -> str | None:
    """The channel to which this reader can share: the one it is in, unless that is a direct message."""
    return None if reader.channel_id is None or reader.channel_id.startswith("D") else reader.channel_id


def _channel(reader: Reader) -> Channel | None:
    if reader.channel_id is None:
        return None
    return Channel(team_id=reader.team_id, channel_id=reader.channel_id)


def _asking(reader: Reader) -> Channel:
    """The channel for the search. None would be somebody who may see everything; a reader outside channels is not."""
    return Channel(team_id=reader.team_id, channel_id=reader.channel_id or "")


def _in(reader: Reader, channel_id: str) -> Reader:
    return Reader(team_id=reader.team_id, user_id=reader.user_id, channel_id=channel_id)
