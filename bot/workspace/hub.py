"""Live news for the page: each open page of a user has a queue."""

from __future__ import annotations

import asyncio
from typing import Any


class Hub:
    """Publishes to the pages that are open now; nothing is kept for later. Runs in the server's event loop."""

    def __init__(self) -> None:
        self._listeners: dict[asyncio.Queue[dict[str, Any] | None], str] = {}

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def listen(self, user: str) -> asyncio.Queue[dict[str, Any] | None]:
        """A queue of news for this user; None ends it."""
        queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._listeners[queue] = user
        return queue

    def leave(self, queue: asyncio.Queue[dict[str, Any] | None]) -> None:
        """A page was closed."""
        self._listeners.pop(queue, None)

    def publish(self, news: dict[str, Any], *, only_for: frozenset[str] | None = None) -> None:
        """Tell every open page, or those of some users."""
        for queue, user in self._listeners.items():
            if only_for is None or user in only_for:
                queue.put_nowait(news)

    def close(self) -> None:
        """End every page's queue."""
        for queue in self._listeners:
            queue.put_nowait(None)
