"""Pictures of the local workspace: `python -m tests.e2e.screenshots` makes the README's, `--out DIR` makes them all."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot import log
from bot.workspace.server import LocalWorkspace
from tests.e2e.conftest import CHROMIUM
from tests.e2e.support import FIRST, ROOT, SECOND, Morning, MovedClock, eventually, first_line, shanghai

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

README_PICTURE = ROOT / ".github" / "channel.png"
WIDE, PHONE = {"width": 1200, "height": 900}, {"width": 390, "height": 844}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One way in which a channel and the page can look."""

    layout: str = "channel"
    language: str = "zh"


@contextlib.contextmanager
def delivered(look: Look) -> Iterator[Morning]:
    """Both seeds on two mornings, and the bot connected."""
    with tempfile.TemporaryDirectory() as folder:
        clock = MovedClock(shanghai("2026-11-30 08:00"))
        with LocalWorkspace(clock=clock.seconds) as workspace:
            morning = Morning(Path(folder), workspace, clock, f"sqlite:///{folder}/bot.db")
            try:
                morning.start(layout=look.layout, language=look.language)
                morning.drop(FIRST.name, FIRST)
                morning.at("2026-11-30 09:00")
                morning.drop(SECOND.name, SECOND)
                morning.at("2026-12-01 09:00")
                assert morning.bot is not None
                morning.bot.front.start()
                yield morning
            finally:
                morning.stop()


class Camera:
    """One browser and the folder that its pictures go to."""

    def __init__(self, browser: Browser, out: Path) -> None:
        self._browser, self._out = browser, out

    @contextlib.contextmanager
    def page(self, morning: Morning, *, theme: str = "light", phone: bool = False) -> Iterator[Page]:
        scale = 2 if phone else 1
        context = self._browser.new_context(
            viewport=PHONE if phone else WIDE, device_scale_factor=scale, timezone_id="Asia/Shanghai"
        )
        page = context.new_page()
        page.clock.set_fixed_time(morning.clock.now())
        page.goto(f"{morning.workspace.url}/?theme={theme}#{morning.channel.channel_id}")
        page.wait_for_selector('[data-testid="app"][data-ready="true"]')
        yield page
        context.close()

    def shoot(self, page: Page, name: str | Path) -> None:
        path = name if isinstance(name, Path) else self._out / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        page.evaluate("document.fonts.ready")
        page.screenshot(path=path, animations="disabled")
        print(path)


def to_top(page: Page) -> None:
    """Show the first root at the head of the log."""
    page.get_by_test_id("messages").evaluate("log => { log.scrollTop = 0; }")


def ask(page: Page, line: str) -> None:
    answers = page.get_by_test_id("messages").get_by_test_id("ephemeral")
    before = answers.count()
    page.get_by_test_id("composer-input").fill(line)
    page.get_by_test_id("composer-input").press("Enter")
    eventually(lambda: answers.count() > before, what=f"an answer to {line}")
    answers.last.scroll_into_view_if_needed()


def thread_of(page: Page, ts: str) -> None:
    row = page.get_by_test_id("messages").locator(f'[data-ts="{ts}"]')
    row.hover()
    row.get_by_test_id("reply-in-thread").click()
    page.get_by_test_id("thread-messages").locator('[data-testid="message"]').first.wait_for()


def readme_picture(camera: Camera) -> None:
    with delivered(Look()) as morning, camera.page(morning) as page:
        to_top(page)
        camera.shoot(page, README_PICTURE)


def every_picture(camera: Camera) -> None:
    for language in ("zh", "en"):
        with delivered(Look(language=language)) as morning:
            channel_views(camera, morning, language)
            surfaces(camera, morning, language)
    for layout in ("thread", "compact"):
        with delivered(Look(layout=layout)) as morning, camera.page(morning) as page:
            thread_of(page, morning.channel.messages()[0]["ts"])
            camera.shoot(page, f"layout-{layout}")


def channel_views(camera: Camera, morning: Morning, language: str) -> None:
    for theme in ("light", "dark"):
        for phone in (False, True):
            with camera.page(morning, theme=theme, phone=phone) as page:
                to_top(page)
                camera.shoot(page, f"channel-{language}-{theme}{'-390' if phone else ''}")
    with camera.page(morning) as page:
        camera.shoot(page, f"channel-{language}-second-day")


def surfaces(camera: Camera, morning: Morning, language: str) -> None:
    with camera.page(morning) as page:
        posted = next(one for one in morning.channel.messages() if "ROCm CI" in first_line(one))
        thread_of(page, posted["ts"])
        reply = page.get_by_test_id("thread-composer-input")
        reply.fill("我们的构建也要跟着改")
        reply.press("Enter")
        page.get_by_test_id("thread-messages").get_by_text("我们的构建也要跟着改").wait_for()
        camera.shoot(page, f"thread-{language}")
        page.get_by_test_id("thread-close").click()

        for name, line in (("search", "vllm rocm"), ("many", "值得"), ("nothing", "rocm kubernetes"), ("help", "help")):
            ask(page, f"/digest {line}")
            camera.shoot(page, f"{name}-{language}")

        ask(page, "/digest vllm rocm")
        page.get_by_test_id("messages").locator("select[data-action-id=entry_open]").last.select_option(index=1)
        modal = page.get_by_test_id("modal")
        modal.locator("[data-action-id=entry_save]").wait_for()
        camera.shoot(page, f"modal-{language}")
        modal.locator("[data-action-id=entry_save]").click()
        modal.locator("[data-action-id=entry_unsave]").wait_for()
        modal.locator("[data-action-id=entry_share]").click()
        modal.locator("[data-action-id=share_comment]").wait_for()
        camera.shoot(page, f"share-{language}")
        page.keyboard.press("Escape")
        modal.locator("[data-action-id=entry_unsave]").wait_for()
        page.keyboard.press("Escape")

        page.get_by_test_id("app-home").click()
        page.get_by_test_id("home").locator("[data-action-id=home_search]").wait_for()
        page.get_by_test_id("home").locator("[data-action-id=entry_unsave]").wait_for()
        camera.shoot(page, f"home-{language}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.screenshots", description=__doc__)
    parser.add_argument("--out", type=Path, help="also make every picture, in this folder")
    out = parser.parse_args().out
    if CHROMIUM is None:
        print("Chromium is absent: install Debian's package chromium", file=sys.stderr)
        return 2
    log.configure(level="ERROR")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        camera = Camera(browser, out or ROOT)
        readme_picture(camera)
        if out is not None:
            every_picture(camera)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
