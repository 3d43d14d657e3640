"""Answers of Slack's that are believed for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from bot.errors import SlackUnavailable

Key = TypeVar("Key")
Value = TypeVar("Value")


class Remembered(Generic[Key, Value]):
    """Asks once for each key and believes the answer for `seconds`; safe to share between threads.

    Where Slack does not answer, `otherwise` is believed for `failed_seconds`, so that a search does not wait for a
    time-out at every hit.
    """

    def __init__(
        self,
        find: Callable[[Key], Value],
        *,
        otherwise: Value,
        seconds: float = 300.0,
        failed_seconds: float = 20.0,
        most: int = 10_000,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find = find
        self._otherwise = otherwise
        self._seconds = seconds
        self._failed_seconds = failed_seconds
        self._most = most
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._known: dict[Key, tuple[float, Value]] = {}

    def get(self, key: Key) -> Value:
        """The answer for `key`. Raises nothing."""
        with self._lock:
            until, known = self._known.get(key, (0.0, self._otherwise))
        if self._monotonic() < until:
            return known
        try:
            found, lasts = self._find(key), self._seconds
        except SlackUnavailable:
            found, lasts = self._otherwise, self._failed_seconds
        with self._lock:
            if len(self._known) >= self._most:
                self._known.clear()
            self._known[key] = (self._monotonic() + lasts, found)
        return found
