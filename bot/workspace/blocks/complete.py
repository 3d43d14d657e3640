"""What Slack adds to blocks it accepts: IDs that were left out, and the defaults of texts."""

from __future__ import annotations

import secrets
import string
from typing import Any

from bot.workspace.blocks.layout import interactive

_LETTERS = string.ascii_letters + string.digits


def complete_blocks(blocks: list[Any]) -> list[Any]:
    """A copy with every `block_id` and `action_id` present. Fresh ones at each call, as in Slack."""
    return [_complete(block) for block in blocks]


def _complete(block: dict[str, Any]) -> dict[str, Any]:
    done: dict[str, Any] = _with_defaults(block)
    if not done.get("block_id"):
        done = {"type": done["type"], "block_id": _fresh(), **{k: v for k, v in done.items() if k != "block_id"}}
    for _, element in interactive(done):
        if not element.get("action_id"):
            element["action_id"] = _fresh()
    return done


def _with_defaults(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_defaults(each) for each in value]
    if not isinstance(value, dict):
        return value
    done = {name: _with_defaults(each) for name, each in value.items() if each is not None}
    if done.get("type") == "plain_text":
        done.setdefault("emoji", True)
    elif done.get("type") == "mrkdwn":
        done.setdefault("verbatim", False)
    return done


def _fresh() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(5))
