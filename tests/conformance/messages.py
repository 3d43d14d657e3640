"""Posting, threads, metadata, updates, reactions."""

from __future__ import annotations

import re

from tests.conformance.probe import Probe, demand, expect

SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "*hello*"}}
RICH = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "hi"}]}]}


def a_message_needs_words(probe: Probe) -> None:
    probe.refused("chat.postMessage", "no_text", channel=probe.channel)
    probe.refused("chat.postMessage", "no_text", channel=probe.channel, text="")


def a_posted_message_comes_back_whole(probe: Probe) -> None:
    body = probe.ok("chat.postMessage", channel=probe.channel, text="whole", blocks=[SECTION])
    expect(body["channel"], probe.channel, "channel")
    demand(re.fullmatch(r"\d{10}\.\d{6}", body["ts"]), "ts is seconds and six digits")
    message = body["message"]
    expect(message["type"], "message", "type")
    expect(message["text"], "whole", "text")
    demand(message.get("bot_id"), "bot_id is told")


def timestamps_rise_strictly(probe: Probe) -> None:
    stamps = [probe.post(f"number {number}") for number in range(6)]
    expect(stamps, sorted(set(stamps)), "six timestamps in order")


def missing_block_ids_are_made(probe: Probe) -> None:
    body = probe.ok("chat.postMessage", channel=probe.channel, text="x", blocks=[SECTION, {"type": "divider"}])
    made = [block.get("block_id") for block in body["message"]["blocks"]]
    demand(all(made) and len(set(made)) == 2, "each block has an ID of its own")


def very_long_text_is_cut_with_a_warning(probe: Probe) -> None:
    body = probe.ok("chat.postMessage", channel=probe.channel, text="x" * 40_001)
    expect(len(body["message"]["text"]), 40_000, "length")
    demand("message_truncated" in str(body.get("warning", "")) + str(body.get("response_metadata")), "a warning")


def a_reply_makes_its_parent_a_thread(probe: Probe) -> None:
    parent = probe.post("parent")
    first = probe.post("first", thread_ts=parent)
    second = probe.post("second", thread_ts=parent)
    found = probe.ok("conversations.replies", channel=probe.channel, ts=parent)["messages"]
    expect([each["ts"] for each in found], [parent, first, second], "parent first, then replies in order")
    expect(found[0].get("reply_count"), 2, "reply_count")
    expect(found[0].get("latest_reply"), second, "latest_reply")
    expect(found[1].get("thread_ts"), parent, "thread_ts of a reply")
    by_reply = probe.ok("conversations.replies", channel=probe.channel, ts=second)["messages"]
    expect(by_reply[0]["ts"], parent, "a reply's ts also finds the thread")
    listed = [each["ts"] for each in probe.ok("conversations.history", channel=probe.channel, limit=3)["messages"]]
    demand(parent in listed and first not in listed, "replies are not in the channel's history")


def a_broadcast_reply_is_in_the_channel_too(probe: Probe) -> None:
    parent = probe.post("parent")
    reply = probe.post("to all", thread_ts=parent, reply_broadcast=True)
    top = probe.ok("conversations.history", channel=probe.channel, limit=1)["messages"][0]
    expect(top["ts"], reply, "the newest message in the channel")
    expect(top.get("subtype"), "thread_broadcast", "subtype")


def only_a_parent_starts_a_thread(probe: Probe) -> None:
    parent = probe.post("parent")
    reply = probe.post("reply", thread_ts=parent)
    arguments = {"channel": probe.channel, "text": "astray"}
    probe.refused("chat.postMessage", "thread_not_found", thread_ts="1000000000.000001", **arguments)
    probe.refused("chat.postMessage", "cannot_reply_to_message", "thread_not_found", thread_ts=reply, **arguments)


def metadata_is_withheld_unless_asked_for(probe: Probe) -> None:
    metadata = {"event_type": "probe", "event_payload": {"id": "42", "flat": {"a": 1}, "many": [{"b": True}]}}
    ts = probe.post("with metadata", metadata=metadata)
    window = {"channel": probe.channel, "oldest": ts, "inclusive": True, "limit": 1}
    shown = probe.ok("conversations.history", include_all_metadata=True, **window)["messages"][0]
    expect(shown.get("metadata"), metadata, "metadata when asked for")
    hidden = probe.ok("conversations.history", **window)["messages"][0]
    demand("event_payload" not in hidden.get("metadata", {}), "no payload when not asked for")
    thread = probe.ok("conversations.replies", channel=probe.channel, ts=ts, include_all_metadata=True)
    expect(thread["messages"][0].get("metadata"), metadata, "metadata in a thread")


def malformed_metadata_is_refused(probe: Probe) -> None:
    arguments = {"channel": probe.channel, "text": "x"}
    probe.refused("chat.postMessage", "invalid_metadata_format", metadata={"event_type": "a"}, **arguments)
    deep = {"event_type": "a", "event_payload": {"deep": {"deeper": {"deepest": 1}}}}
    probe.refused("chat.postMessage", "invalid_metadata_schema", metadata=deep, **arguments)
    words = {"event_type": "a", "event_payload": {"words": ["a list", "of words"]}}
    probe.refused("chat.postMessage", "invalid_metadata_schema", metadata=words, **arguments)


def an_update_with_text_alone_keeps_the_blocks(probe: Probe) -> None:
    ts = probe.post("before", blocks=[SECTION])
    body = probe.ok("chat.update", channel=probe.channel, ts=ts, text="after")
    expect(body["ts"], ts, "ts stays")
    message = probe.ok("conversations.history", channel=probe.channel, oldest=ts, inclusive=True)["messages"][-1]
    expect(message["text"], "after", "text")
    expect(len(message.get("blocks", [])), 1, "blocks stay")
    demand(message.get("edited"), "the message is marked as edited")


def an_update_knows_its_limits(probe: Probe) -> None:
    ts = probe.post("before", blocks=[RICH])
    place = {"channel": probe.channel, "ts": ts}
    probe.refused("chat.update", "msg_too_long", text="x" * 4_001, **place)
    probe.refused("chat.update", "block_mismatch", text="x", blocks=[SECTION], **place)
    probe.refused("chat.update", "message_not_found", channel=probe.channel, ts="1000000000.000001", text="x")


def nobody_changes_what_others_wrote(probe: Probe) -> None:
    channel = probe.ok("conversations.create", token=probe.user_token, name=probe.name("theirs"))["channel"]["id"]
    probe.ok("conversations.join", channel=channel)
    ts = probe.ok("chat.postMessage", token=probe.user_token, channel=channel, text="mine")["ts"]
    probe.refused("chat.update", "cant_update_message", channel=channel, ts=ts, text="yours")
    probe.refused("chat.delete", "cant_delete_message", channel=channel, ts=ts)


def a_deleted_message_is_gone(probe: Probe) -> None:
    ts = probe.post("short-lived")
    probe.ok("chat.delete", channel=probe.channel, ts=ts)
    probe.refused("chat.delete", "message_not_found", channel=probe.channel, ts=ts)
    probe.refused("chat.update", "message_not_found", channel=probe.channel, ts=ts, text="x")


def a_permalink_names_channel_and_ts(probe: Probe) -> None:
    ts = probe.post("linked")
    link = probe.ok("chat.getPermalink", channel=probe.channel, message_ts=ts)["permalink"]
    demand(link.endswith(f"/archives/{probe.channel}/p{ts.replace('.', '')}"), f"the form of {link}")
    probe.refused("chat.getPermalink", "message_not_found", channel=probe.channel, message_ts="1000000000.000001")


def a_reaction_counts_once(probe: Probe) -> None:
    ts = probe.post("react")
    item = {"channel": probe.channel, "timestamp": ts}
    probe.ok("reactions.add", name="eyes", **item)
    probe.refused("reactions.add", "already_reacted", name="eyes", **item)
    found = probe.ok("reactions.get", **item)["message"]["reactions"]
    expect([(each["name"], each["count"]) for each in found], [("eyes", 1)], "reactions")
    probe.ok("reactions.remove", name="eyes", **item)
    probe.refused("reactions.remove", "no_reaction", name="eyes", **item)


def an_ephemeral_message_is_in_no_history(probe: Probe) -> None:
    me = probe.ok("auth.test", token=probe.user_token)["user_id"]
    arguments = {"channel": probe.channel, "user": me, "text": "psst"}
    probe.refused("chat.postEphemeral", "user_not_in_channel", **{**arguments, "user": "U00000000"})
    probe.ok("conversations.invite", channel=probe.channel, users=me)
    demand(probe.ok("chat.postEphemeral", **arguments).get("message_ts"), "message_ts is told")
    texts = [each["text"] for each in probe.ok("conversations.history", channel=probe.channel, limit=5)["messages"]]
    demand("psst" not in texts, "the history does not hold it")


CHECKS = (
    a_message_needs_words,
    a_posted_message_comes_back_whole,
    timestamps_rise_strictly,
    missing_block_ids_are_made,
    very_long_text_is_cut_with_a_warning,
    a_reply_makes_its_parent_a_thread,
    a_broadcast_reply_is_in_the_channel_too,
    only_a_parent_starts_a_thread,
    metadata_is_withheld_unless_asked_for,
    malformed_metadata_is_refused,
    an_update_with_text_alone_keeps_the_blocks,
    an_update_knows_its_limits,
    nobody_changes_what_others_wrote,
    a_deleted_message_is_gone,
    a_permalink_names_channel_and_ts,
    a_reaction_counts_once,
    an_ephemeral_message_is_in_no_history,
)
