"""Everything that speaks to Slack: posting, looking, and the listeners that answer people."""
