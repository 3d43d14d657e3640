"""Views: modals and Home tabs around their blocks. Limits: Block Kit reference, as slack_sdk 3.48 has them."""

from __future__ import annotations

import json
from typing import Any

from bot.workspace.blocks.layout import check_blocks
from bot.workspace.blocks.objects import plain
from bot.workspace.blocks.schema import (
    Findings,
    Problem,
    anything,
    boolean,
    may,
    need,
    one_of,
    shape,
    string,
)

LARGEST_VIEW = 250_000
_COMMON = {
    "blocks": need(anything),
    "callback_id": may(string(255, 0)),
    "private_metadata": may(string(3000, 0)),
    "external_id": may(string(255, 0)),
}
_MODAL = shape(
    {
        **_COMMON,
        "type": need(one_of("modal")),
        "title": need(plain(24)),
        "submit": may(plain(24)),
        "close": may(plain(24)),
        "clear_on_close": may(boolean),
        "notify_on_close": may(boolean),
        "submit_disabled": may(boolean),
    }
)
_HOME = shape({**_COMMON, "type": need(one_of("home"))})


def check_view(view: Any) -> tuple[Problem, ...]:
    """Every fault in a view; pointers start at the view (`/title/text`, `/blocks/0/text`)."""
    if not isinstance(view, dict) or view.get("type") not in ("modal", "home"):
        kind = view.get("type") if isinstance(view, dict) else None
        return (Problem(pointer="/type", message=f"unsupported type: {kind}"),)
    is_modal = view["type"] == "modal"
    found = Findings(surface="modal" if is_modal else "home")
    (_MODAL if is_modal else _HOME)(found, "", view)
    blocks = view.get("blocks")
    if isinstance(blocks, list):
        for problem in check_blocks(blocks, found.surface):
            found.add(f"/blocks{problem.pointer}", problem.message)
        if is_modal and not found.problems and not view.get("submit") and _has_input(blocks):
            found.add("", "missing required field: submit")
    return tuple(found.problems)


def _has_input(blocks: list[Any]) -> bool:
    return any(block["type"] == "input" for block in blocks)


def is_too_large(view: Any) -> bool:
    """True if the view passes 250 kB (`view_too_large`)."""
    return len(json.dumps(view, ensure_ascii=False).encode()) > LARGEST_VIEW
