"""From nothing to a digest on screen: the local workspace, a bot against it over real HTTP and WebSocket, one delivery.

The bot does not know that it is a demo: only base URL, tokens, database and pace are other than in `run`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bot.bootstrap.assemble import assemble
from bot.bootstrap.running import Bot
from bot.config import Config, Secrets
from bot.errors import DigestBotError
from bot.model import DeliveryKind, DeliveryState, Language
from bot.slack.manifest import manifest
from bot.storage.engine import open_database
from bot.storage.migrate import migrate
from bot.workspace.errors import WorkspaceError
from bot.workspace.server import LocalWorkspace

if TYPE_CHECKING:
    from bot.ingest.service import Taken
    from bot.model import Delivery

PORT = 8155
"""Where the local workspace of a demo is."""
PACE = timedelta(milliseconds=120)
"""Quick, but slow enough to watch: the local workspace has no rate limit unless it is asked for."""
_OWED = (DeliveryState.PLANNED, DeliveryState.SENDING, DeliveryState.UNCERTAIN)


class DemoFailed(DigestBotError):
    """The demo cannot run: the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A running workspace, and a bot that is connected to it."""

    workspace: LocalWorkspace
    bot: Bot


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the delivery is."""

    sent: int
    owed: int


@contextmanager
def open_scene(config: Config, *, port: int | None, keep: Path | None, database_given: bool) -> Iterator[Scene]:
    """Start workspace and bot; stop both at the end. What is not kept goes with a temporary folder.

    `port` None: PORT, or any free one where that is taken, for a demo whose page nobody opens.
    `database_given`: DATABASE_URL names the bot's database, which is then kept there whatever `keep` says.
    Raises DemoFailed where the workspace cannot start, and whatever `assemble` raises.
    """
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="digest-bot-demo-")))
        folder.mkdir(parents=True, exist_ok=True)
        workspace = _open_workspace(config, port, keep=folder / "workspace" if keep else None)
        stack.callback(workspace.stop)
        if not database_given:
            config = config.model_copy(update={"database": f"sqlite:///{folder / 'digest-bot.db'}"})
        _prepare_database(config)
        delivery = config.delivery.model_copy(update={"pace": PACE, "ceiling_per_minute": None})
        config = config.model_copy(update={"delivery": delivery})
        secrets = Secrets(bot_token=workspace.bot_token, app_token=workspace.app_token, api_url=workspace.api_url)
        bot = assemble(config, secrets)
        stack.callback(bot.close)
        yield Scene(workspace=workspace, bot=bot)


def take_documents(scene: Scene) -> tuple[Taken, ...]:
    """Take the inbox's files now, complete or not: nobody is writing them in a demo."""
    return scene.bot.arrivals.look(force=True)


def deliver(scene: Scene) -> Iterator[Progress]:
    """Plan what is new in every channel now, and send it; tell the progress until nothing is owed any more.

    Raises what sending raised.
    """
    bot = scene.bot
    before = len(posted(scene))
    for channel in bot.refresh_policies():
        bot.delivery.deliver_now(channel)
    with ThreadPoolExecutor(1, thread_name_prefix="demo-delivery") as pool:
        sending = pool.submit(_send, bot)
        while not sending.done():
            yield Progress(sent=len(posted(scene)) - before, owed=_count(bot, _OWED))
            wait([sending], timeout=0.1)
        sending.result()
    bot.update()
    yield Progress(sent=len(posted(scene)) - before, owed=_count(bot, _OWED))


def stay(scene: Scene) -> None:
    """Run the bot until SIGINT or SIGTERM."""
    scene.bot.runtime().run()


def posted(scene: Scene) -> tuple[Delivery, ...]:
    """The roots and entries that stand in the workspace, in the order of sending."""
    sent = scene.bot.archive.deliveries.in_state(DeliveryState.SENT, 100_000)
    kinds = (DeliveryKind.ROOT, DeliveryKind.ENTRY)
    return tuple(sorted((one for one in sent if one.kind in kinds), key=lambda one: (one.channel, one.ts or "")))


def _open_workspace(config: Config, port: int | None, *, keep: Path | None) -> LocalWorkspace:
    language = config.channels[0].language if config.channels else Language.EN

    def opened(at: int) -> LocalWorkspace:
        channels = named_channels(config)
        return LocalWorkspace(at, keep=keep, channels=channels, manifest=manifest(language=language)).start()

    try:
        return opened(PORT if port is None else port)
    except WorkspaceError as error:
        if port is None:
            return opened(0)
        raise DemoFailed(f"{error}. Another demo may be running: end it, or choose another --port") from error


def _send(bot: Bot) -> None:
    while not bot.stopping.is_set():
        bot.delivery.deliver(bot.stopping)
        bot.delivery.reconcile(bot.stopping)
        if not _count(bot, _OWED):
            return
        if bot.delivery.status().channel_blocks:
            return


def _count(bot: Bot, states: tuple[DeliveryState, ...]) -> int:
    by_state = bot.delivery.status().by_state
    return sum(by_state.get(state, 0) for state in states)


def named_channels(config: Config) -> tuple[str, ...]:
    """The channels that the configuration names by `#name`, each once: what a workspace of one's own must have."""
    confined = [name for names in config.search.confined.values() for name in names]
    references = [channel.channel for channel in config.channels]
    references += [config.alerts.channel] if config.alerts.channel else []
    return tuple(dict.fromkeys(name for name in (*references, *confined) if name.startswith("#")))


def _prepare_database(config: Config) -> None:
    database = open_database(config.database, source=config.database_source)
    try:
        migrate(database)
    finally:
        database.close()
