"""What the end-to-end tests stand on: the seeds read by other eyes, a clock that is moved, processes, and a reader."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from slack_sdk import WebClient

from bot.bootstrap.assemble import assemble
from bot.bootstrap.running import Bot
from bot.config import Secrets, load
from bot.workspace.server import LocalWorkspace

ROOT = Path(__file__).parents[2]
SEEDS = ROOT / "seeds"
FIRST, SECOND = sorted(SEEDS.glob("*.txt"))
SHANGHAI = ZoneInfo("Asia/Shanghai")
CHANNEL = "vllm-digest"


class Item(NamedTuple):
    """An entry as it stands in a digest file."""

    title: str
    body: str


def items(path: Path) -> list[Item]:
    """Read a seed without the bot's own reader: a repository line, then title and paragraph by turns."""
    _repository, *parts = [part.strip() for part in path.read_text("utf-8").split("\n\n") if part.strip()]
    return [Item(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]


FIRST_ITEMS, SECOND_ITEMS = items(FIRST), items(SECOND)
SHARED = [one for one in SECOND_ITEMS if one in FIRST_ITEMS]
ONLY_SECOND = [one for one in SECOND_ITEMS if one not in FIRST_ITEMS]
ALL_ITEMS = [*FIRST_ITEMS, *ONLY_SECOND]


def digest(*entries: tuple[str, str], repo: str = "acme/widgets") -> str:
    """Write a digest file of the seeds' format."""
    return "\n\n".join([repo, *(part for entry in entries for part in entry)]) + "\n"


# --- time -------------------------------------------------------------------------------------------------------------


def shanghai(moment: str) -> datetime:
    """`2026-11-30 09:00` on the wall clock in Shanghai."""
    return datetime.fromisoformat(moment).replace(tzinfo=SHANGHAI).astimezone(UTC)


class MovedClock:
    """A clock that goes like any other, and is set by hand."""

    def __init__(self, moment: datetime) -> None:
        self._ahead = timedelta()
        self.set(moment)

    def set(self, moment: datetime) -> None:
        self._ahead = moment - datetime.now(UTC)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        """Waiting costs no time: what would end later ends now, later."""
        self._ahead += timedelta(seconds=seconds)
        return stop.is_set()

    def seconds(self) -> float:
        return self.now().timestamp()


def eventually(ask: Callable[[], Any], *, within: float = 30.0, what: str = "what was waited for") -> Any:
    """Ask until the answer is true, and return it. For what happens in another thread or process."""
    deadline = time.monotonic() + within
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come within {within:g} s; the last answer was {answer!r}")
        threading.Event().wait(0.05)


# --- reading back -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reading:
    """A channel as plain `slack_sdk` shows it to anybody with a token."""

    client: WebClient
    channel_id: str

    @classmethod
    def of(cls, api_url: str, token: str, channel: str = CHANNEL) -> Reading:
        client = WebClient(token, base_url=api_url)
        listed = client.conversations_list(limit=200)["channels"]
        (found,) = [one["id"] for one in listed if one["name"] == channel]
        return cls(client, found)

    def messages(self) -> list[dict[str, Any]]:
        """What was posted in the channel, oldest first: no replies, and not that somebody joined."""
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = self.client.conversations_history(
                channel=self.channel_id, limit=100, cursor=cursor, include_all_metadata=True
            )
            found += page["messages"]
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                break
        return sorted((one for one in found if "subtype" not in one), key=lambda one: one["ts"])

    def replies(self, ts: str) -> list[dict[str, Any]]:
        answer = self.client.conversations_replies(channel=self.channel_id, ts=ts)
        return list(answer["messages"])[1:]

    def permalink(self, ts: str) -> str:
        return str(self.client.chat_getPermalink(channel=self.channel_id, message_ts=ts)["permalink"])


def first_line(message: Mapping[str, Any]) -> str:
    return str(message["text"]).split("\n", 1)[0]


def plain(message: Mapping[str, Any]) -> str:
    """`text` as a reader hears it: Slack's three escapes undone."""
    return str(message["text"]).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def links(blocks: Any) -> list[str]:
    """Every address in rich text, in the order of reading."""
    if isinstance(blocks, list):
        return [url for one in blocks for url in links(one)]
    if not isinstance(blocks, dict):
        return []
    own = [blocks["url"]] if blocks.get("type") == "link" else []
    return own + [url for value in blocks.values() for url in links(value)]


def assert_entry(message: Mapping[str, Any], item: Item) -> None:
    """The message shows the whole entry: its title, then its paragraph word for word."""
    title, _, body = plain(message).partition("\n")
    assert title == item.title
    assert _words(body) == _words(item.body)


def _words(text: str) -> str:
    """A paragraph without its markup: backticks, and how the numbers of an enumeration are set (`1)` or a line's `1.`)."""
    return re.sub(r"\s+", "", re.sub(r"(?<![\w.])(\d+)[.)] ?", r"\1", text.replace("`", "")))


def assert_digest(messages: Sequence[Mapping[str, Any]], expected: Sequence[Item]) -> None:
    """A root and then these entries, in this order, each under a delivery id of its own."""
    root, *entries = messages
    assert [first_line(one) for one in entries] == [one.title for one in expected]
    for message, item in zip(entries, expected, strict=True):
        assert_entry(message, item)
    if len(expected) > 1:  # one entry alone is not listed: it follows at once
        assert [item.title in plain(root) for item in expected] == [True] * len(expected)
    ids = [json.dumps(one["metadata"]["event_payload"], sort_keys=True) for one in messages]
    assert len(set(ids)) == len(ids), "every message carries an id of its own"


# --- a bot by hand ----------------------------------------------------------------------------------------------------

CONFIG = """
inbox: {{path: inbox, timezone: Asia/Shanghai}}
database: "{database}"
channels:
  - channel: "#vllm-digest"
    language: {language}
    layout: {layout}
    {channel}
    schedule: {{at: "09:00", days: mon-fri, timezone: Asia/Shanghai, catch_up: 4h}}
delivery: {{pace: 10ms, ceiling_per_minute: null, {delivery}}}
alerts: {{channel: "#ops"}}
"""


class Morning:
    """A workspace, a bot that is moved by hand, and one clock for both."""

    def __init__(self, folder: Path, workspace: LocalWorkspace, clock: MovedClock, database: str) -> None:
        self.folder, self.workspace, self.clock, self.database = folder, workspace, clock, database
        self.inbox = folder / "inbox"
        self.inbox.mkdir()
        self._bots = contextlib.ExitStack()
        self.bot: Bot | None = None
        for name in (CHANNEL, "ops"):
            workspace.create_channel(name)
        self.channel = Reading.of(workspace.api_url, workspace.bot_token)
        self.ops = Reading.of(workspace.api_url, workspace.bot_token, "ops")

    def start(
        self, *, layout: str = "channel", language: str = "zh", delivery: str = "settle: 10ms", channel: str = ""
    ) -> Bot:
        """Start a bot on the database, as a process that comes up does: earlier ones are gone."""
        self.stop()
        path = self.folder / "config.yaml"
        words = {"layout": layout, "language": language, "delivery": delivery, "channel": channel}
        path.write_text(CONFIG.format(database=self.database, **words), "utf-8")
        secrets = Secrets(
            bot_token=self.workspace.bot_token,
            app_token=self.workspace.app_token,
            signing_secret=self.workspace.signing_secret,
            api_url=self.workspace.api_url,
        )
        bot = assemble(load(path), secrets, clock=self.clock, reread=lambda: load(path), seconds=self.clock.seconds)
        self._bots.callback(bot.close)
        self._bots.callback(bot.front.stop, 1.0)
        bot.refresh_policies()
        self.bot = bot
        return bot

    def stop(self) -> None:
        self._bots.close()
        self.bot = None

    def drop(self, name: str, data: str | bytes | Path) -> Path:
        """Put a complete file into the inbox: last touched a minute ago."""
        path = self.inbox / name
        if isinstance(data, Path):
            data = data.read_bytes()
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        past = self.clock.seconds() - 60
        os.utime(path, (past, past))
        return path

    def at(self, moment: str) -> None:
        """Move the clock to a time in Shanghai and let every tick come round."""
        self.clock.set(shanghai(moment))
        self.tick()

    def tick(self) -> None:
        assert self.bot is not None
        self.bot.ingest()
        for _ in range(3):  # after a few messages a turn ends, so that another replica may go on
            self.bot.deliver()
            self.bot.reconcile()
        self.bot.update()


# --- processes --------------------------------------------------------------------------------------------------------

PROGRAM = (sys.executable, "-m", "bot")


def environment(**extra: str) -> dict[str, str]:
    """This environment without what would point a bot elsewhere."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("SLACK_") and name not in ("DATABASE_URL", "PORT")
    }
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1", **extra}


def run_once(*words: str, cwd: Path, timeout: float = 60, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a verb to its end."""
    return subprocess.run(
        [*PROGRAM, *words],
        check=False,
        cwd=cwd,
        env=environment(**env),
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
    )


class Process:
    """A verb that stays. Its lines are kept; it is ended by its own id."""

    def __init__(self, *words: str, cwd: Path, **env: str) -> None:
        self.lines: list[str] = []
        self._new: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.child = subprocess.Popen(
            [*PROGRAM, *words],
            cwd=cwd,
            env=environment(**env),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            self.lines.append(line)
            self._new.put(line)
        self._new.put(None)

    def wait_for(self, pattern: str, *, within: float = 40.0) -> re.Match[str]:
        """Wait for a line of its output."""
        deadline = time.monotonic() + within
        while True:
            try:
                line = self._new.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {pattern!r} within {within:g} s in:\n{''.join(self.lines)}") from None
            if line is None:
                raise AssertionError(f"it ended before {pattern!r}:\n{''.join(self.lines)}")
            if found := re.search(pattern, line):
                return found

    def kill(self) -> None:
        """SIGKILL: nothing of its own runs any more."""
        self.child.kill()
        self.child.wait()

    def terminate(self, *, within: float = 15.0) -> int:
        """SIGTERM; return its exit code."""
        self.child.terminate()
        return self.child.wait(within)

    def close(self) -> None:
        if self.child.poll() is None:
            self.kill()
        self._reader.join(5)
        assert self.child.stdout is not None
        self.child.stdout.close()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def clean_copy(folder: Path) -> Path:
    """What a fresh checkout has that the demo reads."""
    shutil.copytree(SEEDS, folder / "seeds")
    shutil.copy(ROOT / "config.yaml", folder)
    return folder


def fetch(url: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Ask over HTTP; refusals are answers too, and so is nobody there (0)."""
    request = urllib.request.Request(url, data=data, headers=dict(headers or {}))
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.read().decode()
    except OSError:
        return 0, ""


@contextlib.contextmanager
def processes() -> Iterator[Callable[..., Process]]:
    """Start processes that are gone at the end, whatever happens."""
    with contextlib.ExitStack() as stack:

        def start(*words: str, cwd: Path, **env: str) -> Process:
            process = Process(*words, cwd=cwd, **env)
            stack.callback(process.close)
            return process

        yield start
