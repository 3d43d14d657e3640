"""Growing pauses between tries."""

from __future__ import annotations

import random


class Backoff:
    """0.5, 1, 2 ... 30 seconds, each up to a third shorter by chance, so that many bots do not come back at once."""

    def __init__(self, *, first: float = 0.5, longest: float = 30.0) -> None:
        self._first, self._longest = first, longest
        self._tries = 0

    def next(self) -> float:
        """The next pause, in seconds."""
        pause = min(self._longest, self._first * 2.0 ** min(self._tries, 16))
        self._tries += 1
        return pause * random.uniform(0.67, 1.0)  # noqa: S311  no secret: a spread of pauses

    def reset(self) -> None:
        """Begin again with the shortest."""
        self._tries = 0
