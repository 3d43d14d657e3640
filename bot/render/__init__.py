"""Messages: values in, words and Block Kit out. Pure; nothing here talks to Slack."""
