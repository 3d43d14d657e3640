"""digest-bot: a team's daily digest, delivered to Slack once, and found again."""

__version__ = "1.0.0"
