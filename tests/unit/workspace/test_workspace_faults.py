"""Calls go wrong on demand, below HTTP too, and the log tells what was accepted."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.workspace.errors import WorkspaceError
from bot.workspace.faults import Fault, FaultKind, Faults
from bot.workspace.server import LocalWorkspace

LOST = (http.client.HTTPException, urllib.error.URLError, ConnectionError, TimeoutError)


def texts(workspace, channel):
    return [each["text"] for each in workspace.messages(channel) if "subtype" not in each]


@pytest.mark.parametrize(
    ("kind", "stored"),
    [
        (FaultKind.DROP_BEFORE, False),
        (FaultKind.DROP_AFTER, True),
        (FaultKind.RESET_BEFORE, False),
        (FaultKind.RESET_AFTER, True),
        (FaultKind.TRUNCATE_AFTER, True),
        (FaultKind.RESET_MIDWAY, True),
        (FaultKind.HANG_BEFORE, False),
        (FaultKind.HANG_AFTER, True),
    ],
)
def test_a_cut_connection_is_no_answer_and_the_message_is_stored_or_not(workspace, client, channel, kind, stored):
    workspace.add_fault(Fault(kind=kind, seconds=0.05))
    with pytest.raises((*LOST, SlackApiError)):
        client.chat_postMessage(channel=channel, text="lost")
    assert texts(workspace, channel) == (["lost"] if stored else [])
    entry = workspace.calls(method="chat.postMessage")[-1]
    assert (entry["accepted"], entry["fault"], entry["status"]) == (stored, kind.value, None)
    client.chat_postMessage(channel=channel, text="next")
    assert texts(workspace, channel)[-1] == "next"


@pytest.mark.parametrize(
    ("kind", "stored", "status"),
    [
        (FaultKind.STATUS_BEFORE, False, 503),
        (FaultKind.STATUS_AFTER, True, 503),
        (FaultKind.NOT_JSON_BEFORE, False, 200),
        (FaultKind.NOT_JSON_AFTER, True, 200),
        (FaultKind.ERROR, False, 200),
        (FaultKind.ERROR_AFTER, True, 200),
        (FaultKind.RATE_LIMITED, False, 429),
    ],
)
def test_a_wrong_answer_is_given_and_the_message_is_stored_or_not(workspace, channel, kind, stored, status):
    client = WebClient(token=workspace.bot_token, base_url=workspace.api_url, retry_handlers=[])
    workspace.add_fault(Fault(kind=kind, error="fatal_error", seconds=2))
    with pytest.raises(SlackApiError) as refused:
        client.chat_postMessage(channel=channel, text="lost")
    assert refused.value.response.status_code == status
    if kind is FaultKind.RATE_LIMITED:
        assert refused.value.response.headers["Retry-After"] == "2"
    assert texts(workspace, channel) == (["lost"] if stored else [])


def test_the_default_retry_handler_of_the_sdk_posts_twice_and_the_workspace_shows_it(workspace, channel):
    workspace.add_fault(Fault(kind=FaultKind.RESET_AFTER))
    naive = WebClient(token=workspace.bot_token, base_url=workspace.api_url)
    naive.chat_postMessage(channel=channel, text="twice")
    assert texts(workspace, channel) == ["twice", "twice"]


def test_a_slow_answer_outlasts_the_callers_patience_and_the_message_stands(workspace, channel):
    workspace.add_fault(Fault(kind=FaultKind.SLOW, seconds=1.5))
    hasty = WebClient(token=workspace.bot_token, base_url=workspace.api_url, timeout=1, retry_handlers=[])
    with pytest.raises(TimeoutError):
        hasty.chat_postMessage(channel=channel, text="late")
    assert texts(workspace, channel) == ["late"]


def test_faults_strike_only_the_calls_they_name():
    faults = Faults()
    faults.add(Fault(kind=FaultKind.ERROR, method="chat.*", channel="C1", times=2, skip=1))
    assert faults.pick("chat.postMessage", "C2") is None
    assert faults.pick("conversations.list", "C1") is None
    struck = [faults.pick("chat.update", "C1") is not None for _ in range(5)]
    assert struck == [False, True, True, False, False]


def test_a_seed_repeats_the_same_faults():
    def run(seed):
        faults = Faults()
        faults.seed(seed)
        faults.add(Fault(kind=FaultKind.ERROR, times=None, probability=0.3))
        return [faults.pick("chat.postMessage", None) is not None for _ in range(200)]

    assert run(5) == run(5) != run(6)
    assert 30 < sum(run(5)) < 90


def control(workspace, path, body=None, method=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"{workspace.url}/_control/{path}", data=data, headers={"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)


def test_another_process_arms_faults_and_reads_the_log(workspace, client, channel):
    control(workspace, "faults", {"kind": "error", "method": "conversations.info", "error": "internal_error"})
    with pytest.raises(SlackApiError, match="internal_error"):
        client.conversations_info(channel=channel)
    entry = control(workspace, "log?method=conversations.info")["entries"][-1]
    assert (entry["channel"], entry["error"], entry["accepted"]) == (channel, None, False)
    with pytest.raises(urllib.error.HTTPError, match="400"):
        control(workspace, "faults", {"kind": "earthquake"})
    assert control(workspace, "state")["bot_token"] == workspace.bot_token


def test_a_token_dies_and_comes_back(workspace, client):
    workspace.refuse_token(workspace.bot_token, "token_revoked")
    with pytest.raises(SlackApiError, match="token_revoked"):
        client.auth_test()
    workspace.refuse_token(workspace.bot_token, None)
    assert client.auth_test()["ok"]


def test_a_channel_refuses_with_a_code_of_its_own(workspace, client, channel):
    workspace.change_channel(channel, refusal="restricted_action_read_only_channel")
    with pytest.raises(SlackApiError, match="restricted_action_read_only_channel"):
        client.chat_postMessage(channel=channel, text="x")


def test_only_loopback_is_served():
    for host in ("0.0.0.0", "192.168.1.2", "example.com", "::"):
        with pytest.raises(WorkspaceError):
            LocalWorkspace(host=host)


def test_a_page_of_another_site_is_turned_away(workspace):
    for path in ("_control/state", "_page/boot", "api/auth.test"):
        for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            request = urllib.request.Request(f"{workspace.url}/{path}", headers=headers)
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(request, timeout=5)


def test_a_taken_port_is_named(workspace):
    port = int(workspace.url.rsplit(":", 1)[1])
    with pytest.raises(WorkspaceError, match=f"port {port} on 127"):
        LocalWorkspace(port).start()


def test_scopes_of_the_manifest_are_enforced(workspace, client, channel):
    workspace.install({"oauth_config": {"scopes": {"bot": ["chat:write"]}}})
    client.chat_postMessage(channel=channel, text="may")
    with pytest.raises(SlackApiError) as refused:
        client.conversations_history(channel=channel)
    assert refused.value.response["error"] == "missing_scope"
    assert refused.value.response["needed"] == "channels:history"
    assert refused.value.response["provided"] == "chat:write"
