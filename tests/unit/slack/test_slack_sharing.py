"""Sharing and answering mentions: once, also when Slack's answer is lost. Over the local workspace."""

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from bot.errors import SlackUnavailable
from bot.render.views import Style
from bot.slack.client import posting_client, reading_client
from bot.slack.directory import Directory
from bot.slack.history import SlackHistory
from bot.slack.ports import Reader
from bot.slack.poster import SlackPoster
from bot.slack.sharing import SlackSharing
from bot.workspace.faults import Fault, FaultKind
from bot.workspace.server import LocalWorkspace
from tests.unit.slack.harness import Hand
from tests.unit.slack.rooms import Rooms, entry


@pytest.fixture(scope="module")
def workspace():
    with LocalWorkspace() as running:
        yield running


@pytest.fixture
def channel(workspace, request):
    workspace.clear_faults()
    return workspace.create_channel(f"s{abs(hash(request.node.name)) % 10**9}")


@pytest.fixture
def rooms(workspace):
    directory = Directory(reading_client(workspace.bot_token, api_url=workspace.api_url))
    return Rooms(directory, entries=[entry(1, "vllm one")])


@pytest.fixture
def sharing(workspace, rooms):
    return SlackSharing(
        desk=rooms.desk,
        archive=rooms.archive,
        discussion=rooms.discussion,
        renderer=rooms.renderer,
        style=lambda _channel: Style(),
        poster=SlackPoster(posting_client(workspace.bot_token, api_url=workspace.api_url, timeout=1.0)),
        history=SlackHistory(reading_client(workspace.bot_token, api_url=workspace.api_url)),
        now=lambda: datetime.now(UTC),
        stopping=threading.Event(),
        settle=timedelta(milliseconds=50),
    )


def share(sharing, workspace, channel, key="k1", **more):
    reader = Reader(team_id="T1", user_id=workspace.user_id("reader"), channel_id=channel, user_name="reader")
    return sharing.share(reader, 1, channel_id=channel, comment="看这条", request_key=key, **more)


def posted(workspace, channel):
    return [one for one in workspace.messages(channel) if "subtype" not in one and one.get("bot_id")]


def test_a_share_says_who_shared_it_and_is_remembered_with_its_place(sharing, workspace, rooms, channel):
    assert share(sharing, workspace, channel).key == "shared"
    message = posted(workspace, channel)[0]
    assert "看这条" in message["text"]
    assert rooms.marks.shares == {"k1": message["ts"]}


def test_a_share_waits_for_its_place_in_the_pace_and_gives_up_a_long_one(sharing, workspace, channel):
    places, asked = [0.2, 60.0], []
    sharing._leave = lambda there: asked.append(there.channel_id) or places.pop(0)
    began = time.monotonic()
    assert share(sharing, workspace, channel).key == "shared"
    assert time.monotonic() - began >= 0.2
    assert share(sharing, workspace, channel, "k2").key == "failed"
    assert asked == [channel, channel]
    assert len(posted(workspace, channel)) == 1


def test_the_same_wish_twice_posts_once_and_another_one_again(sharing, workspace, channel):
    for key in ("k1", "k1", "k2"):
        assert share(sharing, workspace, channel, key).key == "shared"
    assert len(posted(workspace, channel)) == 2


@pytest.mark.parametrize(
    "kind", [FaultKind.DROP_AFTER, FaultKind.STATUS_AFTER, FaultKind.NOT_JSON_AFTER, FaultKind.ERROR_AFTER]
)
def test_a_share_whose_answer_was_lost_is_found_and_not_posted_again(sharing, workspace, rooms, channel, kind):
    workspace.add_fault(Fault(kind=kind))
    assert share(sharing, workspace, channel).key == "shared"
    assert [rooms.marks.shares["k1"]] == [one["ts"] for one in posted(workspace, channel)]


def test_a_share_that_nobody_can_find_is_not_repeated_and_not_claimed(sharing, workspace, channel):
    workspace.add_fault(Fault(kind=FaultKind.DROP_BEFORE))
    assert share(sharing, workspace, channel).key == "failed"
    assert posted(workspace, channel) == []


def test_a_429_is_waited_out(sharing, workspace, channel):
    workspace.add_fault(Fault(kind=FaultKind.RATE_LIMITED, seconds=1))
    assert share(sharing, workspace, channel).key == "shared"
    assert len(posted(workspace, channel)) == 1


def test_a_long_429_is_not(sharing, workspace, rooms, channel):
    workspace.add_fault(Fault(kind=FaultKind.RATE_LIMITED, seconds=600))
    assert share(sharing, workspace, channel).key == "failed"
    assert rooms.marks.shares == {}


def test_a_channel_without_the_bot_asks_for_an_invitation(sharing, workspace, rooms):
    elsewhere = workspace.create_channel("no-bot-here", with_bot=False)
    assert share(sharing, workspace, elsewhere).key == "invite"
    assert rooms.marks.shares == {}


def test_an_entry_that_is_gone_is_told(sharing, workspace, rooms, channel):
    rooms.archive.known.clear()
    assert share(sharing, workspace, channel).key == "entry_gone"


def mention(sharing, workspace, channel, text="vllm", **more):
    reader = Reader(team_id="T1", user_id=workspace.user_id("reader"), channel_id=channel, public=True)
    parent = Hand(workspace).type(channel, "?")
    arguments = {"event_id": "e1", "channel_id": channel, "thread_ts": parent, **more}
    sharing.answer_mention(reader, text, **arguments)
    return arguments


def test_a_mention_is_answered_once_in_its_thread(sharing, workspace, channel):
    arguments = mention(sharing, workspace, channel)
    for _ in range(2):
        mention(sharing, workspace, channel, thread_ts=arguments["thread_ts"])
    answers = posted(workspace, channel)
    assert len(answers) == 1
    assert answers[0]["thread_ts"] == arguments["thread_ts"]
    assert "vllm one" in answers[0]["text"]


def test_a_mention_without_words_gets_help(sharing, workspace, channel):
    mention(sharing, workspace, channel, text="")
    assert "/digest" in posted(workspace, channel)[0]["text"]


def test_a_mention_that_cannot_be_answered_is_an_error_for_the_log(sharing, workspace, channel):
    workspace.add_fault(Fault(kind=FaultKind.ERROR, error="is_archived"))
    with pytest.raises(SlackUnavailable, match="is_archived"):
        mention(sharing, workspace, channel)
