"""The log of Web API calls as they were received, for benches and oracles that trust nobody's own numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

MOST_KEPT = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One call. `at` is seconds since the epoch; `accepted` says that the workspace did what was asked."""

    number: int
    method: str
    channel: str | None
    at: float
    seconds: float
    status: int | None
    error: str | None
    accepted: bool
    fault: str | None
    ts: str | None
    retry_after: int | None


class CallLog:
    """The last 500,000 calls, oldest first."""

    def __init__(self) -> None:
        self._entries: list[Logged] = []
        self._count = 0

    def add(self, **fields: Any) -> None:
        """Enter a call; the number is given here."""
        self._count += 1
        self._entries.append(Logged(number=self._count, **fields))
        if len(self._entries) > MOST_KEPT:
            del self._entries[: MOST_KEPT // 10]

    def clear(self) -> None:
        """Forget all; numbers go on."""
        self._entries.clear()

    def listed(self, *, after: int = 0, method: str | None = None) -> list[dict[str, Any]]:
        """The calls after a number, of one method or of all."""
        return [
            asdict(each) for each in self._entries if each.number > after and (method is None or each.method == method)
        ]
