"""A team with any configuration, on the moved clock, and what its workspace was asked."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from sqlalchemy import select

from bot.bootstrap.assemble import assemble
from bot.bootstrap.health import Health
from bot.bootstrap.running import Bot
from bot.config import Secrets, load
from bot.storage.schema import slots
from bot.web import Check
from tests.e2e.support import Morning, Reading, digest, first_line

HEAD = """
inbox: {{path: inbox, timezone: Asia/Shanghai}}
database: "{database}"
delivery: {{pace: 10ms, settle: 10ms, ceiling_per_minute: null{delivery}}}
alerts: {{channel: "#ops"}}
channels:
"""
NINE = '  - {channel: "#vllm-digest", schedule: {at: "09:00", days: daily, timezone: Asia/Shanghai}}\n'


class Team(Morning):
    """A `Morning` whose configuration is written by the test."""

    def begin(self, channels: str = NINE, *, delivery: str = "") -> Bot:
        """Start a bot with these channels, as a process that comes up does: earlier ones are gone."""
        self.stop()
        path = self.write(channels, delivery=delivery)
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

    def write(self, channels: str, *, delivery: str = "") -> Path:
        path = self.folder / "config.yaml"
        more = f", {delivery}" if delivery else ""
        path.write_text(HEAD.format(database=self.database, delivery=more) + channels, "utf-8")
        return path

    def titles(self, channel: str = "vllm-digest") -> list[str]:
        """The first lines of what stands in a channel, without the roots."""
        return [first_line(one) for one in self.read(channel).messages() if not is_root(one)]

    def roots(self, channel: str = "vllm-digest") -> list[str]:
        return [str(one["text"]) for one in self.read(channel).messages() if is_root(one)]

    def read(self, channel: str) -> Reading:
        self.flush()
        return Reading.of(self.workspace.api_url, self.workspace.bot_token, channel)

    def flush(self) -> None:
        """Alerts are posted aside: what was raised before a look shall be there."""
        if self.bot is not None:
            self.bot.delivery.flush(10)

    def told(self) -> list[str]:
        self.flush()
        return [str(one["text"]) for one in self.ops.messages()]

    def slots(self) -> list[str]:
        """How the slots were decided, in the order of time."""
        assert self.bot is not None
        with self.bot.archive.database.reading() as connection:
            return list(connection.execute(select(slots.c.state).order_by(slots.c.due_at)).scalars())

    def posts(self) -> int:
        return len(self.workspace.calls(method="chat.postMessage"))

    def check(self, name: str) -> Check:
        """What `/readyz` says about one thing."""
        assert self.bot is not None
        return Health(bot=self.bot).checks()[name]()

    def run(self, verb: str, *words: str) -> Result:
        """Run a verb of the command line, in this process."""
        command = import_module(f"bot.cli.{verb}").command
        return CliRunner().invoke(command, ["--config", str(self.folder / "config.yaml"), *words])

    def verb(self, verb: str, *words: str) -> Any:
        """What a verb prints as JSON."""
        return json.loads(self.run(verb, *words, "--json").stdout)

    def figure(self, name: str, **labels: str) -> float:
        """A figure of `/metrics`; 0 where it is not there yet."""
        assert self.bot is not None
        for line in self.bot.metrics.exposition().decode().splitlines():
            if line.split("{")[0].split(" ")[0] == name and all(f'{k}="{v}"' in line for k, v in labels.items()):
                return float(line.rpartition(" ")[2])
        return 0.0


def is_root(message: dict[str, Any]) -> bool:
    """A root has a headline; so an entry has none of the marks that a title cannot have."""
    return not str(message["text"]).startswith("Item ")


def numbered(first: int, last: int) -> str:
    """A digest of entries whose titles are `Item <number>`."""
    return digest(
        *((f"Item {n}", f"值得精读。It moves part {n} of the machine {n * 7919}.") for n in range(first, last + 1))
    )


def items(first: int, last: int) -> list[str]:
    return [f"Item {n}" for n in range(first, last + 1)]
