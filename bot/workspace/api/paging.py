"""Cursors and windows, as `conversations.*` and the lists use them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any, TypeVar

from bot.workspace.api.call import Call
from bot.workspace.errors import SlackError
from bot.workspace.timestamps import micros

Item = TypeVar("Item")


def encode(position: str) -> str:
    """A cursor that points at `position`."""
    return base64.b64encode(f"next:{position}".encode()).decode()


def position(call: Call) -> str | None:
    """What the cursor of this call points at. Raises `invalid_cursor`."""
    cursor = call.text("cursor")
    if not cursor:
        return None
    try:
        text = base64.b64decode(cursor, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as problem:
        raise SlackError("invalid_cursor") from problem
    if not text.startswith("next:"):
        raise SlackError("invalid_cursor")
    return text.removeprefix("next:")


def page(
    call: Call, things: Sequence[Item], *, default: int, most: int = 1000
) -> tuple[Sequence[Item], dict[str, Any]]:
    """One page of a list, with the `response_metadata` that leads to the next."""
    limit = call.number("limit", default, most=most)
    start = position(call)
    try:
        first = int(start) if start is not None else 0
    except ValueError as problem:
        raise SlackError("invalid_cursor") from problem
    if first < 0 or first > len(things):
        raise SlackError("invalid_cursor")
    following = encode(str(first + limit)) if first + limit < len(things) else ""
    return things[first : first + limit], {"response_metadata": {"next_cursor": following}}


def bound(call: Call, name: str, default: int) -> int:
    """`oldest` or `latest` in microseconds. Raises `invalid_ts_oldest`, `invalid_ts_latest`."""
    value = call.text(name)
    if not value or value == "now":
        return default
    try:
        return micros(value)
    except ValueError as problem:
        raise SlackError(f"invalid_ts_{name}") from problem
