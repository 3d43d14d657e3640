"""The same app over HTTP: signatures, acks side by side, and what Slack is told not to repeat."""

import hashlib
import hmac
import json
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.slack.http import dispatcher
from bot.slack.manifest import manifest
from bot.web import server as web
from bot.workspace.server import LocalWorkspace
from tests.unit.slack.harness import Bot, Hand, eventually


@pytest.fixture(scope="module")
def workspace():
    with LocalWorkspace() as running:
        yield running


@pytest.fixture
def served(workspace):
    with Bot(workspace, socket=False) as bot:
        server = web.serve(web.build_web(checks={}, dispatch=dispatcher(bot.app)))
        workspace.install(manifest("https://x.example"), request_url=f"{server.url}/slack/events")
        yield bot, server
        server.stop()


def test_a_command_typed_in_the_workspace_comes_by_http_and_is_answered(served, workspace):
    assert served
    channel = workspace.create_channel("over-http")
    hand = Hand(workspace)
    hand.type(channel, "/digest vllm")
    assert hand.whisper(channel, "hits for vllm")


def test_eight_slow_commands_are_acked_in_time(served, workspace):
    bot, _ = served
    channel = workspace.create_channel("over-http-slow")
    hand = Hand(workspace)
    bot.desk.gate.clear()
    begun = time.perf_counter()
    with ThreadPoolExecutor(8) as people:
        for typed in [people.submit(hand.type, channel, f"/digest slow {n}") for n in range(8)]:
            typed.result()
    assert time.perf_counter() - begun < 3
    bot.desk.gate.set()
    eventually(lambda: len(hand.whispers(channel)) == 8)


def post(bot, body, *, secret=None, at=None):
    moment = str(int(time.time() if at is None else at))
    key = (secret or bot.workspace.signing_secret).encode()
    signature = "v0=" + hmac.new(key, f"v0:{moment}:{body}".encode(), hashlib.sha256).hexdigest()
    kind = "application/json" if body.startswith("{") else "application/x-www-form-urlencoded"
    headers = {"x-slack-request-timestamp": moment, "x-slack-signature": signature, "content-type": kind}
    return dispatcher(bot.app)(body, headers)


COMMAND = urllib.parse.urlencode(
    {
        "command": "/digest",
        "text": "help",
        "team_id": "T1",
        "user_id": "U1",
        "channel_id": "C1",
        "response_url": "http://127.0.0.1:9/",
    }
)


def test_the_log_of_a_refused_request_holds_nothing_of_it(served, caplog):
    bot, _ = served
    with caplog.at_level("DEBUG"), caplog.at_level("DEBUG", logger="slack_bolt.RequestVerification"):
        for _ in range(5):
            assert post(bot, COMMAND.replace("help", "my-own-words"), secret="wrong")[0] == 401
    assert "my-own-words" not in caplog.text
    # A warning, once: the secret may be a wrong one; and a stranger who sends a thousand fills no log.
    (line,) = [one for one in caplog.records if "without a valid signature" in one.getMessage()]
    assert line.levelname == "WARNING"


def test_a_request_with_a_wrong_signature_is_refused_and_not_to_be_repeated(served):
    bot, _ = served
    status, headers, _ = post(bot, COMMAND, secret="other")
    assert status == 401
    assert headers["X-Slack-No-Retry"] == "1"
    assert bot.desk.asked == []


def test_an_old_request_is_refused(served):
    bot, _ = served
    assert post(bot, COMMAND, at=time.time() - 3600)[0] == 401


def test_the_url_is_verified(served):
    bot, _ = served
    status, _, body = post(bot, json.dumps({"type": "url_verification", "challenge": "abc"}))
    assert status == 200
    assert "abc" in body


def test_an_event_without_listener_is_not_to_be_repeated(served):
    bot, _ = served
    event = {"type": "event_callback", "team_id": "T1", "event": {"type": "team_join", "user": "U1"}}
    status, headers, _ = post(bot, json.dumps(event))
    assert status == 404
    assert headers["X-Slack-No-Retry"] == "1"


@pytest.mark.parametrize("body", ["[" * 200_000, '{"a":' * 200_000, "payload=" + "[" * 200_000])
def test_a_stranger_who_nests_without_end_is_refused(served, body):
    bot, _ = served
    assert post(bot, body, secret="wrong")[0] in (400, 401)


@pytest.mark.parametrize("body", ["", "{", "[]", "payload=%7B", "payload=x", "\x00", "{}"])
def test_a_body_that_is_no_request_of_slacks_does_no_harm(served, body):
    bot, _ = served
    assert post(bot, body)[0] in (400, 404, 500)
