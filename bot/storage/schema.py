"""The tables. `migrations/` leads every older database here, and a test compares the two.

Names of tables and columns are the words of `bot/ARCHITECTURE.md`. A UNIQUE constraint here is a decision: whoever
inserts first has won, and the loser inserts nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)

from bot.storage import search_tables


class UtcDateTime(TypeDecorator[datetime]):
    """An aware instant. SQLite drops the zone, so it is always written in UTC and read as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse a naive instant: its zone would be a guess."""
        del dialect
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"an instant without a zone: {value!r}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the instant in UTC, whatever the session's zone."""
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


Id = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows only under the name INTEGER."""

metadata = MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s_ix",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "pk": "%(table_name)s_pkey",
    }
)


def _numbered(name: str, *columns: Any) -> Table:
    # AUTOINCREMENT: a number is never used again, and a later row has a greater one.
    return Table(name, metadata, Column("id", Id, primary_key=True), *columns, sqlite_autoincrement=True)


def _channel() -> list[Column[Any]]:
    return [Column("team_id", Text, nullable=False), Column("channel_id", Text, nullable=False)]


documents = _numbered(
    "documents",
    Column("source", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("edition", Date, nullable=False),
    Column("arrived_at", UtcDateTime, nullable=False),
    Column("state", Text, nullable=False),
    Column("problems", JSON, nullable=False),
    Column("entry_count", Integer, nullable=False),
    # Another version of the same file took this one's place.
    Column("superseded", Boolean, nullable=False, server_default=text("false")),
    UniqueConstraint("source", "sha256"),
    Index(None, "edition"),
    Index(None, "source", "name"),
)

entries = _numbered(
    "entries",
    Column("repo", Text, nullable=False),
    # `repo.casefold()`, made in Python: the databases do not agree on what lower case is.
    Column("repo_folded", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("url", Text),
    Column("revision", Integer, nullable=False),
    Column("edition", Date, nullable=False),
    Column("current_edition", Date, nullable=False),
    Column("document_id", Id, ForeignKey("documents.id"), nullable=False),
    Column("extraction", JSON, nullable=False),
    Column("verdict", Text),
    Column("created_at", UtcDateTime, nullable=False),
    Column("revised_at", UtcDateTime, nullable=False),
    Index(None, "repo_folded", "current_edition"),
    Index(
        "entries_revised_ix",
        "revised_at",
        sqlite_where=text("revision > 1"),
        postgresql_where=text("revision > 1"),
    ),
)

identities = Table(
    "identities",
    metadata,
    # Every name that an entry has, or ever had. This row decides who may insert the entry.
    Column("identity", Text, primary_key=True),
    Column("entry_id", Id, ForeignKey("entries.id"), nullable=False),
    Index(None, "entry_id"),
)

entry_revisions = Table(
    "entry_revisions",
    metadata,
    Column("entry_id", Id, ForeignKey("entries.id"), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("verdict", Text),
    Column("at", UtcDateTime, nullable=False),
    PrimaryKeyConstraint("entry_id", "revision"),
)

appearances = _numbered(
    "appearances",
    Column("document_id", Id, ForeignKey("documents.id"), nullable=False),
    Column("entry_id", Id, ForeignKey("entries.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("line", Integer, nullable=False),
    UniqueConstraint("document_id", "position"),
    Index(None, "entry_id"),
)

teams = Table(
    "teams",
    metadata,
    Column("team_id", Text, primary_key=True),
    Column("name", Text),
    Column("url", Text),
    Column("blocked_reason", Text),
    Column("blocked_advice", Text),
    Column("blocked_until", UtcDateTime),
    # The pace of the whole workspace, which the replicas share: microseconds since 1970, so that "take the next place"
    # is one exact UPDATE in both databases.
    Column("next_post_us", Id, nullable=False, server_default=text("0")),
    Column("next_update_us", Id, nullable=False, server_default=text("0")),
)

channels = Table(
    "channels",
    metadata,
    *_channel(),
    Column("name", Text),
    Column("known_since", UtcDateTime, nullable=False),
    # NULL until the first-run limit was applied.
    Column("baseline_at", UtcDateTime),
    Column("lease_owner", Text),
    Column("lease_until", UtcDateTime),
    Column("blocked_reason", Text),
    Column("blocked_advice", Text),
    Column("blocked_until", UtcDateTime),
    Column("next_post_at", UtcDateTime),
    # The greatest ordinal given to a delivery of this channel.
    Column("ordinal", Id, nullable=False, server_default=text("0")),
    PrimaryKeyConstraint("team_id", "channel_id"),
)

channel_names = Table(
    "channel_names",
    metadata,
    Column("team_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("channel_id", Text, nullable=False),
    PrimaryKeyConstraint("team_id", "name"),
)

NEVER_UPDATED = "update_revision = 0 AND state = 'planned'"
"""Roots that do not link to their entries yet. In these words, because SQLite uses a partial index only for them."""

slots = _numbered(
    "slots",
    *_channel(),
    Column("local_date", Date, nullable=False),
    Column("name", Text, nullable=False),
    Column("due_at", UtcDateTime, nullable=False),
    Column("state", Text, nullable=False),
    Column("planned_at", UtcDateTime, nullable=False),
    Column("layout", Text, nullable=False),
    Column("detail", JSON, nullable=False),
    # The greatest revision that the root shows, or that an update of it was planned for; 0 before the first.
    Column("update_revision", Integer, nullable=False, server_default=text("0")),
    UniqueConstraint("team_id", "channel_id", "local_date", "name"),
    Index(None, "local_date"),
    Index(
        "slots_without_update_ix",
        "id",
        sqlite_where=text(NEVER_UPDATED),
        postgresql_where=text(NEVER_UPDATED),
    ),
)

slot_documents = Table(
    "slot_documents",
    metadata,
    *_channel(),
    Column("document_id", Id, ForeignKey("documents.id"), nullable=False),
    Column("slot_id", Id, ForeignKey("slots.id"), nullable=False),
    PrimaryKeyConstraint("team_id", "channel_id", "document_id"),
    Index(None, "slot_id"),
)

deliveries = _numbered(
    "deliveries",
    Column("key", Text, nullable=False),
    *_channel(),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("part", Integer, nullable=False),
    Column("slot_id", Id, ForeignKey("slots.id")),
    Column("ordinal", Id, nullable=False),
    Column("state", Text, nullable=False),
    Column("ts", Text),
    Column("thread_ts", Text),
    # Claims: the fence of records. Then what counts against a message: unknown outcomes, and refusals of itself.
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("doubts", Integer, nullable=False, server_default=text("0")),
    Column("refusals", Integer, nullable=False, server_default=text("0")),
    Column("error", Text),
    Column("claimed_by", Text),
    Column("claimed_until", UtcDateTime),
    Column("sending_since", UtcDateTime),
    # The first attempt of all: no message of this delivery can be older.
    Column("first_sending_at", UtcDateTime),
    Column("next_try_at", UtcDateTime),
    Column("looks", Integer, nullable=False, server_default=text("0")),
    # The revision that the message in Slack shows (or will, once it is sent), its updates counted in.
    Column("told_revision", Integer),
    # Of an entry's first part: how many there are. The others are planned when it is sent.
    Column("parts", Integer, nullable=False, server_default=text("1")),
    # An entry that stands in its compact root, not in a message of its own.
    Column("folded", Boolean, nullable=False, server_default=text("false")),
    Column("planned_at", UtcDateTime, nullable=False),
    Column("sent_at", UtcDateTime),
    Column("updated_at", UtcDateTime, nullable=False),
    UniqueConstraint("key"),
    UniqueConstraint("team_id", "channel_id", "kind", "subject", "revision", "part", name="deliveries_once_key"),
    Index(None, "slot_id", "kind"),
    Index(None, "subject"),
    Index(None, "team_id", "channel_id", "ts"),
    # Serves "the next of this channel", "the last sent of this channel" and "everything in this state".
    Index("deliveries_queue_ix", "state", "team_id", "channel_id", "ordinal", "part"),
)

marks = Table(
    "marks",
    metadata,
    Column("team_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("entry_id", Id, ForeignKey("entries.id"), nullable=False),
    Column("saved_at", UtcDateTime, nullable=False),
    PrimaryKeyConstraint("team_id", "user_id", "entry_id"),
)

shares = _numbered(
    "shares",
    *_channel(),
    # NULL until Slack has answered: the row is written first, so that a second click finds it.
    Column("ts", Text),
    Column("entry_id", Id, ForeignKey("entries.id"), nullable=False),
    Column("user_id", Text, nullable=False),
    Column("request_key", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    UniqueConstraint("request_key"),
    Index(None, "team_id", "channel_id", "ts"),
    Index(None, "entry_id"),
)

replies = Table(
    "replies",
    metadata,
    *_channel(),
    Column("ts", Text, nullable=False),
    Column("thread_ts", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    PrimaryKeyConstraint("team_id", "channel_id", "ts"),
    Index(None, "team_id", "channel_id", "thread_ts"),
)

reactions = Table(
    "reactions",
    metadata,
    *_channel(),
    Column("ts", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    PrimaryKeyConstraint("team_id", "channel_id", "ts", "user_id", "name"),
)

events_seen = Table(
    "events_seen",
    metadata,
    Column("event_id", Text, primary_key=True),
    Column("seen_at", UtcDateTime, nullable=False),
    Index(None, "seen_at"),
)

alerts = Table(
    "alerts",
    metadata,
    Column("cause", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("count", Integer, nullable=False),
    Column("first_at", UtcDateTime, nullable=False),
    Column("last_at", UtcDateTime, nullable=False),
    Column("told_at", UtcDateTime),
    Column("owed_from", UtcDateTime),  # whoever claims it tells it from then on; NULL: nobody need tell it
    Column("team_id", Text),  # what it is about, where that is a channel
    Column("channel_id", Text),
)

search_tables.define(metadata)
