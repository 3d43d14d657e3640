"""What channels ask for and nothing has that arrived so far: as a rule a slip of the pen, which no other check sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from bot.bootstrap.archive import load_vocabulary
from bot.bootstrap.clock import SystemClock
from bot.bootstrap.policies import wanted_by
from bot.config import ChannelConfig, Config
from bot.config.suggest import did_you_mean
from bot.delivery.match import Matcher
from bot.delivery.policy import Wanted
from bot.delivery.values import Candidate
from bot.inboxes.folder import FolderInbox, InboxUnavailable
from bot.ingest.extract import topics_of
from bot.ingest.parse import parse


def unmatched(config: Config, archived: Iterable[Candidate]) -> tuple[str, ...]:
    """Say for each channel which of its included words and repositories no entry has, or that none passes its policy.

    Looks at `archived` and then, if need be, at the files of the inbox. Nothing is said before anything has arrived.
    """
    matcher, repos = Matcher(), set[str]()
    left = {wish: wanted for channel in config.channels for wish, wanted in _wishes(channel)}
    for entry in chain(archived, _in_the_inbox(config)) if left else ():
        repos.add(entry.repo)
        for wish in [wish for wish, wanted in left.items() if matcher.wants(wanted, entry)]:
            del left[wish]
        if not left:
            break
    if not repos:
        return ()
    blamed = {channel for channel, key, _value in left if key}
    topics = [name for topic in load_vocabulary(config).topics for name in (topic.id, topic.zh, topic.en)]
    return tuple(
        _sentence(channel, key, value, topics if key == _TOPICS else repos)
        for channel, key, value in left
        if key or channel not in blamed
    )


_REPOSITORIES, _TOPICS = "include.repositories", "include.topics"
_Wish = tuple[str, str, str]
"""Channel, key and value; without a key and a value, the whole policy of the channel."""


def _wishes(channel: ChannelConfig) -> Iterator[tuple[_Wish, Wanted]]:
    include, name = channel.policy.include, channel.channel
    for repository in include.repositories:
        yield (name, _REPOSITORIES, repository), Wanted(repos=(repository,))
    for topic in include.topics:
        yield (name, _TOPICS, topic), Wanted(topics=(topic,))
    yield (name, "", ""), wanted_by(channel.policy)


def _sentence(channel: str, key: str, value: str, known: Iterable[str]) -> str:
    if not key:
        return f"{channel}: nothing that has arrived so far passes its policy as a whole"
    near = "" if "*" in value else did_you_mean(value, known)
    return f"{channel}: nothing that has arrived so far matches policy.{key}: {value}{near}"


def _in_the_inbox(config: Config) -> Iterator[Candidate]:
    try:
        arrivals = FolderInbox(config.inbox_path, SystemClock()).look(force=True)
    except InboxUnavailable:
        return  # another check says so
    vocabulary, number = load_vocabulary(config), 0
    for arrival in arrivals:
        for entry in parse(arrival.data, name=arrival.name).entries:
            number -= 1  # ids of the archive are positive
            topics = topics_of(f"{entry.title}\n{entry.body}", vocabulary)
            yield Candidate(entry_id=number, repo=entry.repo, title=entry.title, body=entry.body, topics=topics)
