"""In-memory archive, bookmarks and records: what storage promises, without a database."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from bot.model import Entry, Hit
from bot.readers.answer import Answers
from bot.readers.marks import Activity, Discussion, Marks, Saved
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
    known: dict = field(default_factory=dict)
    sent: dict = field(default_factory=dict)
    newest: dict = field(default_factory=dict)

    def entry(self, entry_id):
        return self.known.get(entry_id)

    def latest(self, channel):
        return self.newest.get(channel and channel.channel_id)

    def sent_on(self, team_id, day):
        return self.sent if day == DAY else {}


@dataclass
class MemorySearch:
    """Finds entries whose title holds the first word asked for."""

    archive: MemoryArchive
    hidden: list = field(default_factory=list)

    def find(self, query, *, limit, offset, hidden_repos):
        self.hidden.append(set(hidden_repos))
        words = [term.word for term in query.terms]
        found = [one for one in self.archive.known.values() if all(word in one.title for word in words)]
        return [Hit(entry=one, score=1.0) for one in found][offset : offset + limit]

    def page(self, query, *, limit, ahead, offset, hidden_repos):
        found = self.find(query, limit=ahead, offset=offset, hidden_repos=hidden_repos)
        return found[:limit], len(found)

    def count(self, query, *, most, hidden_repos):
        return min(most, len(self.find(query, limit=most, offset=0, hidden_repos=hidden_repos)))

    def edition(self, day, *, limit, offset, hidden_repos):
        return [one for one in self.archive.known.values() if day in one.editions][offset : offset + limit]

    def repos(self):
        return frozenset(one.repo for one in self.archive.known.values())

    def similar_words(self, word, *, limit):
        return []


@dataclass
class MemoryMarks:
    """Both storages of `bot.readers.marks`."""

    archive: MemoryArchive
    kept: dict = field(default_factory=dict)
    happened: dict = field(default_factory=dict)
    messages: dict = field(default_factory=dict)
    events: set = field(default_factory=set)
    shares: dict = field(default_factory=dict)

    def save(self, team_id, user_id, entry_id, now):
        self.kept.setdefault(user_id, {})[entry_id] = now
        return True

    def unsave(self, team_id, user_id, entry_id):
        return self.kept.get(user_id, {}).pop(entry_id, None) is not None

    def saved(self, team_id, user_id, limit):
        kept = self.kept.get(user_id, {})
        return tuple(Saved(entry=self.archive.known[each], saved_at=kept[each]) for each in reversed(kept))[:limit]

    def saved_among(self, team_id, user_id, entry_ids):
        return frozenset(entry_ids) & frozenset(self.kept.get(user_id, {}))

    def activity(self, entry_ids, team_id):
        return {each: self.happened.get(each, Activity()) for each in entry_ids}

    def entry_at(self, channel, ts):
        return self.messages.get((channel.channel_id, ts))

    def first_sight(self, event_id, now):
        new = event_id not in self.events
        self.events.add(event_id)
        return new

    def begin_share(self, request_key, channel, entry_id, user_id, now):
        new = request_key not in self.shares
        self.shares.setdefault(request_key)
        return new

    def end_share(self, request_key, ts):
        self.shares[request_key] = ts

    def forget_share(self, request_key):
        self.shares.pop(request_key, None)


class FixedClock:
    def now(self):
        return NOW


class Rooms:
    """A reading desk over memory."""

    def __init__(self, directory, *, confined=None, entries=(), style=None):
        self.archive = MemoryArchive(known={one.id: one for one in entries})
        self.search = MemorySearch(self.archive)
        self.marks = MemoryMarks(self.archive)
        self.discussion = Discussion(self.marks, FixedClock())
        self.renderer = Renderer(vocabulary=load())
        self.places = Places(self.discussion, directory)
        self.desk = ReadingDesk(
            answers=Answers(self.search, Glossary(()), confined=confined),
            archive=self.archive,
            marks=Marks(self.marks, FixedClock()),
            discussion=self.discussion,
            places=self.places,
            renderer=self.renderer,
            style=lambda _channel: style or Style(),
            now=lambda: NOW,
        )
