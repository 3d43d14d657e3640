"""Alerts are owed until Slack has taken them, and say which channel they are about."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what is owed; so far, that was an alert without the time when it was told."""
    op.add_column("alerts", sa.Column("owed_from", sa.DateTime(timezone=True)))
    op.add_column("alerts", sa.Column("team_id", sa.Text()))
    op.add_column("alerts", sa.Column("channel_id", sa.Text()))
    op.execute("UPDATE alerts SET owed_from = last_at, told_at = last_at WHERE told_at IS NULL")
