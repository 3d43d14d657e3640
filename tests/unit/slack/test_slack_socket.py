"""The Socket Mode connection: what it says when it cannot be had, and how it comes back."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from slack_bolt import BoltResponse
from structlog.testing import capture_logs
from websockets.sync.client import connect
from websockets.sync.server import serve

from bot.errors import SlackUnavailable
from bot.slack.backoff import Backoff
from bot.slack.envelopes import ack, is_own_echo
from bot.slack.link import Link
from bot.slack.socket import Socket
from bot.workspace.server import LocalWorkspace
from tests.unit.slack.harness import Bot, Hand, eventually
from tests.unit.slack.loopback import Loopback, http_answer


@pytest.fixture(scope="module")
def workspace():
    with LocalWorkspace() as running:
        yield running


def test_a_refused_app_token_says_what_to_do(workspace):
    with Bot(workspace, socket=False) as bot:
        socket = Socket(app=bot.app, app_token="xapp-wrong", api_url=workspace.api_url)
        with pytest.raises(SlackUnavailable, match="connections:write"):
            socket.connect()
        assert not socket.is_connected()
        socket.close()


def test_a_slack_that_is_away_at_the_start_is_connected_to_when_it_comes(workspace):
    workspace.refuse_links(2)
    with Bot(workspace) as bot:
        assert bot.socket.problem
        eventually(bot.socket.is_connected, seconds=10)
        assert bot.socket.problem is None
        bot.socket.connect()  # a second time does nothing
        assert workspace.connections == 1


def test_an_outage_is_one_line_in_the_log_however_long_it_lasts(workspace, monkeypatch):
    monkeypatch.setattr("bot.slack.backoff.Backoff.next", lambda _self: 0.02)
    with Bot(workspace, socket=False) as bot, Loopback([http_answer(503, b"")]) as away:
        socket = Socket(app=bot.app, app_token="xapp-1", api_url=away.url)
        with capture_logs() as lines:
            socket.connect()
            eventually(lambda: len(away.requests) > 5)
        socket.close()
    assert [one["event"] for one in lines] == ["socket_unavailable"]
    assert "apps.connections.open" in (socket.problem or "")


def test_a_command_in_the_middle_of_a_refresh_is_answered(workspace, monkeypatch):
    monkeypatch.setattr("bot.slack.link.RETIRED_SECONDS", 0.2)
    channel = workspace.create_channel("refreshing")
    with Bot(workspace) as bot:
        hand = Hand(workspace)
        for number in range(10):
            workspace.refresh_sockets("warning")
            hand.type(channel, f"/digest round {number}")
            hand.whisper(channel, f"hits for round {number}")
        eventually(lambda: workspace.connections == 1, seconds=15)
        assert bot.errors == 0


def test_closing_is_quick_and_final(workspace):
    with Bot(workspace) as bot:
        bot.socket.close()
        assert not bot.socket.is_connected()
        eventually(lambda: workspace.connections == 0)


def test_pauses_grow_to_half_a_minute_and_begin_again():
    backoff = Backoff()
    pauses = [backoff.next() for _ in range(12)]
    assert 0.3 < pauses[0] <= 0.5
    assert 20 <= pauses[-1] <= 30
    backoff.reset()
    assert backoff.next() <= 0.5


@pytest.mark.parametrize(
    ("kind", "response", "expected"),
    [
        ("slash_commands", BoltResponse(status=200, body=""), {"envelope_id": "e"}),
        (
            "slash_commands",
            BoltResponse(status=200, body="hi"),
            {"envelope_id": "e", "payload": {"text": "hi"}},
        ),
        (
            "interactive",
            BoltResponse(status=200, body=json.dumps({"response_action": "clear"})),
            {"envelope_id": "e", "payload": {"response_action": "clear"}},
        ),
        ("events_api", BoltResponse(status=404, body="{}"), {"envelope_id": "e"}),
        ("slash_commands", BoltResponse(status=404, body="{}"), None),
        ("events_api", BoltResponse(status=500, body=""), None),
    ],
)
def test_an_ack_says_what_the_listener_said(kind, response, expected):
    response.headers["content-type"] = ["application/json" if str(response.body).startswith("{") else "text/plain"]
    assert ack({"envelope_id": "e", "type": kind}, response) == expected


@pytest.mark.parametrize(
    ("kind", "event", "expected"),
    [
        ("events_api", {"type": "message", "bot_id": "B1", "text": "a"}, True),
        ("events_api", {"type": "message", "bot_id": "B1", "thread_ts": "1.1"}, True),
        ("events_api", {"type": "message", "user": "U1", "thread_ts": "1.1"}, False),
        ("events_api", {"type": "message", "subtype": "message_deleted", "bot_id": "B1"}, False),
        ("events_api", {"type": "app_mention", "bot_id": "B1"}, False),
        ("events_api", {"type": "reaction_added"}, False),
        ("interactive", {"type": "message", "bot_id": "B1"}, False),
    ],
)
def test_only_what_a_bot_has_said_is_acknowledged_without_a_look(kind, event, expected):
    assert is_own_echo({"envelope_id": "e", "type": kind, "payload": {"event": event}}) is expected


def sent_down(*frames):
    """What a link takes of frames that Slack might send, and how it ends."""
    taken = []

    def speak(connection):
        for frame in frames:
            connection.send(frame)

    with serve(speak, "127.0.0.1", 0) as server, ThreadPoolExecutor(1) as pool:
        pool.submit(server.serve_forever)
        host, port = server.socket.getsockname()
        with connect(f"ws://{host}:{port}") as connection:
            link = Link(connection, take=lambda one, _send: taken.append(one), changed=lambda _link: None)
            link.start()
            link.thread.join(10)
        assert link.is_over
        server.shutdown()
    return taken


def test_what_is_no_json_ends_no_link_and_half_a_character_is_taken():
    half = r'{"envelope_id": "1", "payload": {"text": "\ud83d"}}'
    taken = sent_down("{", b"\xff\xfe", "[" * 100_000, "[]", "null", half, '{"envelope_id": "2"}')
    assert [one["envelope_id"] for one in taken] == ["1", "2"]
    assert taken[0]["payload"] == {"text": "\ud83d"}


def test_an_envelope_without_a_payload_is_no_echo():
    assert not is_own_echo({"envelope_id": "e", "type": "events_api"})
