"""What a Slack workspace must answer, call by call: run against ours in the suite, and against any other by command."""
