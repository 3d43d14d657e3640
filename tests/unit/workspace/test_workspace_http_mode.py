"""An app with a request URL gets signed POSTs instead of envelopes."""

from __future__ import annotations

import http.server
import json
import threading
import urllib.parse

import pytest
from slack_bolt import App, BoltRequest
from slack_sdk.signature import SignatureVerifier

from bot.workspace.errors import WorkspaceError
from tests.unit.workspace.conftest import Heard


class Door(http.server.ThreadingHTTPServer):
    """A request URL: notes what comes, and answers with what `answer` says."""

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.heard = Heard()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/slack/events"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.heard.add((self.headers, body))
        status, headers, text = self.server.answer(self.headers, body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def open_door():
    doors = []

    def start(answer):
        door = Door(answer)
        threading.Thread(target=door.serve_forever, daemon=True).start()
        doors.append(door)
        return door

    yield start
    for door in doors:
        door.shutdown()
        door.server_close()


def bolt(app):
    def answer(headers, body):
        response = app.dispatch(BoltRequest(body=body, headers=dict(headers)))
        return response.status, {name: values[0] for name, values in response.headers.items()}, response.body

    return answer


def test_a_bolt_app_behind_a_request_url_gets_commands_actions_and_events(workspace, client, channel, open_door):
    heard = Heard()
    app = App(client=client, signing_secret=workspace.signing_secret)
    app.command("/digest")(lambda ack, command: ack(f"over http: {command['text']}"))
    app.event("message")(heard.event)
    app.event("app_mention")(heard.event)
    door = open_door(bolt(app))
    workspace.install(request_url=door.url)
    workspace.act("reader", lambda person: person.type(channel, "/digest vllm"))
    assert workspace.ephemerals(channel, "reader")[-1]["text"] == "over http: vllm"

    def talk(person):
        person.say(channel, "hello")

    workspace.act("reader", talk)
    assert heard.wait()[0]["text"] == "hello"


def test_every_delivery_is_signed(workspace, channel, open_door):
    def answer(headers, body):
        document = json.loads(body) if body.startswith("{") else {}
        return 200, {}, document.get("challenge", "")

    door = open_door(answer)
    workspace.install(request_url=door.url)

    def talk(person):
        person.say(channel, "hello")

    workspace.act("reader", talk)
    workspace.act("reader", lambda person: person.global_shortcut("search_digests"))
    verifier = SignatureVerifier(workspace.signing_secret)
    for headers, body in door.heard.wait(3):
        lower = {name.lower(): value for name, value in headers.items()}
        assert verifier.is_valid_request(body, lower)
    form = next(body for _, body in door.heard.items if body.startswith("payload="))
    payload = json.loads(urllib.parse.parse_qs(form)["payload"][0])
    assert (payload["type"], payload["callback_id"]) == ("shortcut", "search_digests")


def test_an_event_refused_over_http_comes_again_with_a_number_and_a_reason(workspace, channel, open_door):
    def answer(headers, body):
        document = json.loads(body)
        return (200, {}, document["challenge"]) if "challenge" in document else (500, {}, "")

    door = open_door(answer)
    workspace.install(request_url=door.url)

    def talk(person):
        person.say(channel, "hello")

    workspace.act("reader", talk)
    attempts = [headers for headers, body in door.heard.wait(9) if '"text": "hello"' in body]
    assert [each["X-Slack-Retry-Num"] for each in attempts] == [None, "1", "2", "3"]
    assert attempts[1]["X-Slack-Retry-Reason"] == "http_error"


def test_no_retry_is_respected(workspace, channel, open_door):
    told = threading.Event()

    def answer(headers, body):
        document = json.loads(body)
        if "challenge" in document:
            return 200, {}, document["challenge"]
        if document["event"].get("text") == "last":
            told.set()
        return 500, {"X-Slack-No-Retry": "1"}, ""

    door = open_door(answer)
    workspace.install(request_url=door.url)

    def talk(person):
        person.say(channel, "hello")

    workspace.act("reader", talk)
    door.heard.wait(2)

    def last(person):
        person.say(channel, "last")

    workspace.act("reader", last)
    assert told.wait(5)
    texts = [json.loads(body).get("event", {}).get("text") for _, body in door.heard.items]
    assert texts.count("hello") == 1


def test_a_request_url_that_fails_the_challenge_is_not_installed(workspace, open_door):
    door = open_door(lambda headers, body: (200, {}, "no idea"))
    with pytest.raises(WorkspaceError, match="challenge"):
        workspace.install(request_url=door.url)
