"""In-memory archive, bookmarks and records: what storage promises, without a database."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from bot.model import Entry, Hit
from bot.readers.answer import Answers
from bot.render.messages import Renderer
from bot.render.views import Style
from bot.slack.desk import ReadingDesk
from bot.slack.places import Places
from bot.text.glossary import Glossary
from bot.text.vocabulary import load

NOW = datetime(2026, 12, 1, 1, 0, tzinfo=UTC)
DAY = date(2026, 12, 1)


def entry(number, title=None, **more):
    values = {
        "id": number,
        "repo": "vllm-project/vllm",
        "title": title or f"标题 {number}",
        "body": f"正文 {number} 值得精读。",
        "revision": 1,
        "edition": DAY,
        "editions": (DAY,),
    }
    return Entry(**{**values, **more})


@dataclass
class MemoryArchive:
    entries: dict = field(default_factory=dict)
    where: dict = field(default_factory=dict)
    sent: dict = field(default_factory=dict)
    latest: dict = field(default_factory=dict)
    happened: dict = field(default_factory=dict)
    messages: dict = field(default_factory=dict)

    def entry(self, entry_id):
        return self.entries.get(entry_id)

    def latest_edition(self, channel):
        return self.latest.get(channel and channel.channel_id)

    def posts(self, team_id, entry_ids):
        return {entry_id: self.where.get(entry_id, ()) for entry_id in entry_ids}

    def sent_on(self, team_id, day):
        return self.sent if day == DAY else {}

    def entry_at(self, channel, ts):
        return self.messages.get((channel.channel_id, ts))

    def activity(self, team_id, entry_ids):
        return self.happened


@dataclass
class MemorySearch:
    """Finds entries whose title holds the first word asked for."""

    archive: MemoryArchive
    hidden: list = field(default_factory=list)

    def find(self, query, *, limit, offset, hidden_repos):
        self.hidden.append(set(hidden_repos))
        words = [term.word for term in query.terms]
        found = [one for one in self.archive.entries.values() if all(word in one.title for word in words)]
        return [Hit(entry=one, score=1.0) for one in found][offset : offset + limit]

    def count(self, query, *, most, hidden_repos):
        return min(most, len(self.find(query, limit=most, offset=0, hidden_repos=hidden_repos)))

    def edition(self, day, *, limit, offset, hidden_repos):
        return [one for one in self.archive.entries.values() if day in one.editions][offset : offset + limit]

    def repos(self):
        return frozenset(one.repo for one in self.archive.entries.values())

    def similar_words(self, word, *, limit):
        return []


@dataclass
class MemoryBookmarks:
    archive: MemoryArchive
    kept: dict = field(default_factory=dict)

    def save(self, *, team_id, user_id, entry_id):
        self.kept.setdefault(user_id, {})[entry_id] = None

    def unsave(self, *, team_id, user_id, entry_id):
        self.kept.get(user_id, {}).pop(entry_id, None)

    def is_saved(self, *, team_id, user_id, entry_id):
        return entry_id in self.kept.get(user_id, {})

    def saved(self, *, team_id, user_id, limit):
        kept = [self.archive.entries[each] for each in reversed(self.kept.get(user_id, {}))]
        return kept[:limit], len(kept)


@dataclass
class MemoryRecords:
    events: set = field(default_factory=set)
    shares: dict = field(default_factory=dict)

    def first_sight(self, event_id):
        new = event_id not in self.events
        self.events.add(event_id)
        return new

    def begin_share(self, *, channel, entry_id, user_id, request_key):
        if request_key in self.shares:
            return False
        self.shares[request_key] = None
        return True

    def finish_share(self, *, request_key, ts):
        if ts is None:
            self.shares.pop(request_key, None)
        else:
            self.shares[request_key] = ts


def glossary():
    return Glossary(())


class Rooms:
    """A reading desk over memory."""

    def __init__(self, directory, *, confined=None, entries=()):
        self.archive = MemoryArchive(entries={one.id: one for one in entries})
        self.search = MemorySearch(self.archive)
        self.bookmarks = MemoryBookmarks(self.archive)
        self.records = MemoryRecords()
        self.renderer = Renderer(vocabulary=load())
        self.places = Places(self.archive, directory)
        self.desk = ReadingDesk(
            answers=Answers(self.search, glossary(), confined=confined),
            archive=self.archive,
            bookmarks=self.bookmarks,
            places=self.places,
            renderer=self.renderer,
            style=lambda _channel: Style(),
            now=lambda: NOW,
        )
