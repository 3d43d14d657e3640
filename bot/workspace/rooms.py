"""The messages of one channel: their order, their threads, and windows over them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence

from bot.workspace.model import Message


class Room:
    """One channel's messages. A timestamp is given once: `next_ts` is strictly increasing, also over deletions."""

    def __init__(self, last_ts: int = 0) -> None:
        self.last_ts = last_ts
        self._messages: dict[int, Message] = {}
        self._visible: list[int] = []
        self._threads: dict[int, list[int]] = {}

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages.values())

    def next_ts(self, now: float) -> int:
        """A new timestamp in microseconds: `now` (seconds), or one past the last if the clock stands or went back."""
        self.last_ts = max(self.last_ts + 1, int(now * 1_000_000))
        return self.last_ts

    def get(self, ts: int) -> Message | None:
        """The message of this ts, or None."""
        return self._messages.get(ts)

    def put(self, message: Message) -> None:
        """Adds or replaces; a message never changes its thread."""
        known = message.ts in self._messages
        self._messages[message.ts] = message
        self.last_ts = max(self.last_ts, message.ts)
        if known:
            return
        if message.thread_ts is not None:
            insort(self._threads.setdefault(message.thread_ts, []), message.ts)
        if message.thread_ts is None or message.is_broadcast:
            insort(self._visible, message.ts)

    def remove(self, ts: int) -> None:
        """Take a message away; its timestamp is never given again."""
        message = self._messages.pop(ts)
        if message.thread_ts is not None:
            replies = self._threads[message.thread_ts]
            replies.remove(ts)
            if not replies:
                del self._threads[message.thread_ts]
        if message.thread_ts is None or message.is_broadcast:
            self._visible.remove(ts)

    def replies(self, parent: int) -> Sequence[int]:
        """Timestamps of a thread's replies, oldest first."""
        return self._threads.get(parent, ())

    def window(self, oldest: int, latest: int, *, inclusive: bool) -> Sequence[int]:
        """Timestamps shown in the channel (top level and broadcast replies) between two bounds, oldest first."""
        return within(self._visible, oldest, latest, inclusive=inclusive)

    def message(self, ts: int) -> Message:
        """The message of this ts, which must exist."""
        return self._messages[ts]


def within(ordered: Sequence[int], oldest: int, latest: int, *, inclusive: bool) -> Sequence[int]:
    """The part of an ordered list between two bounds; the bounds themselves only if inclusive."""
    if inclusive:
        return ordered[bisect_left(ordered, oldest) : bisect_right(ordered, latest)]
    return ordered[bisect_right(ordered, oldest) : bisect_left(ordered, latest)]
