"""A running workspace, a client of it, and a bot on it: all the real thing over loopback."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from bot.workspace.model import Timing
from bot.workspace.server import LocalWorkspace

QUICK = Timing(ack=0.4, retries=(0.0, 0.05, 0.1))


class Clock:
    """Seconds since the epoch, moved by hand."""

    def __init__(self, now: float = 1_796_083_200.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Heard:
    """What a listener was told, with a way to wait for the next."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._news = threading.Condition()

    def add(self, item: Any) -> None:
        with self._news:
            self.items.append(item)
            self._news.notify_all()

    def event(self, event: Any) -> None:
        """A listener for an event."""
        self.add(event)

    def wait(self, count: int = 1, seconds: float = 5.0) -> list[Any]:
        with self._news:
            assert self._news.wait_for(lambda: len(self.items) >= count, seconds), self.items
            return list(self.items)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def workspace() -> Iterator[LocalWorkspace]:
    with LocalWorkspace(timing=QUICK) as running:
        yield running


@pytest.fixture
def client(workspace: LocalWorkspace) -> WebClient:
    return WebClient(token=workspace.bot_token, base_url=workspace.api_url, retry_handlers=[], timeout=5)


@pytest.fixture
def channel(workspace: LocalWorkspace) -> str:
    return workspace.create_channel("vllm-digest")


@pytest.fixture
def connect(workspace: LocalWorkspace, client: WebClient) -> Iterator[Bots]:
    """Starts Bolt apps over Socket Mode."""
    bots = Bots(workspace, client)
    yield bots
    for handler in bots.handlers:
        # The SDK's reader holds its lock until its socket says something: let it say goodbye.
        handler.client.auto_reconnect_enabled = False
    workspace.drop_sockets()
    for handler in bots.handlers:
        handler.close()


class Bots:
    """Called with a function that registers listeners, it starts an app and waits until it is greeted."""

    def __init__(self, workspace: LocalWorkspace, client: WebClient) -> None:
        self._workspace = workspace
        self._client = client
        self.handlers: list[SocketModeHandler] = []

    def __call__(self, register: Callable[[App], None]) -> App:
        app = App(client=self._client)
        register(app)
        handler = SocketModeHandler(app, self._workspace.app_token, ping_interval=0.2)
        greeted = threading.Event()
        handler.client.message_listeners.append(
            lambda _, message, __: greeted.set() if message.get("type") == "hello" else None
        )
        handler.connect()
        self.handlers.append(handler)
        assert greeted.wait(5)
        return app
