"""The first schema."""

import sqlalchemy as sa
from alembic import op

from bot.storage.search_tables import ddl

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make every table of an empty database."""
    op.create_table(
        "alerts",
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("first_at", INSTANT, nullable=False),
        sa.Column("last_at", INSTANT, nullable=False),
        sa.Column("told_at", INSTANT),
        sa.PrimaryKeyConstraint("cause", name="alerts_pkey"),
    )
    op.create_table(
        "channel_names",
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "name", name="channel_names_pkey"),
    )
    op.create_table(
        "channels",
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text()),
        sa.Column("known_since", INSTANT, nullable=False),
        sa.Column("baseline_at", INSTANT),
        sa.Column("lease_owner", sa.Text()),
        sa.Column("lease_until", INSTANT),
        sa.Column("blocked_reason", sa.Text()),
        sa.Column("blocked_advice", sa.Text()),
        sa.Column("blocked_until", INSTANT),
        sa.Column("next_post_at", INSTANT),
        sa.Column("ordinal", ID, server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id", name="channels_pkey"),
    )
    op.create_table(
        "documents",
        sa.Column("id", ID, nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("edition", sa.Date(), nullable=False),
        sa.Column("arrived_at", INSTANT, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("entry_count", sa.Integer(), nullable=False),
        sa.Column("superseded", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.PrimaryKeyConstraint("id", name="documents_pkey"),
        sa.UniqueConstraint("source", "sha256", name="documents_source_sha256_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("documents_edition_ix", "documents", ["edition"])
    op.create_index("documents_source_name_ix", "documents", ["source", "name"])
    op.create_table(
        "events_seen",
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("seen_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("event_id", name="events_seen_pkey"),
    )
    op.create_index("events_seen_seen_at_ix", "events_seen", ["seen_at"])
    op.create_table(
        "reactions",
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("ts", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "ts", "user_id", "name", name="reactions_pkey"),
    )
    op.create_table(
        "replies",
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("ts", sa.Text(), nullable=False),
        sa.Column("thread_ts", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "ts", name="replies_pkey"),
    )
    op.create_index("replies_team_id_channel_id_thread_ts_ix", "replies", ["team_id", "channel_id", "thread_ts"])
    op.create_table(
        "slots",
        sa.Column("id", ID, nullable=False),
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("local_date", sa.Date(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("planned_at", INSTANT, nullable=False),
        sa.Column("layout", sa.Text(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("update_revision", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("id", name="slots_pkey"),
        sa.UniqueConstraint(
            "team_id", "channel_id", "local_date", "name", name="slots_team_id_channel_id_local_date_name_key"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("slots_local_date_ix", "slots", ["local_date"])
    op.create_index(
        "slots_without_update_ix",
        "slots",
        ["id"],
        sqlite_where=sa.text("update_revision = 0 AND state = 'planned'"),
        postgresql_where=sa.text("update_revision = 0 AND state = 'planned'"),
    )
    op.create_table(
        "teams",
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text()),
        sa.Column("url", sa.Text()),
        sa.Column("blocked_reason", sa.Text()),
        sa.Column("blocked_advice", sa.Text()),
        sa.Column("blocked_until", INSTANT),
        sa.Column("next_post_us", ID, server_default=sa.text("0"), nullable=False),
        sa.Column("next_update_us", ID, server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("team_id", name="teams_pkey"),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", ID, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("slot_id", ID),
        sa.Column("ordinal", ID, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("ts", sa.Text()),
        sa.Column("thread_ts", sa.Text()),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("doubts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("refusals", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("error", sa.Text()),
        sa.Column("claimed_by", sa.Text()),
        sa.Column("claimed_until", INSTANT),
        sa.Column("sending_since", INSTANT),
        sa.Column("first_sending_at", INSTANT),
        sa.Column("next_try_at", INSTANT),
        sa.Column("looks", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("told_revision", sa.Integer()),
        sa.Column("parts", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("folded", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("planned_at", INSTANT, nullable=False),
        sa.Column("sent_at", INSTANT),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["slot_id"], ["slots.id"], name="deliveries_slot_id_fkey"),
        sa.PrimaryKeyConstraint("id", name="deliveries_pkey"),
        sa.UniqueConstraint("key", name="deliveries_key_key"),
        sa.UniqueConstraint("team_id", "channel_id", "kind", "subject", "revision", "part", name="deliveries_once_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("deliveries_queue_ix", "deliveries", ["state", "team_id", "channel_id", "ordinal", "part"])
    op.create_index("deliveries_slot_id_kind_ix", "deliveries", ["slot_id", "kind"])
    op.create_index("deliveries_subject_ix", "deliveries", ["subject"])
    op.create_index("deliveries_team_id_channel_id_ts_ix", "deliveries", ["team_id", "channel_id", "ts"])
    op.create_table(
        "entries",
        sa.Column("id", ID, nullable=False),
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("repo_folded", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("url", sa.Text()),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("edition", sa.Date(), nullable=False),
        sa.Column("current_edition", sa.Date(), nullable=False),
        sa.Column("document_id", ID, nullable=False),
        sa.Column("extraction", sa.JSON(), nullable=False),
        sa.Column("verdict", sa.Text()),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("revised_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name="entries_document_id_fkey"),
        sa.PrimaryKeyConstraint("id", name="entries_pkey"),
        sqlite_autoincrement=True,
    )
    op.create_index("entries_repo_folded_current_edition_ix", "entries", ["repo_folded", "current_edition"])
    op.create_index(
        "entries_revised_ix",
        "entries",
        ["revised_at"],
        sqlite_where=sa.text("revision > 1"),
        postgresql_where=sa.text("revision > 1"),
    )
    op.create_table(
        "slot_documents",
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("document_id", ID, nullable=False),
        sa.Column("slot_id", ID, nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name="slot_documents_document_id_fkey"),
        sa.ForeignKeyConstraint(["slot_id"], ["slots.id"], name="slot_documents_slot_id_fkey"),
        sa.PrimaryKeyConstraint("team_id", "channel_id", "document_id", name="slot_documents_pkey"),
    )
    op.create_index("slot_documents_slot_id_ix", "slot_documents", ["slot_id"])
    op.create_table(
        "appearances",
        sa.Column("id", ID, nullable=False),
        sa.Column("document_id", ID, nullable=False),
        sa.Column("entry_id", ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name="appearances_document_id_fkey"),
        sa.ForeignKeyConstraint(["entry_id"], ["entries.id"], name="appearances_entry_id_fkey"),
        sa.PrimaryKeyConstraint("id", name="appearances_pkey"),
        sa.UniqueConstraint("document_id", "position", name="appearances_document_id_position_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("appearances_entry_id_ix", "appearances", ["entry_id"])
    op.create_table(
        "entry_revisions",
        sa.Column("entry_id", ID, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text()),
        sa.Column("at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["entry_id"], ["entries.id"], name="entry_revisions_entry_id_fkey"),
        sa.PrimaryKeyConstraint("entry_id", "revision", name="entry_revisions_pkey"),
    )
    op.create_table(
        "identities",
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("entry_id", ID, nullable=False),
        sa.ForeignKeyConstraint(["entry_id"], ["entries.id"], name="identities_entry_id_fkey"),
        sa.PrimaryKeyConstraint("identity", name="identities_pkey"),
    )
    op.create_index("identities_entry_id_ix", "identities", ["entry_id"])
    op.create_table(
        "marks",
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("entry_id", ID, nullable=False),
        sa.Column("saved_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["entry_id"], ["entries.id"], name="marks_entry_id_fkey"),
        sa.PrimaryKeyConstraint("team_id", "user_id", "entry_id", name="marks_pkey"),
    )
    op.create_table(
        "shares",
        sa.Column("id", ID, nullable=False),
        sa.Column("team_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("ts", sa.Text()),
        sa.Column("entry_id", ID, nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("request_key", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["entry_id"], ["entries.id"], name="shares_entry_id_fkey"),
        sa.PrimaryKeyConstraint("id", name="shares_pkey"),
        sa.UniqueConstraint("request_key", name="shares_request_key_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("shares_entry_id_ix", "shares", ["entry_id"])
    op.create_index("shares_team_id_channel_id_ts_ix", "shares", ["team_id", "channel_id", "ts"])

    connection = op.get_bind()
    for statement in ddl(connection.dialect.name):
        connection.exec_driver_sql(statement)
