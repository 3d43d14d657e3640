"""Departure: what is due where, said to Slack once, and looked for where the answer was lost."""
