"""From the workspace to the app: over Socket Mode, or over HTTP where the app has a request URL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from bot.workspace import http_mode
from bot.workspace.model import App, Timing
from bot.workspace.sockets import NotDelivered, Sockets


class Dispatcher:
    """Delivers events with retries and interactions without. All methods run in the server's event loop."""

    def __init__(self, sockets: Sockets, app: Callable[[], App], clock: Callable[[], float], timing: Timing) -> None:
        self._sockets = sockets
        self._app = app
        self._clock = clock
        self._timing = timing
        self._running: set[asyncio.Task[None]] = set()

    async def ask(self, kind: str, payload: dict[str, Any]) -> Any:
        """Delivers a command or an interaction once; returns the payload of the answer. Raises `NotDelivered`."""
        return await self._once(kind, payload, attempt=0, reason="")

    def event(self, body: dict[str, Any]) -> None:
        """Delivers an event in the background: at most once, and again up to three times if it is not acknowledged."""
        task = asyncio.get_running_loop().create_task(self._with_retries(body))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def stop(self) -> None:
        """Give up every delivery that is under way."""
        for task in self._running:
            task.cancel()

    async def _with_retries(self, body: dict[str, Any]) -> None:
        reason = ""
        for attempt, delay in enumerate((0.0, *self._timing.retries)):
            if delay:
                await asyncio.sleep(delay)
            try:
                await self._once("events_api", body, attempt=attempt, reason=reason)
            except NotDelivered as problem:
                if problem.reason == "no_retry":
                    return
                reason = problem.reason
            else:
                return

    async def _once(self, kind: str, payload: dict[str, Any], *, attempt: int, reason: str) -> Any:
        app = self._app()
        if app.request_url is None:
            more: dict[str, Any] = {}
            if kind == "events_api":
                more = {"retry_attempt": attempt, "retry_reason": reason}
            return await self._sockets.deliver(kind, payload, self._timing.ack, **more)
        headers = {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": reason} if attempt else {}
        return await http_mode.post(
            app.request_url,
            app.signing_secret,
            kind,
            payload,
            now=self._clock(),
            wait=self._timing.ack,
            headers=headers,
        )
