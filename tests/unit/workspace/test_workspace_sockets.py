"""Socket Mode links come and go, and the SDK's client follows."""

from __future__ import annotations

import contextlib
import json
import threading

import pytest
from slack_sdk import WebClient
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect as dial


def link(workspace):
    client = WebClient(token=workspace.app_token, base_url=workspace.api_url)
    return client.apps_connections_open(app_token=workspace.app_token)["url"]


@pytest.fixture
def links():
    with contextlib.ExitStack() as stack:
        yield stack


def greet(workspace, links):
    socket = links.enter_context(dial(link(workspace)))
    hello = json.loads(socket.recv(timeout=5))
    return socket, hello


def test_the_eleventh_connection_is_too_many(workspace, links):
    for number in range(1, 11):
        _, hello = greet(workspace, links)
        assert hello["num_connections"] == number
    extra, word = greet(workspace, links)
    assert (word["type"], word["reason"]) == ("disconnect", "too_many_websockets")
    with pytest.raises(ConnectionClosed):
        extra.recv(timeout=5)


def test_a_ticket_is_good_for_one_connection(workspace):
    url = link(workspace)
    with dial(url) as socket:
        socket.recv(timeout=5)
        with pytest.raises(InvalidStatus), dial(url):
            pass


def test_each_envelope_goes_to_one_connection_in_turn(workspace, channel, links):
    first, _ = greet(workspace, links)
    second, _ = greet(workspace, links)

    def talk(person):
        for number in range(4):
            person.say(channel, f"message {number}")

    workspace.act("reader", talk)
    got = {"first": [], "second": []}
    for name, socket in (("first", first), ("second", second)):
        for _ in range(2):
            envelope = json.loads(socket.recv(timeout=5))
            while envelope["payload"]["event"]["type"] != "message":
                envelope = json.loads(socket.recv(timeout=5))
            got[name].append(envelope["payload"]["event"]["text"])
            socket.send(json.dumps({"envelope_id": envelope["envelope_id"]}))
    assert sorted(got["first"] + got["second"]) == [f"message {number}" for number in range(4)]


@pytest.mark.parametrize("how", ["refresh", "drop", "refused once"])
def test_the_sdk_comes_back_after_its_link_is_lost(workspace, channel, connect, how):
    heard = threading.Event()

    def listeners(app):
        @app.command("/digest")
        def digest(ack):
            ack()
            heard.set()

    app = connect(listeners)
    assert app is not None
    back = threading.Event()
    connect.handlers[0].client.message_listeners.append(
        lambda _, message, __: back.set() if message.get("type") == "hello" else None
    )
    if how == "refresh":
        workspace.refresh_sockets()
    else:
        if how == "refused once":
            workspace.refuse_links(1)
        workspace.drop_sockets()
    assert back.wait(15)
    workspace.act("reader", lambda person: person.type(channel, "/digest"))
    assert heard.wait(5)


def test_a_warning_leaves_the_link_open(workspace, links):
    socket, _ = greet(workspace, links)
    workspace.refresh_sockets("warning")
    word = json.loads(socket.recv(timeout=5))
    assert (word["type"], word["reason"]) == ("disconnect", "warning")
    assert workspace.connections == 1
