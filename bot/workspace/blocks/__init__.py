"""The checker of blocks, written from Slack's documents (Block Kit reference, slack-facts 1.2), not from ours."""
