"""`conversations.history` and `conversations.replies`."""

from __future__ import annotations

from bot.workspace.api.call import Call, Method
from bot.workspace.api.paging import bound, encode, position
from bot.workspace.errors import SlackError
from bot.workspace.model import Channel, Json
from bot.workspace.presenting import present
from bot.workspace.rooms import within
from bot.workspace.timestamps import micros

_SCOPES = {"channel": "channels:history", "group": "groups:history", "im": "im:history"}
_END = 10**18
MOST_HISTORY = 999


def methods() -> dict[str, Method]:
    """The methods of this family."""
    return {
        "conversations.history": Method(handler=history, tier=3),
        "conversations.replies": Method(handler=replies, tier=3),
    }


def history(call: Call) -> Json:
    """Newest first on each page.

    Pages go back in time from `latest`; with `oldest` alone they go forward from it, as slackhq/slack-api-docs#4
    found: the page holds the messages closest to `oldest`.
    """
    channel = _readable(call)
    limit = call.number("limit", 100, most=MOST_HISTORY)
    oldest, latest = bound(call, "oldest", 0), bound(call, "latest", _END)
    forward = bool(call.text("oldest")) and oldest > 0 and not call.text("latest")
    room = call.workspace.store.rooms[channel.id]
    found = room.window(oldest, latest, inclusive=call.flag("inclusive"))
    ordered = list(found) if forward else list(reversed(found))
    start = _position(call)
    if start is not None:
        ordered = [ts for ts in ordered if (ts >= start if forward else ts <= start)]
    shown = sorted(ordered[:limit], reverse=True)
    with_metadata = call.flag("include_all_metadata")
    answer: Json = {
        "ok": True,
        "messages": [present(call.workspace.store, room.message(ts), with_metadata=with_metadata) for ts in shown],
        "pin_count": 0,
        "channel_actions_ts": None,
        "channel_actions_count": 0,
        **_more(ordered, limit),
    }
    for name in ("oldest", "latest"):
        if call.text(name):
            answer[name] = call.text(name)
    return answer


def replies(call: Call) -> Json:
    """The parent first, then replies, oldest first. `ts` may be the parent's or any reply's."""
    channel = _readable(call, "channel_not_found")
    store = call.workspace.store
    room = store.rooms[channel.id]
    limit = call.number("limit", 1000, most=1000)
    try:
        named = room.get(micros(call.required("ts", "thread_not_found")))
    except ValueError:
        named = None
    if named is None:
        raise SlackError("thread_not_found")
    parent = named if named.thread_ts is None else room.get(named.thread_ts)
    if parent is None:
        raise SlackError("thread_not_found")
    oldest, latest = bound(call, "oldest", 0), bound(call, "latest", _END)
    found = list(within(room.replies(parent.ts), oldest, latest, inclusive=call.flag("inclusive")))
    start = _position(call)
    if start is not None:
        found = [ts for ts in found if ts >= start]
    with_metadata = call.flag("include_all_metadata")
    return {
        "ok": True,
        "messages": [
            present(store, room.message(ts), with_metadata=with_metadata) for ts in (parent.ts, *found[:limit])
        ],
        **_more(found, limit),
    }


def _readable(call: Call, missing: str | None = None) -> Channel:
    channel = call.workspace.channel(call.required("channel", missing), call.user)
    call.scope(_SCOPES[channel.kind])
    if call.identity.kind == "bot" and call.user.id not in channel.members:
        raise SlackError("not_in_channel")
    return channel


def _position(call: Call) -> int | None:
    """The timestamp at which the cursor's page starts. Raises `invalid_cursor`."""
    start = position(call)
    try:
        return None if start is None else int(start)
    except ValueError as problem:
        raise SlackError("invalid_cursor") from problem


def _more(ordered: list[int], limit: int) -> Json:
    if len(ordered) <= limit:
        return {"has_more": False}
    return {"has_more": True, "response_metadata": {"next_cursor": encode(str(ordered[limit]))}}
