"""What is served over HTTP, as types. `bot.web.server` serves it; its libraries are loaded where there is a port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

LOOPBACK = "127.0.0.1"
EVERYWHERE = "0.0.0.0"  # noqa: S104  a platform that sets PORT routes to any address of ours

Dispatch: TypeAlias = Callable[[bytes, Mapping[str, str]], tuple[int, Mapping[str, str], str]]
"""Body and headers of a request from Slack to status, headers and body of the answer. It may block for 3 seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What one readiness check found; `detail` is for a person."""

    ok: bool
    detail: str


Checks: TypeAlias = Mapping[str, Callable[[], Check]]
