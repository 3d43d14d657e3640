"""A few at a time: computing in many threads at once is slower than in two, because they fight for the interpreter."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Lets `most` threads in at a time. It only advises: who has waited for `patience` seconds goes in anyway.

    So a search that hangs in a database costs the others that long and no more. Sending is not computing: a thread that
    waits for Slack holds no turn.
    """

    def __init__(self, most: int = 2, *, patience: float = 1.0) -> None:
        self._places = threading.Semaphore(most)
        self._patience = patience

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for a turn, or long enough."""
        got = self._places.acquire(timeout=self._patience)
        try:
            yield
        finally:
            if got:
                self._places.release()
