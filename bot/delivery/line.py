"""The channels that a sender holds, and when each may speak next."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from bot.delivery.compose import Material
from bot.delivery.values import Record, RootState, Turn
from bot.model import Channel, Delivery, DeliveryKind, DeliveryState


@dataclass(slots=True, kw_only=True)
class Line:
    """A leased channel with its queue. `at` is the earliest moment of its next message."""

    turn: Turn
    queue: deque[Delivery]
    lease_until: datetime
    at: datetime
    material: Material
    share_at: int
    """Messages sent under this lease before the channel is offered to other replicas."""
    is_cut: bool = False
    """Whether more is planned than was read."""
    said: int = 0
    """Messages sent under this lease."""
    ticket: int = 0
    """Its present place in the waiting order; older places of the channel are void."""

    @property
    def channel(self) -> Channel:
        """The channel."""
        return self.turn.channel

    def sent(self, delivery: Delivery, record: Record) -> None:
        """Take note of a message that stands now: what follows may hang on it."""
        self.queue.popleft()
        self.said += 1
        turn = self.turn
        roots, parents = dict(turn.roots), dict(turn.parents)
        if delivery.kind is DeliveryKind.ROOT and delivery.slot_id in roots:
            root = roots[delivery.slot_id]
            roots[delivery.slot_id] = RootState(state=DeliveryState.SENT, layout=root.layout, ts=record.ts)
            if record.folds:
                self.queue = deque(
                    one for one in self.queue if one.slot_id != delivery.slot_id or one.kind is not DeliveryKind.ENTRY
                )
        if delivery.kind is DeliveryKind.ENTRY and delivery.part == 0 and record.ts is not None:
            parents[delivery.subject] = record.thread_ts or record.ts
        highest = max(turn.highest_sent, delivery.ordinal)
        self.turn = replace(turn, roots=roots, parents=parents, highest_sent=highest, blocked=False)

    def owes(self, slot_id: int | None) -> bool:
        """Whether something of this slot may still wait."""
        return any(one.slot_id == slot_id for one in self.queue) if self.queue else self.is_cut

    def again(self, delivery: Delivery, record: Record) -> None:
        """Keep a refused message at the head of the queue, as it is in the database now."""
        self.queue[0] = replace(
            delivery,
            attempts=record.attempt,
            refusals=delivery.refusals + record.refused,
            error=record.error,
            next_try_at=record.next_try_at,
        )


class Lines:
    """All lines of a sender, the next to speak first."""

    def __init__(self) -> None:
        self._lines: dict[Channel, Line] = {}
        self._heap: list[tuple[datetime, int, Channel]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(tuple(self._lines.values()))

    def get(self, channel: Channel) -> Line | None:
        """Return the channel's line, None where it was given up."""
        return self._lines.get(channel)

    def add(self, line: Line) -> None:
        """Take a line in; it speaks at `line.at`."""
        self._lines[line.channel] = line
        self.wait(line)

    def wait(self, line: Line) -> None:
        """Let a line that is not in the queue speak at `line.at`."""
        self._count += 1
        line.ticket = self._count
        heapq.heappush(self._heap, (line.at, line.ticket, line.channel))

    def drop(self, channel: Channel) -> None:
        """Forget a line."""
        self._lines.pop(channel, None)

    def next_at(self) -> datetime | None:
        """Return when the first line may speak."""
        while self._heap and self._void(self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def pop(self, now: datetime) -> Line | None:
        """Take the first line that may speak at `now` out of the queue (it stays known)."""
        at = self.next_at()
        if at is None or at > now:
            return None
        return self._lines[heapq.heappop(self._heap)[2]]

    def _void(self, place: tuple[datetime, int, Channel]) -> bool:
        # A channel that was given up and leased again would otherwise speak twice.
        line = self._lines.get(place[2])
        return line is None or line.ticket != place[1]
