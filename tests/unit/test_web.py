"""Health, readiness, metrics and Slack over HTTP, over real sockets."""

import contextlib
import json
import socket
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.errors import PortInUse
from bot.metrics import Metrics
from bot.web import server as web


@pytest.fixture
def serving():
    servers = []

    def start(**parts):
        servers.append(web.serve(web.build_web(**{"checks": {}, **parts})))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def fetch(server, path, data=None, headers=None):
    request = urllib.request.Request(server.url + path, data=data, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def good():
    return web.Check(ok=True, detail="3 ms")


def test_alive_says_ok(serving):
    assert fetch(serving(), "/healthz")[0] == 200


def test_ready_shows_each_check(serving):
    server = serving(checks={"database": good, "socket": lambda: web.Check(ok=False, detail="reconnecting")})
    status, _, body = fetch(server, "/readyz")
    assert status == 503
    assert json.loads(body) == {
        "ready": False,
        "checks": {
            "database": {"ok": True, "detail": "3 ms"},
            "socket": {"ok": False, "detail": "reconnecting"},
        },
    }


def test_ready_is_200_when_all_is_well(serving):
    assert fetch(serving(checks={"database": good}), "/readyz")[0] == 200


def test_a_check_that_raises_is_not_ready_and_says_why(serving):
    def broken():
        raise OSError("no such host")

    status, _, body = fetch(serving(checks={"database": broken}), "/readyz")
    assert status == 503
    assert "no such host" in json.loads(body)["checks"]["database"]["detail"]


def test_a_check_that_hangs_is_given_up_and_stops_nobody(serving, monkeypatch):
    monkeypatch.setattr(web, "CHECK_SECONDS", 0.2)
    release = threading.Event()
    server = serving(checks={"database": lambda: release.wait(5) and good()})
    try:
        status, _, body = fetch(server, "/readyz")
        assert fetch(server, "/healthz")[0] == 200
    finally:
        release.set()
    assert status == 503
    assert "no answer" in json.loads(body)["checks"]["database"]["detail"]


def test_metrics_are_served_and_survive_a_database_that_is_away(serving):
    metrics = Metrics()
    metrics.documents.labels("accepted").inc()
    metrics.post_seconds.observe(0.2)
    metrics.watch_entries(lambda: {"all": 12})

    def away():
        raise OSError("away")

    metrics.watch_deliveries(away)
    status, headers, body = fetch(serving(exposition=metrics.exposition), "/metrics")
    assert status == 200
    assert headers["content-type"].startswith("text/plain")
    assert b'digest_documents_total{state="accepted"} 1.0' in body
    assert b'digest_entries_stored{state="all"} 12.0' in body
    assert b"digest_deliveries{" not in body


def test_two_bots_in_one_process_have_metrics_of_their_own():
    first, second = Metrics(), Metrics()
    first.entries.labels("new").inc()
    assert b'entries_total{kind="new"}' not in second.exposition()


def test_slack_requests_are_worked_on_side_by_side(serving):
    together = threading.Barrier(4, timeout=5)

    def dispatch(body, headers):
        together.wait()
        return 200, {"x-test": headers["x-slack-signature"]}, body

    server = serving(dispatch=dispatch)
    with ThreadPoolExecutor(4) as pool:
        calls = [
            pool.submit(fetch, server, "/slack/events", b"a=%e4%b8%ad", {"X-Slack-Signature": "s"}) for _ in range(4)
        ]
        answers = [call.result() for call in calls]
    assert {(status, headers["x-test"], body) for status, headers, body in answers} == {(200, "s", b"a=%e4%b8%ad")}


def test_a_slow_request_from_slack_does_not_delay_health(serving):
    release = threading.Event()

    def dispatch(_body, _headers):
        release.wait(60)
        return 200, {}, ""

    server = serving(dispatch=dispatch)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(fetch, server, "/slack/events", b"x")
        assert fetch(server, "/healthz")[0] == 200
        assert not slow.done()
        release.set()
        assert slow.result()[0] == 200


def test_a_body_without_end_is_cut_off(serving):
    assert fetch(serving(dispatch=lambda *_: (200, {}, "")), "/slack/events", b"x" * 1_100_000)[0] == 413


def test_whoever_hangs_up_in_the_middle_of_a_request_leaves_no_trace_in_the_log(serving, caplog):
    server = serving(dispatch=lambda *_: (200, {}, ""))
    with socket.create_connection((server.host, server.port)) as caller:
        caller.sendall(b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf")
    server.stop()  # what was begun is ended first
    assert [one for one in caplog.records if one.exc_info] == []


@pytest.mark.parametrize(
    "said", [b"", b"POST /slack/ev", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nPOST /sl"], ids=["none", "half", "1.5"]
)
def test_whoever_does_not_ask_to_the_end_is_hung_up_on(serving, monkeypatch, said):
    monkeypatch.setattr(web, "HEAD_SECONDS", 0.2)
    server = serving(dispatch=lambda *_: (200, {}, ""))
    with socket.create_connection((server.host, server.port), timeout=4) as caller:
        caller.sendall(said)
        while caller.recv(4096):  # a timeout is an error: the connection was left open
            pass


def test_an_answer_that_takes_its_time_is_waited_for(serving, monkeypatch):
    monkeypatch.setattr(web, "HEAD_SECONDS", 0.05)
    looked = threading.Event()

    def dispatch(_body, _headers):
        looked.wait(0.5)  # ten looks
        return 200, {}, "late"

    assert fetch(serving(dispatch=dispatch), "/slack/events", b"x")[::2] == (200, b"late")


def test_a_body_that_does_not_come_to_its_end_is_given_up(serving, monkeypatch):
    monkeypatch.setattr(web, "BODY_SECONDS", 0.2)
    server = serving(dispatch=lambda *_: (200, {}, ""))
    with socket.create_connection((server.host, server.port), timeout=10) as caller:
        caller.sendall(b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf")
        assert caller.recv(4096).startswith(b"HTTP/1.1 408")


def test_a_body_under_way_leaves_no_trace_in_the_log_of_a_stop(serving, caplog):
    server = serving(dispatch=lambda *_: (200, {}, ""))
    with socket.create_connection((server.host, server.port)) as caller:
        # 100-continue is said when the body is being waited for.
        caller.sendall(b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        assert caller.recv(4096).startswith(b"HTTP/1.1 100")
        server.stop()
    assert [one for one in caplog.records if one.exc_info] == []


def test_two_hundred_silent_connections_delay_no_ack(serving):
    server = serving(dispatch=lambda *_: (200, {}, ""))
    with contextlib.ExitStack() as silent:
        for _ in range(200):
            silent.enter_context(socket.create_connection((server.host, server.port)))
        assert fetch(server, "/slack/events", b"x")[0] == 200  # its own time-out is what says late


def test_a_taken_port_is_named():
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(PortInUse, match=str(taken.getsockname()[1])),
    ):
        web.serve(web.build_web(checks={}), port=taken.getsockname()[1])


def test_a_stopped_server_gives_its_port_back():
    server = web.serve(web.build_web(checks={}))
    server.stop()
    server.stop()
    assert not server.is_running()
    web.serve(web.build_web(checks={}), port=server.port).stop()
