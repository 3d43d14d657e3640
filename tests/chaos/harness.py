"""Runs bots and a workspace in processes of their own, breaks both at random, and judges what is left.

Everything random comes from one seed, which is printed: `python -m tests.chaos --seed N` makes the same choices again
(the machine's timing stays its own).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slack_sdk import WebClient

from tests.chaos.feed import Feed
from tests.chaos.oracle import Verdict, judge, read

ROOT = Path(__file__).parents[2]
CHANNELS = {"chaos-a": "channel", "chaos-b": "thread", "chaos-c": "compact"}
"""Every channel with its layout."""
LEASE = 1.2
PATIENCE = 5.0
EXIT = 10.0
"""Seconds that platforms give a process to end."""
"""Longest wait for bots to get on with their work before one is killed all the same."""
CONFIG = """
inbox: {{path: inbox, scan_every: "150ms", settle: "0s"}}
channels:
{channels}
delivery:
  pace: "15ms"
  ceiling_per_minute: null
  post_timeout: "500ms"
  lease: "{lease}s"
  settle: "200ms"
  order_wait: "1h"
  max_attempts: 100
  tick: "100ms"
  workers: 4
"""
CHANNEL = """  - channel: "#{name}"
    first_run_limit: 1000
    max_messages: 500
    layout: {layout}
    schedule: {{at: "03:00", days: sun, timezone: UTC}}
"""
POST_FAULTS = (
    ("drop_before", {}),
    ("drop_after", {}),
    ("reset_before", {}),
    ("reset_after", {}),
    ("truncate_after", {}),
    ("reset_midway", {}),
    ("hang_before", {"seconds": 0.7}),
    ("hang_after", {"seconds": 0.7}),
    ("slow", {"seconds": 0.3}),
    ("status_before", {"status": 503}),
    ("status_after", {"status": 502}),
    ("rate_limited", {"seconds": 1}),
    ("error", {"error": "internal_error"}),
    ("error", {"error": "fatal_error"}),
    ("error_after", {"error": "internal_error"}),
    ("not_json_before", {}),
    ("not_json_after", {}),
)
OTHER_FAULTS = (
    ("conversations.history", "rate_limited", {"seconds": 1}),
    ("conversations.history", "drop_before", {}),
    ("conversations.history", "status_before", {"status": 500}),
    ("conversations.history", "truncate_after", {}),
    ("conversations.replies", "drop_before", {}),
    ("conversations.replies", "status_before", {"status": 500}),
    ("chat.update", "drop_after", {}),
    ("chat.update", "rate_limited", {"seconds": 1}),
    ("auth.test", "drop_before", {}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One set-up. `kills` and `faults` are how many must have happened before the dust may settle."""

    seed: int
    database_url: str
    replicas: int
    kills: int
    faults: int
    stops: int = 0
    mutation: str | None = None
    kinds: tuple[str, ...] = ()
    """The faults of a post to choose from; none named: all."""
    talk: bool = False
    """Whether progress is told on standard error."""
    seconds: float = 900.0
    """When the run stops breaking things, enough or not."""
    settle_seconds: float = 90.0
    """How long the dust may take to settle after the last message that was still missing has come."""


@dataclass(slots=True, kw_only=True)
class Report:
    """What happened, and what stands in the channels."""

    plan: Plan
    kills: int = 0
    faults: int = 0
    stops: int = 0
    ends: int = 0
    """Bots that were asked to end, by SIGTERM."""
    late_ends: int = 0
    """Those of them that were still there when a platform would have killed them."""
    documents: int = 0
    entries: int = 0
    seconds: float = 0.0
    held: int = 0
    unfinished: int = 0
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    evidence: list[str] = field(default_factory=list)
    """What the workspace logged of messages that stand more than once."""

    @property
    def is_clean(self) -> bool:
        """Whether the promise was kept in every channel, with nothing left over."""
        return not (self.held or self.unfinished or self.late_ends) and all(
            one.is_clean for one in self.verdicts.values()
        )

    def line(self) -> str:
        """One line for people."""
        kind = "postgresql" if self.plan.database_url.startswith("postgres") else "sqlite"
        names = ("posted", "lost", "doubled", "out_of_order", "roots_wrong", "parts_wrong")
        total = {name: sum(getattr(one, name) for one in self.verdicts.values()) for name in names}
        return (
            f"seed {self.plan.seed} {kind} x{self.plan.replicas}: {self.kills} kills, {self.stops} stops, "
            f"{self.ends} gentle ends ({self.late_ends} late), "
            f"{self.faults} faults, {self.documents} documents, {total['posted']} entries posted in "
            f"{len(self.verdicts)} channels, {self.seconds:.0f} s; lost {total['lost']}, doubled {total['doubled']}, "
            f"out of order {total['out_of_order']}, roots wrong {total['roots_wrong']}, parts wrong "
            f"{total['parts_wrong']}, held {self.held}, unfinished {self.unfinished}"
        )


def run(plan: Plan, folder: Path) -> Report:
    """Run one plan in `folder` (made anew) and judge it. Processes are ended whatever happens."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "inbox").mkdir(parents=True)
    channels = "".join(CHANNEL.format(name=name, layout=layout) for name, layout in CHANNELS.items())
    (folder / "config.yaml").write_text(CONFIG.format(channels=channels, lease=LEASE), encoding="utf-8")
    with ExitStack() as stack:
        chaos = _Chaos(plan, folder, stack)
        return chaos.run()


class _Chaos:
    def __init__(self, plan: Plan, folder: Path, stack: ExitStack) -> None:
        self._plan = plan
        self._folder = folder
        self._random = random.Random(plan.seed)
        self._report = Report(plan=plan)
        self._feed = Feed(inbox=folder / "inbox", random=self._random)
        self._bots: list[int] = []
        port = _free_port()
        self._url = f"http://127.0.0.1:{port}"
        self._workspace = self._process(
            stack,
            [sys.executable, "-m", "bot", "workspace", "--port", str(port)]
            + [argument for name in CHANNELS for argument in ("--channel", name)],
            "workspace.log",
        )
        self._state = self._wait_for_workspace()
        self._control("seed", {"seed": plan.seed})
        self._environ = {
            "SLACK_API_URL": self._state["api_url"],
            "SLACK_BOT_TOKEN": self._state["bot_token"],
            "SLACK_APP_TOKEN": self._state["app_token"],
            "DATABASE_URL": plan.database_url,
            "PORT": "",
        }
        self._zygote = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.zygote"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        stack.callback(self._end_zygote)
        stack.callback(self._kill_all)

    # --- the run ---

    def run(self) -> Report:
        began = time.monotonic()
        self._feed.write()
        self._arm()
        for _ in range(self._plan.replicas):
            self._bots.append(self._spawn())
        deadline = began + self._plan.seconds
        while not self._enough() and time.monotonic() < deadline:
            self._step()
            self._say(f"{self._report.kills} kills, {self._report.faults} faults, {self._feed.documents} documents")
        self._settle()
        self._report.seconds = time.monotonic() - began
        self._report.documents = self._feed.documents
        self._report.entries = len(self._feed.titles)
        return self._report

    def _say(self, words: str) -> None:
        if self._plan.talk:
            print(f"  {words}", file=sys.stderr, flush=True)

    def _enough(self) -> bool:
        self._report.faults = self._faults_used()
        return (
            self._report.kills >= self._plan.kills
            and self._report.faults >= self._plan.faults
            and self._report.stops >= self._plan.stops
        )

    def _step(self) -> None:
        if self._random.random() < 0.7:
            self._feed.write()
        self._arm()
        self._wait_for_posts(self._random.randint(0, 9))
        time.sleep(self._random.uniform(0, 0.05))  # anywhere between a claim, the call and the record
        self._respawn_dead()
        if self._report.stops < self._plan.stops and self._random.random() < 0.1:
            self._stop_and_continue()
            # What the woken one does with what it held is the question: it is not killed before it has answered.
            self._wait_for_posts(self._random.randint(1, 4))
            return
        index = self._random.randrange(len(self._bots))
        if self._random.random() < 0.05:
            self._end(self._bots[index])
        else:
            self._kill(self._bots[index])
            self._report.kills += 1
        self._bots[index] = self._spawn()
        if self._random.random() < 0.1:
            action = self._random.choice(["drop", "refresh_requested", "warning"])
            self._control("socket", {"action": action})

    def _wait_for_posts(self, number: int) -> None:
        """Wait until the workspace was asked to post so many more messages."""
        limit = time.monotonic() + PATIENCE
        seen = self._posts
        while self._posts - seen < number and time.monotonic() < limit:
            time.sleep(0.02)
            self._read_log()

    def _settle(self) -> None:
        self._control("faults", method="DELETE")
        self._report.faults = max(self._report.faults, self._faults_used())
        for pid in self._bots:
            self._kill(pid)
        self._bots = [self._spawn() for _ in range(self._plan.replicas)]
        client = WebClient(self._state["bot_token"], base_url=self._state["api_url"])
        expected = self._feed.titles
        limit = time.monotonic() + self._plan.settle_seconds
        restarted = time.monotonic()
        least: int | None = None
        while time.monotonic() < limit:
            self._judge(client, expected)
            unfinished = self._unfinished()
            lost = {name: one.lost for name, one in self._report.verdicts.items()}
            missing = unfinished + sum(lost.values())
            if least is None or missing < least:
                # A slow machine has planned more than it could send between two kills.
                least, limit = missing, time.monotonic() + self._plan.settle_seconds
            self._say(f"settling: {lost} still missing, {unfinished} unfinished")
            if max(lost.values()) <= 2:
                self._say(f"  {[one.surprises for one in self._report.verdicts.values()]}")
            if not (unfinished or any(one.lost or one.parts_wrong for one in self._report.verdicts.values())):
                break
            if self._plan.mutation and any(one.doubled for one in self._report.verdicts.values()):
                break  # what was to be noticed is there, and no later message mends it
            # Files that arrived while nobody planned are planned by the next start.
            if time.monotonic() - restarted > 4 * LEASE:
                self._end_gently()
                self._bots = [self._spawn() for _ in range(self._plan.replicas)]
                restarted = time.monotonic()
            time.sleep(1.0)
        time.sleep(1.5)  # a late double would come now: after the lease and the settling of whoever posted last
        self._end_gently()
        self._judge(client, expected)
        self._report.evidence = self._evidence()
        self._report.held = sum(one["state"] == "held" for one in self._deliveries())
        self._report.unfinished = self._unfinished()

    def _evidence(self) -> list[str]:
        twice = [one for verdict in self._report.verdicts.values() for one in verdict.twice]
        if not twice:
            return []
        posts = self._control("log?method=chat.postMessage")["entries"]
        return [
            f"{key} at {ts}: {next((call for call in posts if call['ts'] == ts), 'not in the log')}"
            for key, *moments in twice
            for ts in moments
        ]

    def _judge(self, client: WebClient, expected: list[str]) -> None:
        self._report.verdicts = {
            name: judge(
                read(client, self._state["channels"][name], self._state["bot_user_id"]), expected, self._feed.long
            )
            for name in CHANNELS
        }

    # --- faults ---

    def _arm(self) -> None:
        for _ in range(self._random.randint(1, 2)):
            kind, more = self._random.choice(
                [one for one in POST_FAULTS if not self._plan.kinds or one[0] in self._plan.kinds]
            )
            self._fault("chat.postMessage", kind, more)
        if self._random.random() < 0.3:
            method, kind, more = self._random.choice(OTHER_FAULTS)
            self._fault(method, kind, more)

    def _fault(self, method: str, kind: str, more: dict[str, object]) -> None:
        self._control(
            "faults", {"kind": kind, "method": method, "times": 1, "skip": self._random.randint(0, 12), **more}
        )

    def _faults_used(self) -> int:
        self._read_log()
        return self._used

    def _read_log(self) -> None:
        calls = self._control(f"log?after={self._seen}")["entries"]
        if calls:
            self._seen = calls[-1]["number"]
            self._used += sum(call["fault"] is not None for call in calls)
            self._posts += sum(call["method"] == "chat.postMessage" for call in calls)

    _seen = 0
    _used = 0
    _posts = 0

    # --- processes ---

    def _spawn(self) -> int:
        assert self._zygote.stdin is not None
        assert self._zygote.stdout is not None
        wish = {
            "environ": self._environ,
            "cwd": str(self._folder),
            "log": str(self._folder / "bots.log"),
            "mutation": self._plan.mutation,
        }
        self._zygote.stdin.write(json.dumps(wish) + "\n")
        self._zygote.stdin.flush()
        return int(self._zygote.stdout.readline())

    def _kill(self, pid: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def _kill_all(self) -> None:
        for pid in self._bots:
            self._kill(pid)

    def _respawn_dead(self) -> None:
        self._bots = [pid if _alive(pid) else self._spawn() for pid in self._bots]

    def _stop_and_continue(self) -> None:
        pid = self._random.choice(self._bots)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(LEASE + self._random.uniform(0.2, 1.0))
            os.kill(pid, signal.SIGCONT)
        self._report.stops += 1

    def _end(self, pid: int) -> None:
        """SIGTERM, and what is promised of it."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        limit = time.monotonic() + EXIT
        while _alive(pid) and time.monotonic() < limit:
            time.sleep(0.02)
        self._report.ends += 1
        self._report.late_ends += _alive(pid)
        self._kill(pid)

    def _end_gently(self) -> None:
        for pid in self._bots:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        limit = time.monotonic() + 10
        while any(_alive(pid) for pid in self._bots) and time.monotonic() < limit:
            time.sleep(0.05)
        self._kill_all()
        self._bots = []

    def _end_zygote(self) -> None:
        assert self._zygote.stdin is not None
        self._zygote.stdin.close()
        self._zygote.wait(10)

    def _process(self, stack: ExitStack, command: list[str], log: str) -> subprocess.Popen[bytes]:
        output = stack.enter_context((self._folder / log).open("ab"))
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, stdin=subprocess.DEVNULL)

        def end() -> None:
            process.terminate()
            process.wait(10)

        stack.callback(end)
        return process

    # --- asking ---

    def _deliveries(self) -> list[dict[str, Any]]:
        command = [sys.executable, "-m", "bot", "deliveries", "--json", "--limit", "100000"]
        done = subprocess.run(
            [*command, "--config", str(self._folder / "config.yaml")],
            cwd=ROOT,
            env={**os.environ, **self._environ},
            capture_output=True,
            check=True,
            text=True,
        )
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found

    def _unfinished(self) -> int:
        """Messages that are neither sent nor skipped. Changes of sent ones do not count: their tier lets few through."""
        states = ("uncertain", "sending", "planned", "failed")
        return sum(one["kind"] != "update" and one["state"] in states for one in self._deliveries())

    def _wait_for_workspace(self) -> dict[str, Any]:
        limit = time.monotonic() + 30
        while time.monotonic() < limit:
            with suppress(OSError):
                return self._control("state")
            time.sleep(0.1)
        raise RuntimeError("the workspace did not start: see workspace.log")

    def _control(
        self, path: str, body: dict[str, object] | None = None, *, method: str | None = None
    ) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._url}/_control/{path}", data=data, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as response:
            answer: dict[str, Any] = json.load(response)
        return answer


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
