"""What the end-to-end tests may ask for. Nothing here sleeps: clocks are moved, processes are asked."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bot.workspace.server import LocalWorkspace
from tests.conftest import require
from tests.e2e import promise, support

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture
def workspace() -> Iterator[LocalWorkspace]:
    """A workspace of its own, on a free port and the machine's clock."""
    with LocalWorkspace() as running:
        yield running


@pytest.fixture
def make_morning(tmp_path: Path) -> Iterator[Callable[..., support.Morning]]:
    """Make a `Morning` at a time in Shanghai on a given database (default: a SQLite file of its own)."""
    with contextlib.ExitStack() as stack:

        def make(moment: str, database: str | None = None) -> support.Morning:
            clock = support.MovedClock(support.shanghai(moment))
            workspace = stack.enter_context(LocalWorkspace(clock=clock.seconds))
            folder = tmp_path / "team"
            folder.mkdir()
            morning = support.Morning(folder, workspace, clock, database or f"sqlite:///{folder / 'bot.db'}")
            stack.callback(morning.stop)
            return morning

        yield make


@pytest.fixture
def make_team(tmp_path: Path) -> Iterator[Callable[..., promise.Team]]:
    """Make a `Team` at a time in Shanghai on a given database (default: a SQLite file of its own)."""
    with contextlib.ExitStack() as stack:

        def make(moment: str, database: str | None = None) -> promise.Team:
            clock = support.MovedClock(support.shanghai(moment))
            workspace = stack.enter_context(LocalWorkspace(clock=clock.seconds))
            folder = tmp_path / "team"
            folder.mkdir()
            team = promise.Team(folder, workspace, clock, database or f"sqlite:///{folder / 'bot.db'}")
            stack.callback(team.stop)
            return team

        yield make


@pytest.fixture
def start_process() -> Iterator[Callable[..., support.Process]]:
    """Start verbs as processes; they are gone when the test ends."""
    with support.processes() as start:
        yield start


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, driven by Playwright."""
    require(CHROMIUM, "Chromium")
    sync_api: Any = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open the workspace's page; an error on its console fails the test."""
    contexts, faults = [], []

    def open_at(url: str, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        context.set_default_timeout(10_000)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(url)
        page.wait_for_selector('[data-testid="app"][data-ready="true"]')
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert not faults, faults
