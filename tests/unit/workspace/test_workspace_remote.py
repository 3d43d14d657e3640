"""Another process steers the workspace with the same words."""

from __future__ import annotations

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.slack.manifest import manifest
from bot.workspace.errors import WorkspaceError
from bot.workspace.faults import Fault, FaultKind
from bot.workspace.remote import RemoteWorkspace
from bot.workspace.server import LocalWorkspace


def test_faults_channels_tokens_and_the_log_are_reached_from_outside(workspace):
    remote = RemoteWorkspace(workspace.url)
    state = remote.state()
    channel = remote.create_channel("outside")
    client = WebClient(token=state["bot_token"], base_url=remote.api_url, retry_handlers=[])
    remote.add_fault(Fault(kind=FaultKind.ERROR, error="fatal_error", channel=channel))
    with pytest.raises(SlackApiError, match="fatal_error"):
        client.chat_postMessage(channel=channel, text="x")
    client.chat_postMessage(channel=channel, text="x")
    assert [each["accepted"] for each in remote.calls(method="chat.postMessage")] == [False, True]
    remote.change_channel("outside", archived=True)
    with pytest.raises(SlackApiError, match="is_archived"):
        client.chat_postMessage(channel=channel, text="x")
    remote.refuse_token(state["bot_token"], "account_inactive")
    with pytest.raises(SlackApiError, match="account_inactive"):
        client.auth_test()
    remote.set_rate_limits(on=True)
    remote.seed_faults(1)
    remote.clear_faults()
    remote.drop_sockets()
    assert remote.type("reader", channel, "/digest")["error"] == "dispatch_failed"


def test_a_workspace_that_is_away_is_an_error_with_its_address():
    with pytest.raises(WorkspaceError, match=r"127\.0\.0\.1:9"):
        RemoteWorkspace("http://127.0.0.1:9").state()


def test_a_refusal_of_the_operator_is_told(workspace):
    with pytest.raises(WorkspaceError, match="unknown token"):
        RemoteWorkspace(workspace.url).refuse_token("xoxb-nobody", "token_revoked")


def test_the_first_answer_finds_channels_and_app_furnished():
    """Whoever waits for the port to answer, and then posts, finds the channels."""
    with LocalWorkspace(channels=("#early",), manifest=manifest()) as workspace:
        assert "early" in RemoteWorkspace(workspace.url).state()["channels"]
        client = WebClient(token=workspace.bot_token, base_url=workspace.api_url)
        assert client.chat_postMessage(channel=workspace.channel_id("early"), text="x")["ok"]
        typed = RemoteWorkspace(workspace.url).type("reader", workspace.channel_id("early"), "/digest")
        assert typed["error"] == "dispatch_failed"  # the command is known, and nobody is connected
