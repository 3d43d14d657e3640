"""Everything that needs a database but no Slack: what `ingest`, `documents`, `search` and `check` work with."""

from __future__ import annotations

from dataclasses import dataclass

from bot.bootstrap.clock import SystemClock
from bot.config import Config
from bot.delivery.ports import Clock
from bot.ingest.service import Ingest
from bot.model import Channel
from bot.readers.answer import Answers
from bot.storage.delivery_store import DeliveryStore
from bot.storage.engine import Database, open_database
from bot.storage.ingest_store import IngestStore
from bot.storage.migrate import ensure_current
from bot.storage.search_store import SearchStore
from bot.text import glossary, vocabulary
from bot.text.glossary import Glossary
from bot.text.vocabulary import Topic, Vocabulary

INBOX = "inbox"
"""The source under which documents of the one inbox are recorded: the same bytes under another name are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """The database and the services that only it is needed for."""

    config: Config
    clock: Clock
    database: Database
    vocabulary: Vocabulary
    glossary: Glossary
    ingest: Ingest
    deliveries: DeliveryStore

    def spellings(self, topic_id: str) -> tuple[str, ...]:
        """The names of a topic: Chinese, English, then its other terms. None for an unknown id."""
        found = next((topic for topic in self.vocabulary.topics if topic.id == topic_id), None)
        return (found.zh, found.en, *found.terms) if found else ()

    def close(self) -> None:
        """Close the database."""
        self.database.close()


def open_archive(config: Config, *, clock: Clock | None = None) -> Archive:
    """Open the configured database and make the services over it.

    Raises SchemaOutdated where the schema is not this program's (an older SQLite file is migrated first), StorageError
    where a SQLite database would begin empty beside a rescued copy, StorageUnavailable where it cannot be reached.
    """
    clock = clock or SystemClock()
    database = open_database(config.database, source=config.database_source)
    try:
        ensure_current(database)
    except BaseException:  # the error goes on; only the connections are put away first
        database.close()
        raise
    words = load_vocabulary(config)
    return Archive(
        config=config,
        clock=clock,
        database=database,
        vocabulary=words,
        glossary=load_glossary(config),
        ingest=Ingest(storage=IngestStore(database), vocabulary=words, zone=config.inbox.timezone, clock=clock),
        deliveries=DeliveryStore(database),
    )


def load_vocabulary(config: Config) -> Vocabulary:
    """The built-in vocabulary with the team's topics."""
    return vocabulary.load(
        extra_topics=tuple(
            Topic(
                id=topic.id,
                zh=topic.zh[0] if topic.zh else topic.id,
                en=topic.en[0] if topic.en else topic.id,
                terms=(*topic.zh, *topic.en),
            )
            for topic in config.topics
        )
    )


def load_glossary(config: Config) -> Glossary:
    """The shipped glossary with the team's lines."""
    shipped = glossary.shipped()
    return shipped.extended(config.search.glossary) if config.search.glossary else shipped


def topic_names(words: Vocabulary) -> dict[str, str]:
    """Spellings of topics, lower-case, to their ids: what `topic:` understands."""
    names: dict[str, str] = {}
    for topic in words.topics:
        for name in (topic.id, topic.zh, topic.en, *topic.terms):
            names.setdefault(name.casefold(), topic.id)
    return names


def open_answers(archive: Archive, confined: dict[str, tuple[Channel, ...]] | None = None) -> Answers:
    """Look-up over the archive. `confined`: repository to the only channels that may find it."""
    return Answers(
        SearchStore(archive.database), archive.glossary, confined=confined, topics=topic_names(archive.vocabulary)
    )
