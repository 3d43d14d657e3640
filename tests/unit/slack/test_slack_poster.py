"""Every end that a post can have, over real sockets. The count of requests is the promise: one call, one request."""

import contextlib
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.delivery.values import AnswerKind
from bot.model import Channel, Message
from bot.slack.client import posting_client, reading_client
from bot.slack.poster import SlackPoster
from tests.unit.slack.harness import eventually
from tests.unit.slack.loopback import DROP, Loopback, http_answer

CHANNEL = Channel(team_id="T1", channel_id="C1")
BLOCK = {
    "type": "rich_text",
    "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "标题"}]}],
}
MESSAGE = Message(text="标题", blocks=(BLOCK,))


def post(url, *, timeout=5, **more):
    return SlackPoster(posting_client("xoxb-1", api_url=url, timeout=timeout)).post(CHANNEL, MESSAGE, key="k1", **more)


ENDS = {
    "ok": (http_answer(body={"ok": True, "ts": "1.5"}), AnswerKind.OK, {"ts": "1.5"}),
    "dropped after acceptance": (DROP, AnswerKind.DROPPED, {}),
    "half an answer": (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", AnswerKind.DROPPED, {}),
    "not HTTP at all": (b"SSH-2.0-x\r\n", AnswerKind.DROPPED, {}),
    "500 with HTML": (http_answer(500, b"<html>"), AnswerKind.HTTP, {"status": 500}),
    "502 empty": (http_answer(502, b""), AnswerKind.HTTP, {"status": 502}),
    "429": (
        http_answer(429, {"ok": False, "error": "ratelimited"}, Retry_After="7"),
        AnswerKind.SLACK_ERROR,
        {"status": 429, "retry_after": 7.0, "code": "ratelimited"},
    ),
    "429 without a body": (
        http_answer(429, b"", retry_after="3"),
        AnswerKind.HTTP,
        {"status": 429, "retry_after": 3.0},
    ),
    "429 without seconds": (http_answer(429, b""), AnswerKind.HTTP, {"status": 429, "retry_after": None}),
    "rate_limited with 200": (
        http_answer(200, {"ok": False, "error": "rate_limited"}),
        AnswerKind.SLACK_ERROR,
        {"code": "rate_limited", "retry_after": None},
    ),
    "refused": (
        http_answer(200, {"ok": False, "error": "not_in_channel"}),
        AnswerKind.SLACK_ERROR,
        {"code": "not_in_channel", "status": 200, "retry_after": None},
    ),
    "500 with a Slack error": (
        http_answer(500, {"ok": False, "error": "fatal_error"}),
        AnswerKind.SLACK_ERROR,
        {"code": "fatal_error", "status": 500},
    ),
    "200 and not JSON": (
        http_answer(200, b"<html>maintenance page</html>"),
        AnswerKind.NOT_JSON,
        {"status": 200},
    ),
    "200 and an empty body": (http_answer(200, b""), AnswerKind.NOT_JSON, {}),
    "200 and a JSON list": (http_answer(200, b"[1]"), AnswerKind.NOT_JSON, {}),
    "200 and broken UTF-8": (http_answer(200, b"\xff\xfe{"), AnswerKind.NOT_JSON, {}),
    "ok without ts": (http_answer(200, {"ok": True}), AnswerKind.NOT_JSON, {}),
}


@pytest.mark.parametrize("name", ENDS)
def test_each_end_of_a_post_has_its_answer_and_cost_one_request(name):
    sent, kind, fields = ENDS[name]
    with Loopback([sent]) as server:
        answer = post(server.url)
    assert answer.kind is kind
    assert {field: getattr(answer, field) for field in fields} == fields
    assert len(server.requests) == 1


def test_a_connection_dropped_before_the_body_was_read_counts_as_dropped():
    with Loopback([DROP], read_body=False) as server:
        assert post(server.url).kind is AnswerKind.DROPPED
    assert len(server.requests) == 1


def test_an_answer_that_never_comes_is_a_time_out_in_reading():
    with Loopback([None]) as server:
        assert post(server.url, timeout=0.2).kind is AnswerKind.TIMEOUT_READ
    assert len(server.requests) == 1


def test_a_refused_connection_sent_nothing():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/api/"
    assert post(url).kind is AnswerKind.CONNECT_FAILED


def test_a_name_that_does_not_resolve_sent_nothing():
    assert post("http://slack.invalid/api/").kind is AnswerKind.CONNECT_FAILED


def test_a_connection_that_is_never_accepted_is_a_time_out_in_connecting():
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.settimeout(0)
            filler.connect_ex(address)
        assert post(f"http://127.0.0.1:{address[1]}/api/", timeout=0.3).kind is AnswerKind.TIMEOUT_CONNECT
        for filler in fillers:
            filler.close()


def slow_by(seconds):
    def connect(*arguments, **more):
        time.sleep(seconds)  # a resolver that hangs, a second address, a machine that sleeps
        return socket.create_connection(*arguments, **more)

    return connect


def slow_poster(url, seconds, *, timeout):
    return SlackPoster(posting_client("x", api_url=url, timeout=timeout, connect=slow_by(seconds)))


def test_a_request_that_is_held_up_before_it_leaves_past_the_time_out_is_not_sent():
    with Loopback([http_answer(body={"ok": True, "ts": "1.5"})]) as server:
        answer = slow_poster(server.url, 0.4, timeout=0.2).post(CHANNEL, MESSAGE, key="k")
    assert answer.kind is AnswerKind.TIMEOUT_CONNECT
    assert server.requests == []


@pytest.mark.parametrize("what", ["post", "update"])
def test_a_request_whose_claim_ends_while_it_connects_is_not_sent(what):
    until = datetime.now(UTC) + timedelta(seconds=0.1)
    with Loopback([http_answer(body={"ok": True, "ts": "1.5"})]) as server:
        poster = slow_poster(server.url, 0.3, timeout=5)
        if what == "post":
            late = poster.post(CHANNEL, MESSAGE, key="k", until=until)
        else:
            late = poster.update(CHANNEL, "1.5", MESSAGE, until=until)
        assert late.kind is AnswerKind.TIMEOUT_CONNECT
        assert server.requests == []
        assert poster.post(CHANNEL, MESSAGE, key="k").kind is AnswerKind.OK


def test_a_tunnel_that_stands_too_late_is_not_used(monkeypatch):
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with Loopback([http_answer(body={"ok": True, "ts": "1.5"})]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/api/"))
        poster = slow_poster("http://slack.invalid/api/", 0.3, timeout=5)
        assert poster.post(CHANNEL, MESSAGE, key="k").kind is AnswerKind.OK
        until = datetime.now(UTC) + timedelta(seconds=0.1)
        late = poster.post(CHANNEL, MESSAGE, key="k", until=until)
    assert late.kind is AnswerKind.TIMEOUT_CONNECT
    assert len(proxy.requests) == 1
    assert proxy.requests[0].path == "http://slack.invalid/api/chat.postMessage"


def test_an_answer_that_drips_has_one_deadline():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip():
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(65536)
                for byte in http_answer(body={"ok": True, "ts": "1.5"}):
                    connection.sendall(bytes([byte]))
                    time.sleep(0.05)

        threading.Thread(target=drip, daemon=True).start()
        began = time.monotonic()
        answer = post(f"http://127.0.0.1:{server.getsockname()[1]}/api/", timeout=0.3)
    assert answer.kind is AnswerKind.TIMEOUT_READ
    assert time.monotonic() - began < 1


LONG = "x" * 200_000
"""More than a receiver with the smallest window takes before somebody reads."""


@contextlib.contextmanager
def deaf():
    """A server that accepts and reads nothing: what is sent to it waits in the sender's system."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server


def arrived_at(server):
    """What arrives, in the end, of the first connection, and whether it was torn."""
    connection, _ = server.accept()
    found = 0
    with connection:
        connection.settimeout(10)
        try:
            while piece := connection.recv(65536):
                found += len(piece)
        except ConnectionResetError:
            return found, True
    return found, False


def test_a_request_that_was_given_up_is_not_delivered_by_the_system_afterwards():
    with deaf() as server:
        poster = SlackPoster(
            posting_client("x", api_url=f"http://127.0.0.1:{server.getsockname()[1]}/api/", timeout=0.2)
        )
        answer = poster.post(CHANNEL, Message(text=LONG, blocks=()), key="k")
        found, torn = arrived_at(server)
    assert answer.kind is AnswerKind.TIMEOUT_READ
    assert found < len(LONG)
    assert torn


POSTS = """
import sys
from bot.model import Channel, Message
from bot.slack.client import posting_client
from bot.slack.poster import SlackPoster
poster = SlackPoster(posting_client("x", api_url=sys.argv[1], timeout=1.0))
poster.post(Channel(team_id="T1", channel_id="C1"), Message(text="x" * 200_000, blocks=()), key="k")
"""


def is_known(port):
    """Whether the system still holds a connection to the port that has something to send."""
    lines = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
    remote = f"0100007F:{port:04X}"
    return any(fields[2] == remote and fields[4].split(":")[0] != "0" * 8 for fields in map(str.split, lines))


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux knows a time-out for what was sent")
@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_a_process_that_was_stopped_or_killed_delivers_nothing_afterwards(how):
    with deaf() as server:
        port = server.getsockname()[1]
        poster = subprocess.Popen([sys.executable, "-c", POSTS, f"http://127.0.0.1:{port}/api/"])
        try:
            eventually(lambda: is_known(port), seconds=20)
            poster.send_signal(how)
            eventually(lambda: not is_known(port), seconds=20)
            found, torn = arrived_at(server)
        finally:
            poster.kill()
            poster.wait()
    assert found < len(LONG)
    assert torn


def test_a_post_carries_its_key_and_can_neither_unfurl_nor_broadcast():
    with Loopback([http_answer(body={"ok": True, "ts": "2.5"})]) as server:
        post(server.url, thread_ts="1.5")
    sent = server.requests[0].json
    assert server.requests[0].path == "/api/chat.postMessage"
    assert sent == {
        "channel": "C1",
        "text": "标题",
        "blocks": [BLOCK],
        "metadata": {"event_type": "digest_delivery", "event_payload": {"id": "k1"}},
        "unfurl_links": False,
        "unfurl_media": False,
        "thread_ts": "1.5",
    }


def test_an_update_keeps_the_metadata_it_is_given():
    with Loopback([http_answer(body={"ok": True, "ts": "2.5"})]) as server:
        poster = SlackPoster(posting_client("xoxb-1", api_url=server.url))
        answer = poster.update(CHANNEL, "2.5", MESSAGE, key="k1")
    assert answer.ts == "2.5"
    assert server.requests[0].path == "/api/chat.update"
    assert server.requests[0].json["metadata"]["event_payload"] == {"id": "k1"}


def test_a_dead_token_is_an_answer_of_the_check():
    with Loopback([http_answer(body={"ok": False, "error": "token_revoked"})]) as server:
        answer = SlackPoster(posting_client("xoxb-1", api_url=server.url)).check("T1")
    assert (answer.kind, answer.code) == (AnswerKind.SLACK_ERROR, "token_revoked")


def test_a_client_that_retries_is_not_accepted_for_posting():
    with pytest.raises(ValueError, match="post twice"):
        SlackPoster(reading_client("xoxb-1"))


def test_the_seconds_of_a_post_are_observed_also_when_it_fails():
    seen = []
    with Loopback([DROP]) as server:
        SlackPoster(posting_client("x", api_url=server.url), observe=seen.append).post(CHANNEL, MESSAGE, key="k")
    assert len(seen) == 1
