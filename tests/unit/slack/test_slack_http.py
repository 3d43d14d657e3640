"""The same app over HTTP: signatures, acks side by side, and what Slack is told not to repeat."""

import hashlib
import hmac
import json
import time
import urllib.error
import urllib.parse
import urllib.request
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


def door(bot, *, admitted=lambda: None, refused=lambda: None):
    return dispatcher(bot.app, bot.workspace.signing_secret, admitted=admitted, refused=refused)


@pytest.fixture
def served(workspace):
    with Bot(workspace, socket=False) as bot:
        server = web.serve(web.build_web(checks={}, dispatch=door(bot)))
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


def headers_of(bot, body, *, secret=None, at=None):
    moment = str(int(time.time() if at is None else at))
    key = (secret or bot.workspace.signing_secret).encode()
    signature = "v0=" + hmac.new(key, f"v0:{moment}:".encode() + body, hashlib.sha256).hexdigest()
    kind = "application/json" if body.startswith((b"{", b"[")) else "application/x-www-form-urlencoded"
    return {"x-slack-request-timestamp": moment, "x-slack-signature": signature, "content-type": kind}


def post(bot, body, *, secret=None, at=None, **heard):
    body = body.encode()
    return door(bot, **heard)(body, headers_of(bot, body, secret=secret, at=at))


def no_tracebacks(caplog):
    return [one for one in caplog.records if one.exc_info or "Traceback" in one.getMessage()] == []


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
    with caplog.at_level("DEBUG"), caplog.at_level("DEBUG", logger="slack_bolt"):
        assert post(bot, COMMAND.replace("help", "my-own-words"), secret="wrong")[0] == 401
    assert "my-own-words" not in caplog.text


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


ENDLESS = ["[" * 100_000, '{"a":' * 50_000, "payload=" + "[" * 100_000]


@pytest.mark.parametrize("body", ENDLESS)
def test_a_stranger_who_nests_without_end_is_refused_by_the_signature_alone(served, caplog, body):
    bot, _ = served
    assert post(bot, body, secret="wrong")[0] == 401
    assert no_tracebacks(caplog)


def test_strangers_come_no_further_than_the_signature_over_the_wire(served, caplog):
    bot, server = served
    good = headers_of(bot, b"a=b")
    for headers in (
        {},
        {**good, "x-slack-signature": "v0="},
        {**good, "x-slack-signature": "v0=\xe9"},
        {**good, "x-slack-request-timestamp": "tomorrow"},
        {**good, "x-slack-request-timestamp": "9" * 400},
        {**good, "x-slack-request-timestamp": "9" * 5000},
        {**good, "x-slack-request-timestamp": "-1"},
    ):
        request = urllib.request.Request(f"{server.url}/slack/events", data=b"a=b", headers=headers)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=10)
        assert refused.value.code == 401
        refused.value.close()
    assert no_tracebacks(caplog)


BROKEN = [
    "{",
    "[]",
    "payload=%7B",
    "payload=x",
    "payload=[]",
    '{"type":"event_callback","event":null}',
    '{"type":"event_callback","event":[]}',
    '{"type":"block_actions","actions":5}',
    "payload=%7B%22type%22%3A%22view_submission%22%2C%22view%22%3A%7B%22callback_id%22%3A%22x%22%7D%7D",
    *ENDLESS,
]


@pytest.mark.parametrize("body", BROKEN)
def test_a_signed_body_without_sense_is_a_bad_request(served, caplog, body):
    bot, _ = served
    status, headers, _ = post(bot, body)
    assert status == 400
    assert headers["X-Slack-No-Retry"] == "1"
    assert no_tracebacks(caplog)
    assert bot.errors == 0


@pytest.mark.parametrize("body", ["", "\x00", "{}"])
def test_a_signed_body_that_asks_nothing_finds_nobody(served, body):
    bot, _ = served
    assert post(bot, body)[0] == 404


def test_bytes_that_are_no_text_are_signed_by_nobody(served):
    bot, _ = served
    body = b"payload=\xff\xfe"
    assert door(bot)(body, headers_of(bot, body))[0] == 401


def test_slacks_look_at_the_certificate_needs_no_signature(served):
    bot, _ = served
    assert door(bot)(b"ssl_check=1&token=old", {"content-type": "application/x-www-form-urlencoded"})[0] == 200


def test_who_watches_the_signatures_hears_of_right_and_wrong_ones_and_not_of_strangers_without(served):
    bot, _ = served
    heard = []
    watching = {"admitted": lambda: heard.append("admitted"), "refused": lambda: heard.append("refused")}
    post(bot, COMMAND, **watching)
    post(bot, COMMAND, secret="wrong", **watching)
    post(bot, COMMAND, at=time.time() - 3600, **watching)
    assert door(bot, **watching)(COMMAND.encode(), {})[0] == 401
    assert heard == ["admitted", "refused", "refused"]
