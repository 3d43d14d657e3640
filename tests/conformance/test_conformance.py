"""The local workspace passes its own probe, check by check."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator

import pytest

from bot.workspace.server import LocalWorkspace
from tests.conformance.checks import ALL, Verdict, run
from tests.conformance.probe import Check, Probe


@pytest.fixture(scope="module")
def probe() -> Iterator[Probe]:
    with LocalWorkspace() as workspace:
        yield Probe(
            workspace.api_url,
            workspace.bot_token,
            user_token=workspace.user_token("reader"),
            app_token=workspace.app_token,
            page=True,
        )


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.__name__)
def test_the_local_workspace_answers_as_slack_does(probe: Probe, check: Check) -> None:
    check(probe)


class Careless(http.server.BaseHTTPRequestHandler):
    """An emulator with every common mistake: it says yes to everything and keeps nothing."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.dumps({"ok": True, "channel": {"id": "C1", "name": "x"}, "ts": "1.1", "messages": []}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Be quiet."""


def test_the_probe_fails_an_emulator_that_says_yes_to_everything() -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Careless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        findings = list(run(Probe(f"http://127.0.0.1:{server.server_port}/api/", "xoxb-any", user_token="xoxp-any")))
        server.shutdown()
    passed = [finding.name for finding in findings if finding.verdict is Verdict.PASS]
    assert passed in (
        [],
        ["the token may come as an argument"],
        ["the token may come as an argument", "good blocks are taken"],
    )
    assert sum(finding.verdict is Verdict.FAIL for finding in findings) > 35
