"""A small Slack workspace on loopback, faithful enough to be the judge of a bot.

It serves the Web API, Socket Mode, response URLs and a page, with Slack's limits, errors, rate limits and faults.
It imports nothing else of `bot`: the judge of a message is not its author. Start with `server.LocalWorkspace`.
"""
