"""`python -m tests.conformance --url http://127.0.0.1:8155/api/ --token xoxb-...`: a table of pass and fail."""

from __future__ import annotations

import argparse
import sys

from tests.conformance.checks import Verdict, run
from tests.conformance.probe import Probe


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance",
        description="States call by call what a Slack workspace must answer. Makes channels and messages: use a test team.",
        epilog="python -m tests.conformance --url https://slack.com/api/ --token xoxb-... --user-token xoxp-...",
    )
    parser.add_argument("--url", required=True, help="base URL, for example http://127.0.0.1:8155/api/")
    parser.add_argument("--token", required=True, help="the bot's token")
    parser.add_argument("--user-token", help="a person's token, for what needs two")
    parser.add_argument("--app-token", help="an app-level token, for Socket Mode")
    parser.add_argument("--channel", help="a channel with the bot in it (else one is made)")
    parser.add_argument("--page", action="store_true", help="the base has our page, so that a person can be played")
    given = parser.parse_args()
    probe = Probe(
        given.url,
        given.token,
        user_token=given.user_token,
        app_token=given.app_token,
        channel=given.channel,
        page=given.page,
    )
    failed = tried = 0
    for finding in run(probe):
        sys.stdout.write(f"{finding.verdict:<5} {finding.name:<62} {finding.detail}\n")
        failed += finding.verdict is Verdict.FAIL
        tried += finding.verdict is not Verdict.NOT_TRIED
    sys.stdout.write(f"{tried - failed} of {tried} as Slack answers\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
