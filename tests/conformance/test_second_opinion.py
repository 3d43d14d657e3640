"""A second opinion: what somebody else who emulates Slack says to our probe, our messages and a whole delivery."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from bot.delivery.values import AnswerKind
from bot.model import Channel, Message
from bot.render.messages import Renderer
from bot.slack.client import posting_client
from bot.slack.poster import SlackPoster
from bot.text import vocabulary
from bot.workspace.server import LocalWorkspace
from tests.conformance import emulate, history, messages
from tests.conformance.emulate import Emulate
from tests.conformance.probe import Probe
from tests.conftest import require
from tests.e2e.support import (
    ALL_ITEMS,
    FIRST,
    SECOND,
    Morning,
    MovedClock,
    Reading,
    assert_digest,
    first_line,
    shanghai,
)
from tests.unit.render import seeds


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulate]:
    require(emulate.NODE.is_file() and emulate.PROGRAM.is_file(), "npm's emulate with a Node of its own (.ci/node)")
    with emulate.running(tmp_path_factory.mktemp("emulate")) as one:
        yield one


# --- the probe --------------------------------------------------------------------------------------------------------


class Difference(NamedTuple):
    check: str
    what: str


class Listener(Probe):
    """A probe that goes on after a difference, and keeps them all."""

    def __init__(self, base: str, token: str, *, user_token: str) -> None:
        super().__init__(base, token, user_token=user_token)
        self.check = ""
        self.heard: dict[Difference, str] = {}

    def refused(self, method: str, *errors: str, **arguments: Any) -> Any:
        reply = self.call(method, **arguments)
        if reply.status != 200 or reply.error not in errors:
            self.hear(f"{method} says {errors[0]}", f"it says {reply.error or 'ok'}")
        return reply.body

    def expect(self, found: Any, wanted: Any, what: str) -> None:
        if found != wanted:
            self.hear(what, f"expected {wanted!r}, got {found!r}")

    def demand(self, truth: object, what: str) -> None:
        if not truth:
            self.hear(what, "it is not so")

    def hear(self, what: str, detail: str) -> None:
        self.heard[Difference(self.check, what)] = detail


_NO_WINDOW = "it ignores oldest, latest and inclusive, which Slack documents as the bounds of what comes back"
_ANY_PARENT = "it takes any thread_ts for a parent; Slack's codes are thread_not_found and cannot_reply_to_message"
_ANY_METADATA = "it takes any object for metadata; Slack asks for event_type and a flat event_payload"

KNOWN: Mapping[Difference, str] = {
    Difference(check, what): reason
    for check, whats, reason in (
        ("a_posted_message_comes_back_whole", ("bot_id is told",), "it tells only the bot_id that a caller gave"),
        ("missing_block_ids_are_made", ("each block has an ID of its own",), "it keeps blocks as they came"),
        ("a_reply_makes_its_parent_a_thread", ("latest_reply",), "it keeps a count and the users, no more"),
        ("a_reply_makes_its_parent_a_thread", ("a reply's ts also finds the thread",), "it compares only parents"),
        (
            "a_broadcast_reply_is_in_the_channel_too",
            ("the newest message in the channel", "subtype"),
            "it keeps reply_broadcast as a field and broadcasts nothing",
        ),
        (
            "only_a_parent_starts_a_thread",
            ("chat.postMessage says thread_not_found", "chat.postMessage says cannot_reply_to_message"),
            _ANY_PARENT,
        ),
        (
            "metadata_is_withheld_unless_asked_for",
            ("no payload when not asked for",),
            "it does not know include_all_metadata",
        ),
        (
            "malformed_metadata_is_refused",
            ("chat.postMessage says invalid_metadata_format", "chat.postMessage says invalid_metadata_schema"),
            _ANY_METADATA,
        ),
        (
            "an_update_with_text_alone_keeps_the_blocks",
            ("text", "the message is marked as edited"),
            f"another message is read back: {_NO_WINDOW}",
        ),
        (
            "an_update_knows_its_limits",
            ("chat.update says msg_too_long", "chat.update says block_mismatch"),
            "an update that Slack's page of errors refuses is taken",
        ),
        (
            "an_ephemeral_message_is_in_no_history",
            ("chat.postEphemeral says user_not_in_channel",),
            "it says user_not_found, which is not among the method's errors",
        ),
        (
            "history_goes_back_over_the_cursor_to_the_end",
            ("conversations.history says invalid_cursor",),
            "a cursor that it never gave means the first page to it",
        ),
        (
            "oldest_and_latest_bound_the_window",
            (
                "bounds left out",
                "bounds included",
                "latest alone",
                "oldest alone",
                "conversations.history says invalid_ts_oldest",
                "conversations.history says invalid_ts_latest",
            ),
            _NO_WINDOW,
        ),
        ("oldest_alone_pages_forward", ("the two closest to oldest",), _NO_WINDOW),
        (
            "replies_page_with_the_parent_first",
            ("conversations.replies says thread_not_found",),
            "a thread that is not there is an empty one to it",
        ),
    )
    for what in whats
}
"""Where it is wrong, and how we know."""


def test_it_differs_from_our_probe_only_where_its_own_mistakes_are_known(
    second: Emulate, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = Listener(second.direct, emulate.BOT_TOKEN, user_token=emulate.USER_TOKEN)
    for module in (messages, history):
        monkeypatch.setattr(module, "expect", probe.expect)
        if hasattr(module, "demand"):
            monkeypatch.setattr(module, "demand", probe.demand)
    for check in (*messages.CHECKS, *history.CHECKS):
        probe.check = check.__name__
        try:
            check(probe)
        except (AssertionError, KeyError, IndexError, TypeError, AttributeError) as problem:
            probe.hear("the check comes to its end", f"{type(problem).__name__}: {problem}")
    for difference, detail in probe.heard.items():
        print(f"{difference.check}: {difference.what}: {detail} ({KNOWN.get(difference, 'NOT KNOWN')})")
    unknown = {one: detail for one, detail in probe.heard.items() if one not in KNOWN}
    assert not unknown, "who is right, it or we?"
    assert set(KNOWN) == set(probe.heard), "a mistake that it no longer makes"


# --- our messages -----------------------------------------------------------------------------------------------------

TEAM = "T1"


def bot_says(api_url: str, token: str, channel_id: str) -> dict[str, list[dict[str, Any]]]:
    """Post a morning in both layouts, change some of it, and read it all back."""
    poster, channel = SlackPoster(posting_client(token, api_url=api_url)), Channel(team_id=TEAM, channel_id=channel_id)
    names: dict[str, str] = {}

    def post(message: Message, key: str, *, under: str | None = None) -> str:
        answer = poster.post(channel, message, key=key, thread_ts=under)
        assert answer.kind is AnswerKind.OK, answer
        assert answer.ts is not None
        names[answer.ts] = key
        return answer.ts

    renderer, style = Renderer(vocabulary=vocabulary.load()), seeds.style()
    root, entries = renderer.root(seeds.first_day(), style), seeds.seed_entries()[:8]
    stamps = [post(root, "root")]
    for entry in entries:
        (message,) = renderer.entry(entry, style)
        stamps.append(post(message, f"entry-{entry.id}"))
    folded = post(renderer.compact(seeds.first_day(), style), "folded")
    for entry in entries:
        post(renderer.entry(entry, style)[0], f"reply-{entry.id}", under=folded)
    linked = renderer.root(seeds.first_day(lines=seeds.lines(range(1, 9), linked=True)), style)
    assert poster.update(channel, stamps[0], linked).kind is AnswerKind.OK
    assert poster.update(channel, stamps[1], renderer.entry(entries[2], style)[0], key="changed").kind is AnswerKind.OK

    reading = Reading(posting_client(token, api_url=api_url), channel_id)
    thread = reading.client.conversations_replies(channel=channel_id, ts=folded, include_all_metadata=True)["messages"]
    return {
        "history": [essence(one, names) for one in reading.messages()],
        "thread": [essence(one, names) for one in thread],
    }


def essence(message: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """What readers and the bot go by, with our keys for timestamps and without the block IDs that Slack makes."""
    return {
        "ts": names[message["ts"]],
        "thread": names.get(message.get("thread_ts", "")) if message.get("thread_ts") != message["ts"] else None,
        "replies": message.get("reply_count", 0),
        "edited": "edited" in message,
        "text": message["text"],
        "metadata": message["metadata"],
        "blocks": [{name: value for name, value in block.items() if name != "block_id"} for block in message["blocks"]],
    }


def test_our_messages_come_back_the_same_from_both(second: Emulate) -> None:
    theirs = bot_says(second.api_url, second.bot_token, second.create_channel("same"))
    with LocalWorkspace() as workspace:
        ours = bot_says(workspace.api_url, workspace.bot_token, workspace.create_channel("same"))
    for place, found in ours.items():
        assert [one["ts"] for one in found] == [one["ts"] for one in theirs[place]]
        for our_own, other in zip(found, theirs[place], strict=True):
            assert our_own == other
    assert len(ours["history"]) == 10
    assert len(ours["thread"]) == 9


# --- a whole delivery -------------------------------------------------------------------------------------------------


def test_a_whole_delivery_stands_there_once_whatever_answer_was_lost(second: Emulate, tmp_path) -> None:
    clock = MovedClock(shanghai("2026-12-01 08:00"))
    morning = Morning(tmp_path, second, clock, f"sqlite:///{tmp_path / 'bot.db'}")
    before = second.forwarder.posts
    second.forwarder.lose |= {before + 1, before + 5}
    try:
        morning.start()
        for path in (FIRST, SECOND):
            morning.drop(path.name, path)
        for minute in range(8):
            morning.at(f"2026-12-01 09:0{minute}")
        stood = morning.channel.messages()
        assert_digest(stood, ALL_ITEMS)
        assert len(stood) == len({first_line(one) for one in stood}) == 13

        morning.start()
        morning.at("2026-12-01 09:10")
        morning.at("2026-12-02 09:00")
    finally:
        morning.stop()
    assert [one["ts"] for one in morning.channel.messages()] == [one["ts"] for one in stood]
    assert second.forwarder.posts == before + 13, "what was lost on the way back was found, not posted again"
