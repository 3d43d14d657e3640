"""Which of an entry's messages a reader is pointed to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.model import Entry
from bot.readers.marks import Activity, Discussion
from bot.readers.marks import Place as Standing
from bot.render.views import Place, RootLine
from bot.slack.directory import Directory
from bot.slack.ports import Reader

NOTHING = Activity()
MOST_LOOKED_AT = 8
"""Other channels that are tried for a link to one hit, or counted for it: each may cost a question to Slack."""


class Places:
    """Links for one reader: to this channel first, else to one that the reader may open; never to another."""

    def __init__(self, discussion: Discussion, directory: Directory) -> None:
        self._discussion = discussion
        self._directory = directory

    def of(self, reader: Reader, entries: Sequence[Entry]) -> Mapping[int, Place]:
        """Where each entry stands, and what happened there. Raises `StorageUnavailable`."""
        ids = [entry.id for entry in entries]
        if not ids:
            return {}
        happened = self._discussion.activity(ids, reader.team_id)
        return {entry_id: self._place(reader, happened.get(entry_id, NOTHING)) for entry_id in ids}

    def lines(self, reader: Reader, entries: Sequence[Entry]) -> tuple[RootLine, ...]:
        """The entries as lines of a list, each with its link. Raises `StorageUnavailable`."""
        places = self.of(reader, entries)
        return tuple(
            RootLine(
                entry_id=entry.id,
                title=entry.title,
                repo=entry.repo,
                verdict=entry.extraction.verdict,
                link=places[entry.id].link,
            )
            for entry in entries
        )

    def discussion(self, reader: Reader, entry: Entry) -> str | None:
        """The address of the thread about an entry, if the reader may open it. Raises `StorageUnavailable`."""
        happened = self._discussion.activity([entry.id], reader.team_id).get(entry.id, NOTHING)
        place = self._standing(reader, happened.places)
        if place is None:
            return None
        return self._directory.thread_link(place.channel.channel_id, place.ts, place.thread_ts)

    def visible(self, reader: Reader, channel_id: str) -> bool:
        """Whether the reader may open the channel's messages. Raises nothing."""
        return channel_id == reader.channel_id or self._directory.may_see(
            user_id=None if reader.public else reader.user_id, channel_id=channel_id
        )

    def is_reader_in(self, reader: Reader, channel_id: str) -> bool:
        """Whether the reader is a member of the channel. Raises nothing."""
        return self._directory.is_in(user_id=reader.user_id, channel_id=channel_id)

    def _place(self, reader: Reader, activity: Activity) -> Place:
        """What this reader may know of it: that people talk in a private channel is known to its members only."""
        here_first = sorted(activity.talk, key=lambda talk: talk.channel.channel_id != reader.channel_id)
        seen = [talk for talk in here_first[:MOST_LOOKED_AT] if self.visible(reader, talk.channel.channel_id)]
        place = self._standing(reader, activity.places)
        address = self._directory.permalink
        return Place(
            link=None if place is None else address(place.channel.channel_id, place.ts, place.thread_ts),
            replies=sum(talk.replies for talk in seen),
            reactions=sum(talk.reactions for talk in seen),
        )

    def _standing(self, reader: Reader, places: Sequence[Standing]) -> Standing | None:
        # Where people talk before where nobody does: a shared copy must not draw readers away from the discussion.
        best_first = sorted(places, key=lambda place: (place.replies, float(place.ts)), reverse=True)
        here = [place for place in best_first if place.channel.channel_id == reader.channel_id]
        for place in (*here, *best_first[:MOST_LOOKED_AT]):
            if self.visible(reader, place.channel.channel_id):
                return place
        return None
