"""What wears out or runs dry: rates, trigger IDs, response URLs. Time is moved by hand."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.workspace.errors import SlackError
from bot.workspace.limits import Limits
from bot.workspace.model import Timing
from bot.workspace.server import LocalWorkspace
from bot.workspace.tickets import Tickets


def test_one_message_a_second_in_a_channel_and_channels_do_not_share(clock):
    limits = Limits(clock, is_on=True)
    assert limits.admit("chat.postMessage", 5, "C1") is None
    assert limits.admit("chat.postMessage", 5, "C1") == 1
    assert limits.admit("chat.postMessage", 5, "C2") is None
    clock.now += 1
    assert limits.admit("chat.postMessage", 5, "C1") is None


def test_an_hour_of_rest_buys_no_burst(clock):
    limits = Limits(clock, is_on=True)
    clock.now += 3600
    admitted = [limits.admit("chat.postMessage", 5, "C1") is None for _ in range(5)]
    assert admitted.count(True) == 1


def test_a_tier_is_so_many_calls_a_minute(clock):
    limits = Limits(clock, is_on=True)
    assert [limits.admit("chat.update", 3, "C1") for _ in range(50)] == [None] * 50
    assert limits.admit("chat.update", 3, "C2") == 2
    clock.now += 60
    assert limits.admit("chat.update", 3, "C2") is None


def test_a_ceiling_for_the_whole_workspace_can_be_set(clock):
    limits = Limits(clock, is_on=True, posts_a_minute=60)
    admitted = [limits.admit("chat.postMessage", 5, f"C{number}") is None for number in range(30)]
    assert admitted.count(True) == 10


def test_over_http_it_is_429_with_retry_after(clock):
    with LocalWorkspace(clock=clock, rate_limits=True) as workspace:
        channel = workspace.create_channel("busy")
        client = WebClient(token=workspace.bot_token, base_url=workspace.api_url, retry_handlers=[])
        client.chat_postMessage(channel=channel, text="first")
        with pytest.raises(SlackApiError) as refused:
            client.chat_postMessage(channel=channel, text="second")
        assert refused.value.response.status_code == 429
        assert refused.value.response.headers["Retry-After"] == "1"
        assert refused.value.response["error"] == "ratelimited"
        entry = workspace.calls()[-1]
        assert (entry["status"], entry["accepted"], entry["retry_after"]) == (429, False, 1)


def test_a_trigger_lives_three_seconds_and_is_used_once(clock):
    tickets = Tickets(clock, Timing())
    first, second = tickets.trigger("U1"), tickets.trigger("U1")
    clock.now += 2.9
    tickets.exchange(first)
    with pytest.raises(SlackError, match="exchanged_trigger_id"):
        tickets.exchange(first)
    clock.now += 0.2
    with pytest.raises(SlackError, match="expired_trigger_id"):
        tickets.exchange(second)


def test_a_response_url_is_good_five_times_in_half_an_hour(clock):
    tickets = Tickets(clock, Timing())
    many, late = tickets.response_url("U1", "C1"), tickets.response_url("U1", "C1")
    for _ in range(5):
        tickets.use(many)
    with pytest.raises(SlackError, match="used_url"):
        tickets.use(many)
    clock.now += 1801
    with pytest.raises(SlackError, match="expired_url"):
        tickets.use(late)


def test_a_made_up_response_url_is_not_found(workspace):
    request = urllib.request.Request(
        f"{workspace.url}/commands/T1/nobody",
        data=json.dumps({"text": "x"}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(request, timeout=5)
