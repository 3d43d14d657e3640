"""Faults on demand: which calls go wrong, and how. Seeded, so that a run can be repeated."""

from __future__ import annotations

import fnmatch
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from bot.workspace.errors import WorkspaceError


class FaultKind(StrEnum):
    """`*_before`: the call is not carried out. `*_after`: it is, and then the answer goes wrong."""

    DROP_BEFORE = "drop_before"
    DROP_AFTER = "drop_after"
    RESET_BEFORE = "reset_before"
    RESET_AFTER = "reset_after"
    TRUNCATE_AFTER = "truncate_after"
    RESET_MIDWAY = "reset_midway"
    HANG_BEFORE = "hang_before"
    HANG_AFTER = "hang_after"
    SLOW = "slow"
    STATUS_BEFORE = "status_before"
    STATUS_AFTER = "status_after"
    RATE_LIMITED = "rate_limited"
    ERROR = "error"
    ERROR_AFTER = "error_after"
    NOT_JSON_BEFORE = "not_json_before"
    NOT_JSON_AFTER = "not_json_after"

    @property
    def is_carried_out(self) -> bool:
        """True if the workspace does what the call asked."""
        return self in _CARRIED_OUT


_CARRIED_OUT = frozenset(
    {
        FaultKind.DROP_AFTER,
        FaultKind.RESET_AFTER,
        FaultKind.TRUNCATE_AFTER,
        FaultKind.RESET_MIDWAY,
        FaultKind.HANG_AFTER,
        FaultKind.SLOW,
        FaultKind.STATUS_AFTER,
        FaultKind.ERROR_AFTER,
        FaultKind.NOT_JSON_AFTER,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A rule. `method` may hold `*`; `channel` is an ID or None for any; `times` None means for ever.

    `seconds` is how long `hang_*` and `slow` wait (a hang then drops the connection, slow answers) and what
    `Retry-After` says; `skip` lets that many matching calls pass first.
    """

    kind: FaultKind
    method: str = "chat.postMessage"
    channel: str | None = None
    times: int | None = 1
    skip: int = 0
    probability: float = 1.0
    seconds: float = 1.0
    status: int = 503
    error: str = "internal_error"
    body: str = "<html><body>Service Unavailable</body></html>"

    def matches(self, method: str, channel: str | None) -> bool:
        """True if the rule is about such a call."""
        return fnmatch.fnmatchcase(method, self.method) and self.channel in (None, channel)


def fault_from(document: Mapping[str, Any]) -> Fault:
    """Raises `WorkspaceError` for an unknown kind or field."""
    unknown = document.keys() - {each.name for each in fields(Fault)}
    if unknown:
        raise WorkspaceError(f"a fault has no {', '.join(sorted(unknown))}")
    if document.get("kind") not in list(FaultKind):
        raise WorkspaceError(f"kind is one of {', '.join(FaultKind)}")
    return Fault(**{**document, "kind": FaultKind(document["kind"])})


@dataclass(slots=True, kw_only=True)
class _Armed:
    fault: Fault
    left: int | None
    skip: int
    used: int = 0


class Faults:
    """The armed rules."""

    def __init__(self) -> None:
        self._armed: dict[int, _Armed] = {}
        self._random = random.Random(0)  # noqa: S311 - repeatable on purpose
        self._number = 0

    def seed(self, value: int) -> None:
        """Start the dice anew, so that a run can be repeated."""
        self._random.seed(value)

    def add(self, fault: Fault) -> int:
        """Arms a rule; returns its number."""
        self._number += 1
        self._armed[self._number] = _Armed(fault=fault, left=fault.times, skip=fault.skip)
        return self._number

    def remove(self, number: int) -> None:
        """Disarm one rule; unknown numbers are no error."""
        self._armed.pop(number, None)

    def clear(self) -> None:
        """Disarm every rule."""
        self._armed.clear()

    def listed(self) -> list[dict[str, Any]]:
        """The rules with what is left of each."""
        return [
            {"id": number, "left": each.left, "used": each.used, **asdict(each.fault)}
            for number, each in self._armed.items()
        ]

    def pick(self, method: str, channel: str | None) -> Fault | None:
        """The first armed rule that strikes this call; it is used up by one."""
        for armed in self._armed.values():
            if armed.left == 0 or not armed.fault.matches(method, channel):
                continue
            if armed.fault.probability < 1 and self._random.random() >= armed.fault.probability:
                continue
            if armed.skip:
                armed.skip -= 1
                continue
            if armed.left is not None:
                armed.left -= 1
            armed.used += 1
            return armed.fault
        return None
