"""Names, membership and addresses, asked from the local workspace; and how an answer is remembered."""

from types import SimpleNamespace

import pytest
from slack_sdk.errors import SlackApiError

from bot.errors import SlackUnavailable
from bot.slack.asking import Refused
from bot.slack.client import reading_client
from bot.slack.directory import Directory
from bot.slack.memory import Remembered
from bot.workspace.server import LocalWorkspace


@pytest.fixture(scope="module")
def workspace():
    with LocalWorkspace(people=("reader", "colleague")) as running:
        yield running


@pytest.fixture
def directory(workspace):
    return Directory(reading_client(workspace.bot_token, api_url=workspace.api_url))


def test_the_bot_knows_itself_and_asks_once(directory, workspace):
    before = len(workspace.calls(method="auth.test"))
    assert directory.identity().bot_user_id == workspace.bot_user_id
    assert directory.identity().url.endswith("/")
    assert len(workspace.calls(method="auth.test")) == before + 1


def test_a_token_that_is_not_accepted_is_a_refusal(workspace):
    directory = Directory(reading_client("xoxb-wrong", api_url=workspace.api_url))
    with pytest.raises(Refused) as refused:
        directory.identity()
    assert refused.value.code == "invalid_auth"


def test_a_name_becomes_an_id_over_all_pages(directory, workspace, monkeypatch):
    monkeypatch.setattr("bot.slack.directory.PAGE", 2)
    ids = {name: workspace.create_channel(name) for name in ("aa", "bb", "cc", "dd", "ee")}
    before = len(workspace.calls(method="conversations.list"))
    assert directory.channel_ids([*ids, "#aa", "#nonesuch"]) == {**ids, "#aa": ids["aa"]}
    walked = len(workspace.calls(method="conversations.list")) - before
    assert directory.channel_ids(["bb", "#nonesuch"]) == {"bb": ids["bb"]}
    assert len(workspace.calls(method="conversations.list")) - before == walked, "a long listing is trusted for a while"


def test_a_walk_that_is_told_to_wait_waits_and_goes_on_from_there(workspace, monkeypatch):
    monkeypatch.setattr("bot.slack.directory.PAGE", 2)
    wanted = {name: workspace.create_channel(name) for name in ("wa", "wb", "wc", "wd")}
    now = 100.0
    client = reading_client(workspace.bot_token, api_url=workspace.api_url)
    directory = Directory(client, monotonic=lambda: now)
    listing, cursors = client.conversations_list, []

    def throttled(**arguments):
        cursors.append(arguments.get("cursor", ""))
        if len(cursors) == 2:
            response = SimpleNamespace(status_code=429, data={"error": "ratelimited"}, headers={"Retry-After": "30"})
            raise SlackApiError("ratelimited", response)
        return listing(**arguments)

    monkeypatch.setattr(client, "conversations_list", throttled)
    for _ in range(2):
        with pytest.raises(Refused) as refused:
            directory.channel_ids(wanted)
        assert refused.value.retry_after == pytest.approx(30)
    assert len(cursors) == 2, "nothing is asked before the time"
    now += 30.0
    assert directory.channel_ids(wanted) == wanted
    assert cursors[2] == cursors[1] != "", "it goes on where it was stopped"


def test_a_private_channel_is_seen_by_its_members_only(directory, workspace):
    private = workspace.create_channel("private-one", private=True)
    workspace.remove_member("private-one", "colleague")
    reader, colleague = workspace.user_id("reader"), workspace.user_id("colleague")
    assert directory.may_see(user_id=reader, channel_id=private)
    assert not directory.may_see(user_id=colleague, channel_id=private)
    assert not directory.may_see(user_id=None, channel_id=private)


def test_a_public_channel_is_seen_by_everybody(directory, workspace):
    public = workspace.create_channel("public-one")
    assert directory.may_see(user_id=None, channel_id=public)


def test_slack_out_of_reach_means_no_link_and_no_error():
    directory = Directory(reading_client("xoxb-1", api_url="http://127.0.0.1:9/api/", timeout=0.5))
    assert not directory.may_see(user_id="U1", channel_id="C1")


def test_the_address_of_a_message_is_the_one_slack_gives(directory, workspace):
    channel = workspace.create_channel("linked")
    client = reading_client(workspace.bot_token, api_url=workspace.api_url)
    parent = client.chat_postMessage(channel=channel, text="a")["ts"]
    reply = client.chat_postMessage(channel=channel, text="b", thread_ts=parent)["ts"]
    for ts, thread_ts in ((parent, None), (parent, parent), (reply, parent)):
        real = client.chat_getPermalink(channel=channel, message_ts=ts)["permalink"]
        assert directory.permalink(channel, ts, thread_ts) == real
    assert directory.thread_link(channel, reply, parent) == real
    assert (
        directory.thread_link(channel, parent)
        == f"{directory.permalink(channel, parent)}?thread_ts={parent}&cid={channel}"
    )


def test_an_answer_is_believed_for_a_while_and_a_failure_for_less():
    now, asked = [0.0], []

    def find(key):
        asked.append(key)
        if key == "away":
            raise SlackUnavailable("away")
        return key.upper()

    memory = Remembered(find, otherwise="", seconds=300, failed_seconds=20, most=2, monotonic=lambda: now[0])
    assert [memory.get(key) for key in ("a", "a", "away", "away")] == ["A", "A", "", ""]
    assert asked == ["a", "away"]
    now[0] = 21
    memory.get("a")
    memory.get("away")
    assert asked == ["a", "away", "away"]
    now[0] = 301
    memory.get("a")
    assert asked[-1] == "a"
