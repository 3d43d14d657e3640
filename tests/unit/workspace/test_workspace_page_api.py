"""The page's HTTP interface keeps its contract."""

from __future__ import annotations

import json
import socket
import threading
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.workspace.server import LocalWorkspace
from tests.unit.workspace.conftest import Heard

BUTTON = {"type": "button", "action_id": "go", "value": "7", "text": {"type": "plain_text", "text": "Go"}}
ROW = {"type": "actions", "block_id": "row", "elements": [BUTTON]}


@pytest.fixture
def get(workspace):
    def read(path, user="reader"):
        with urllib.request.urlopen(f"{workspace.url}{path}?user={urllib.parse.quote(user)}", timeout=5) as answer:
            return json.load(answer)

    return read


@pytest.fixture
def act(workspace):
    def do(path, user="reader", **body):
        request = urllib.request.Request(
            f"{workspace.url}/_page/{path}",
            data=json.dumps({"user": user, **body}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.load(answer)

    return do


class Stream:
    """The news of one person, from when it was opened."""

    def __init__(self, workspace, user="reader"):
        self._answer = urllib.request.urlopen(f"{workspace.url}/_page/events?user={user}", timeout=5)
        self._answer.readline()

    def next(self, kind):
        for line in self._answer:
            if line.startswith(b"data: "):
                news = json.loads(line[6:])
                if news["type"] == kind:
                    return news
        raise AssertionError(kind)


@pytest.fixture
def news(workspace, channel):
    return Stream(workspace)


def test_boot_tells_everything_the_page_needs(get, channel):
    boot = get("/_page/boot")
    assert boot["me"]["name"] == "reader"
    assert {each["name"] for each in boot["users"]} == {"digest-bot", "reader", "colleague"}
    line = next(each for each in boot["channels"] if each["id"] == channel)
    assert line.items() >= {"name": "vllm-digest", "is_private": False, "is_archived": False, "is_member": True}.items()
    assert boot["commands"][0]["command"] == "/digest"
    assert {each["callback_id"] for each in boot["shortcuts"]} == {"entry_save", "search_digests"}
    assert boot["app"]["home_enabled"] is True


def test_a_typed_message_is_shown_and_told_and_its_html_is_escaped(get, act, news, channel):
    assert act("message", channel=channel, text="<b>bold</b> & co")["ok"]
    message = news.next("message")["message"]
    assert message["text"] == "&lt;b&gt;bold&lt;/b&gt; &amp; co"
    assert "<b>bold" not in message["html"]
    shown = get(f"/_page/channel/{channel}")["messages"][-1]
    assert shown["ts"] == message["ts"]
    assert (shown["ephemeral"], shown["reply_count"], shown["reactions"]) == (False, 0, [])


def test_a_thread_is_read_and_its_parent_counts(get, act, news, client, channel):
    parent = client.chat_postMessage(channel=channel, text="parent")["ts"]
    act("message", channel=channel, text="reply", thread_ts=parent)
    changed = news.next("message_changed")["message"]
    assert (changed["ts"], changed["reply_count"]) == (parent, 1)
    thread = get(f"/_page/thread/{channel}/{parent}")["messages"]
    assert [each["text"] for each in thread] == ["parent", "reply"]
    assert len([each for each in get(f"/_page/channel/{channel}")["messages"] if each["text"] == "reply"]) == 0


def test_edit_delete_and_reactions_are_told(act, news, client, channel):
    act("message", channel=channel, text="first")
    ts = news.next("message")["message"]["ts"]
    act("edit", channel=channel, ts=ts, text="second")
    assert news.next("message_changed")["message"]["edited"]["user"]
    act("react", channel=channel, ts=ts, name="eyes")
    assert news.next("reaction")["message"]["reactions"][0]["count"] == 1
    act("delete", channel=channel, ts=ts)
    assert news.next("message_deleted")["ts"] == ts
    theirs = client.chat_postMessage(channel=channel, text="bot's")["ts"]
    assert act("edit", channel=channel, ts=theirs, text="mine now")["error"] == "cant_update_message"


def test_an_ephemeral_answer_is_told_to_one_person(get, act, news, channel, connect):
    connect(lambda app: app.command("/digest")(lambda ack: ack("only you")))
    assert act("message", channel=channel, text="/digest") == {"ok": True}
    told = news.next("ephemeral")["message"]
    assert (told["text"], told["ephemeral"]) == ("only you", True)
    assert get(f"/_page/channel/{channel}")["messages"][-1]["text"] == "only you"
    assert get(f"/_page/channel/{channel}", "colleague")["messages"][-1]["text"] != "only you"


def test_a_command_nobody_answers_says_so(act, channel):
    answer = act("message", channel=channel, text="/digest")
    assert answer == {
        "ok": False,
        "error": "dispatch_failed",
        "message": '/digest failed with the error "dispatch_failed"',
    }


def test_a_click_a_modal_and_its_submission_go_through_the_page(act, news, client, channel, connect):
    heard = Heard()
    view = {
        "type": "modal",
        "callback_id": "ask",
        "title": {"type": "plain_text", "text": "Ask"},
        "submit": {"type": "plain_text", "text": "Send"},
        "blocks": [
            {
                "type": "input",
                "block_id": "words",
                "label": {"type": "plain_text", "text": "Words"},
                "element": {"type": "plain_text_input", "action_id": "typed"},
            }
        ],
    }

    def listeners(app):
        @app.action("go")
        def go(ack, body, client):
            ack()
            client.views_open(trigger_id=body["trigger_id"], view=view)

        @app.view("ask")
        def ask(ack, view):
            ack()
            heard.add(view["state"]["values"]["words"]["typed"]["value"])

    connect(listeners)
    ts = client.chat_postMessage(channel=channel, text="x", blocks=[ROW])["ts"]
    container = {"type": "message", "channel": channel, "ts": ts}
    assert act("action", container=container, block_id="row", action_id="go")["ok"]
    opened = news.next("view_open")["view"]
    assert "Ask" in opened["html"]
    missing = act("view_submit", view_id=opened["id"], state={})
    assert (missing["error"], list(missing["errors"])) == ("view_errors", ["words"])
    state = {"words": {"typed": {"type": "plain_text_input", "value": "vllm"}}}
    assert act("view_submit", view_id=opened["id"], state=state)["ok"]
    assert heard.wait() == ["vllm"]
    assert news.next("view_close")["view_id"] == opened["id"]


def test_a_view_submitted_by_two_clicks_at_once_is_closed_once_and_nobody_meets_an_error(
    act, news, client, channel, connect
):
    both = threading.Barrier(2, timeout=5)
    title = {"type": "plain_text", "text": "Ask"}
    view = {"type": "modal", "callback_id": "ask", "title": title, "submit": title, "blocks": []}
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "Sure?"}}

    def listeners(app):
        @app.action("go")
        def go(ack, body, client):
            ack()
            client.views_open(trigger_id=body["trigger_id"], view={**view, "blocks": [section]})

        @app.view("ask")
        def ask(ack):
            both.wait()  # neither is acked before the other has come
            ack()

    connect(listeners)
    ts = client.chat_postMessage(channel=channel, text="x", blocks=[ROW])["ts"]
    act("action", container={"type": "message", "channel": channel, "ts": ts}, block_id="row", action_id="go")
    opened = news.next("view_open")["view"]["id"]
    with ThreadPoolExecutor(2) as clicks:
        answers = [clicks.submit(act, "view_submit", view_id=opened, state={}) for _ in range(2)]
    assert [one.result()["ok"] for one in answers] == [True, True]
    assert news.next("view_close")["view_id"] == opened


def test_the_home_tab_is_read_and_told(workspace, get, news, client):
    assert get("/_page/home")["view"] is None
    home = {"type": "home", "blocks": [{"type": "header", "text": {"type": "plain_text", "text": "Today"}}]}
    client.views_publish(user_id=workspace.user_id("reader"), view=home)
    assert "Today" in news.next("home")["view"]["html"]
    assert get("/_page/home")["view"]["type"] == "home"


def test_a_private_channel_is_unknown_to_others(workspace, get, client):
    private = client.conversations_create(name="secret", is_private=True)["channel"]["id"]
    assert private not in {each["id"] for each in get("/_page/boot")["channels"]}
    assert get(f"/_page/channel/{private}")["error"] == "channel_not_found"


def test_the_page_is_served_also_at_permalinks(workspace, client, channel):
    ts = client.chat_postMessage(channel=channel, text="x")["ts"]
    link = client.chat_getPermalink(channel=channel, message_ts=ts)["permalink"]
    for address in (workspace.url, link):
        with urllib.request.urlopen(address, timeout=5) as answer:
            assert b"<html" in answer.read()


def test_bad_requests_are_told_and_not_fatal(workspace, act, channel):
    with pytest.raises(urllib.error.HTTPError, match="400"):
        act("message", channel=channel)
    assert act("react", channel=channel, ts="1.1", name="eyes")["error"] == "message_not_found"
    assert act("message", user="nobody", channel=channel, text="x")["error"] == "user_not_found"


@pytest.mark.parametrize(
    ("path", "status", "error"),
    [("api/chat.postMessage", 200, "invalid_json"), ("_page/message", 400, "bad_request")],
)
def test_json_that_is_nested_without_end_is_no_json(workspace, path, status, error):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {workspace.bot_token}"}
    request = urllib.request.Request(f"{workspace.url}/{path}", data=b"[" * 100_000, headers=headers)
    try:
        answer = urllib.request.urlopen(request, timeout=5)
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        assert (answer.status, json.load(answer)["error"]) == (status, error)


@pytest.mark.parametrize("path", ["api/chat.postMessage", "_page/message", "actions/{team}/secret"])
def test_a_client_that_hangs_up_in_the_middle_leaves_no_trace_in_the_log(caplog, path):
    with LocalWorkspace() as workspace:
        place = urllib.parse.urlsplit(workspace.url)
        team = workspace.act("reader", lambda person: person.workspace.store.team.id)
        with socket.create_connection((place.hostname, place.port)) as caller:
            head = f"POST /{path.format(team=team)} HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: 9\r\n\r\n"
            caller.sendall(head.encode() + b"half")
    assert [one for one in caplog.records if one.exc_info] == []
