"""The checker of blocks, written from Slack's documents (Block Kit reference), not from ours."""
