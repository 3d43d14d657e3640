"""Windows and pages of `conversations.history` and `conversations.replies`."""

from __future__ import annotations

from typing import Any

from tests.conformance.probe import Probe, demand, expect


def _channel_of_five(probe: Probe, name: str) -> tuple[str, list[str]]:
    channel = probe.ok("conversations.create", name=probe.name(name))["channel"]["id"]
    return channel, [
        probe.ok("chat.postMessage", channel=channel, text=f"message {number}")["ts"] for number in range(5)
    ]


def _read(probe: Probe, channel: str, **window: Any) -> list[str]:
    body = probe.ok("conversations.history", channel=channel, **window)
    return [each["ts"] for each in body["messages"] if not each.get("subtype")]


def history_is_newest_first_and_says_when_there_is_more(probe: Probe) -> None:
    channel, stamps = _channel_of_five(probe, "newest")
    body = probe.ok("conversations.history", channel=channel, limit=2)
    expect([each["ts"] for each in body["messages"]], [stamps[4], stamps[3]], "the two newest")
    demand(body["has_more"] is True, "has_more")


def history_goes_back_over_the_cursor_to_the_end(probe: Probe) -> None:
    channel, stamps = _channel_of_five(probe, "cursor")
    seen: list[str] = []
    cursor = None
    for _ in range(10):
        body = probe.ok("conversations.history", channel=channel, limit=2, cursor=cursor)
        seen += [each["ts"] for each in body["messages"] if not each.get("subtype")]
        cursor = body.get("response_metadata", {}).get("next_cursor")
        if not cursor:
            demand(body["has_more"] is False, "has_more on the last page")
            break
    expect(seen, stamps[::-1], "every message once, newest first")
    probe.refused("conversations.history", "invalid_cursor", channel=channel, cursor="not-a-cursor")


def oldest_and_latest_bound_the_window(probe: Probe) -> None:
    channel, stamps = _channel_of_five(probe, "bounds")
    window = {"oldest": stamps[1], "latest": stamps[3]}
    expect(_read(probe, channel, **window), [stamps[2]], "bounds left out")
    expect(_read(probe, channel, inclusive=True, **window), stamps[3:0:-1], "bounds included")
    expect(_read(probe, channel, latest=stamps[2]), [stamps[1], stamps[0]], "latest alone")
    expect(_read(probe, channel, oldest=stamps[2]), [stamps[4], stamps[3]], "oldest alone")
    probe.refused("conversations.history", "invalid_ts_oldest", channel=channel, oldest="yesterday")
    probe.refused("conversations.history", "invalid_ts_latest", channel=channel, latest="tomorrow")


def oldest_alone_pages_forward(probe: Probe) -> None:
    channel, stamps = _channel_of_five(probe, "forward")
    expect(_read(probe, channel, oldest=stamps[0], limit=2), [stamps[2], stamps[1]], "the two closest to oldest")


def replies_page_with_the_parent_first(probe: Probe) -> None:
    channel, stamps = _channel_of_five(probe, "thread")
    replies = [probe.ok("chat.postMessage", channel=channel, text="reply", thread_ts=stamps[0])["ts"] for _ in range(3)]
    seen: list[str] = []
    cursor = None
    for _ in range(10):
        body = probe.ok("conversations.replies", channel=channel, ts=stamps[0], limit=2, cursor=cursor)
        seen += [each["ts"] for each in body["messages"] if each["ts"] not in seen]
        cursor = body.get("response_metadata", {}).get("next_cursor")
        if not cursor:
            break
    expect(seen, [stamps[0], *replies], "the parent, then every reply once, oldest first")
    probe.refused("conversations.replies", "thread_not_found", channel=channel, ts="1000000000.000001")
    probe.refused("conversations.replies", "thread_not_found", channel=channel)
    probe.refused("conversations.replies", "channel_not_found", ts=stamps[0])


CHECKS = (
    history_is_newest_first_and_says_when_there_is_more,
    history_goes_back_over_the_cursor_to_the_end,
    oldest_and_latest_bound_the_window,
    oldest_alone_pages_forward,
    replies_page_with_the_parent_first,
)
