"""Reading what Slack sends: who, where, and what was clicked. Everything in a request may be missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from bot.render.surfaces import read_metadata
from bot.slack.ports import Reader

Body: TypeAlias = Mapping[str, Any]


def reader_of(body: Body) -> Reader:
    """The person behind a command, click, form, shortcut or event. A modal remembers its channel itself."""
    event = _mapping(body.get("event"))
    return Reader(
        team_id=str(body.get("team_id") or _mapping(body.get("team")).get("id") or ""),
        user_id=str(body.get("user_id") or _id(body.get("user")) or _id(event.get("user")) or ""),
        channel_id=_channel(body, event),
        user_name=str(body.get("user_name") or _mapping(body.get("user")).get("username") or ""),
    )


def _channel(body: Body, event: Body) -> str | None:
    known = read_metadata(str(_mapping(body.get("view")).get("private_metadata") or "")).get("channel")
    found = body.get("channel_id") or _id(body.get("channel")) or _id(event.get("channel")) or known
    return str(found) if found else None


def entry_id_of(body: Body) -> int | None:
    """The entry that a button, or the chosen option of a menu, stands for."""
    return number(chosen(body))


def chosen(body: Body) -> str:
    """The value of the (one) action: a button's, an option's, or what was typed."""
    action = _mapping(next(iter(body.get("actions") or ()), None))
    option = _mapping(action.get("selected_option"))
    return str(option.get("value") or action.get("value") or "")


def number(text: str) -> int | None:
    """A positive id, or None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None  # noqa: PLR2004  fits 64 bits


def view_state(body: Body, block: str, action: str) -> str:
    """What stands in a form's input."""
    values = _mapping(_mapping(_mapping(body.get("view")).get("state")).get("values"))
    return str(_mapping(_mapping(values.get(block)).get(action)).get("value") or "")


def view_id_of(body: Body) -> str | None:
    """The modal or Home tab in which something was clicked."""
    found = _mapping(body.get("view")).get("id")
    return str(found) if found else None


def surface(body: Body) -> str:
    """Where a click happened: `modal`, `home` or `message`."""
    return str(_mapping(body.get("view")).get("type") or "message")


def view_metadata(body: Body) -> Mapping[str, Any]:
    """What the view was made to carry."""
    return read_metadata(str(_mapping(body.get("view")).get("private_metadata") or ""))


def is_ephemeral(body: Body) -> bool:
    """Whether the clicked message is seen by one person only."""
    return bool(_mapping(body.get("container")).get("is_ephemeral"))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _id(value: object) -> str | None:
    found = value.get("id") if isinstance(value, Mapping) else value
    return found if isinstance(found, str) else None
