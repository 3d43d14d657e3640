"""A lost answer: the message is looked for, held where nobody can look, and the order is kept."""

from __future__ import annotations

import pytest
from slack_sdk import WebClient

from bot.model import DeliveryState
from bot.workspace.faults import Fault, FaultKind
from tests.e2e.promise import Team, items, numbered
from tests.e2e.support import plain, shanghai

DAY = "2026-11-30"


@pytest.fixture
def team(make_team) -> Team:
    return make_team(f"{DAY} 08:00")


def test_a_message_that_slack_took_before_the_line_dropped_is_found_behind_two_pages_of_talk(team):
    team.begin()
    team.drop("a.txt", numbered(1, 3))
    team.clock.set(shanghai(f"{DAY} 08:59:50"))
    reader = WebClient(team.workspace.user_token("reader"), base_url=team.workspace.api_url)
    for number in range(420):
        reader.chat_postMessage(channel=team.channel.channel_id, text=f"talk {number}")
    team.workspace.add_fault(Fault(kind=FaultKind.DROP_AFTER, skip=1))
    team.clock.set(shanghai(f"{DAY} 09:00"))
    team.bot.ingest()
    team.bot.deliver()
    asked = len(team.workspace.calls(method="conversations.history"))
    team.at(f"{DAY} 09:01")

    assert len(team.workspace.calls(method="conversations.history")) - asked >= 3, "over all pages"
    assert [one for one in team.titles() if one.startswith("Item")] == items(1, 3)
    assert set(team.bot.delivery.status().by_state) == {DeliveryState.SENT}


@pytest.fixture
def blind(team) -> Team:
    """Slack took the second entry, its answer was lost, and the token may not read history."""
    team.begin()
    team.drop("a.txt", numbered(1, 4))
    team.workspace.add_fault(Fault(kind=FaultKind.DROP_AFTER, skip=2))
    refusal = Fault(kind=FaultKind.ERROR, method="conversations.history", times=None, error="missing_scope")
    team.workspace.add_fault(refusal)
    team.at(f"{DAY} 09:00")
    team.at(f"{DAY} 09:01")
    team.workspace.clear_faults()  # so that the test itself may read
    return team


@pytest.mark.parametrize(
    "ts", ["yes", "1796086800", "p1796086800000100", "1796086800.1", "1796086800.000100 ", "１796086800.000100", ""]
)
def test_a_held_message_is_not_settled_with_what_is_no_ts(blind, ts):
    (held,) = blind.verb("deliveries", "--state", "held")
    ended = blind.run("deliveries", "settle", held["key"][:8], ts)
    assert ended.exit_code == 2
    assert "is neither a link to a message nor a ts, such as 1796086800.000100" in " ".join(ended.stderr.split())
    assert blind.verb("deliveries", "--state", "held") == [held]


def test_where_history_may_not_be_read_the_message_is_held_told_once_and_holds_back_the_later_ones(blind):
    assert blind.titles() == items(1, 2)
    (told,) = blind.told()
    assert "digest-bot deliveries settle" in told
    (held,) = blind.verb("deliveries", "--state", "held")
    assert held["error"] == "missing_scope"
    blind.at(f"{DAY} 09:20")
    assert blind.titles() == items(1, 2), "its order is kept"
    assert len(blind.told()) == 1


def test_a_person_who_has_found_it_settles_it_and_the_channel_goes_on_in_order(blind):
    (held,) = blind.verb("deliveries", "--state", "held")
    ts = blind.channel.messages()[2]["ts"]
    assert blind.run("deliveries", "settle", held["key"][:8], ts).exit_code == 0
    blind.at(f"{DAY} 09:05")
    assert blind.titles() == items(1, 4)
    assert blind.verb("status")["alerts"] == []


def test_a_person_settles_it_with_the_link_that_slack_copies(blind):
    (held,) = blind.verb("deliveries", "--state", "held")
    ts, channel = blind.channel.messages()[2]["ts"], held["channel"]
    elsewhere = f"https://local.slack.com/archives/CELSEWHERE/p{ts.replace('.', '')}"
    refused = blind.run("deliveries", "settle", held["key"][:8], elsewhere)
    assert refused.exit_code == 2
    assert f"leads to the channel CELSEWHERE, but {held['key'][:8]} was for {channel}" in " ".join(
        refused.stderr.split()
    )
    link = blind.channel.permalink(ts)
    assert blind.run("deliveries", "settle", held["key"][:8], link).exit_code == 0
    assert [one["ts"] for one in blind.verb("deliveries") if one["key"] == held["key"]] == [ts]
    blind.at(f"{DAY} 09:05")
    assert blind.titles() == items(1, 4)


def test_a_person_who_has_not_found_it_lets_it_be_sent_again(blind):
    (held,) = blind.verb("deliveries", "--state", "held")
    place = blind.channel
    place.client.chat_delete(channel=place.channel_id, ts=place.messages()[2]["ts"])
    assert blind.run("deliveries", "retry", held["key"][:8]).exit_code == 0
    blind.at(f"{DAY} 09:05")
    assert blind.titles() == items(1, 4)
    unknown = blind.run("deliveries", "retry", held["key"][:8])
    assert unknown.exit_code == 1, "it is not held any more"
    states = [one["state"] for one in blind.verb("deliveries")]
    assert set(states) == {"sent"}


def test_after_a_bounded_wait_the_channel_goes_on_and_the_late_one_says_so(blind):
    place = blind.channel
    place.client.chat_delete(channel=place.channel_id, ts=place.messages()[2]["ts"])
    blind.at(f"{DAY} 09:31")
    assert blind.titles() == ["Item 1", "Item 3", "Item 4"]
    (held,) = blind.verb("deliveries", "--state", "held")
    assert blind.run("deliveries", "retry", held["key"][:8]).exit_code == 0
    blind.at(f"{DAY} 09:32")
    assert blind.titles() == ["Item 1", "Item 3", "Item 4", "Item 2"]
    assert "这条本该排在前面" in plain(place.messages()[-1])


def test_too_fast_is_waited_out_to_the_second_and_delays_no_other_channel(make_team):
    team = make_team(f"{DAY} 08:00")
    team.workspace.create_channel("other")
    schedule = 'schedule: {at: "09:00", days: daily, timezone: Asia/Shanghai}'
    team.begin(f'  - {{channel: "#vllm-digest", {schedule}}}\n  - {{channel: "#other", {schedule}}}\n')
    team.drop("a.txt", numbered(1, 3))
    place = team.channel.channel_id
    team.workspace.add_fault(Fault(kind=FaultKind.RATE_LIMITED, channel=place, skip=2, seconds=30))
    team.clock.set(team.clock.now().replace(hour=1, minute=0))
    team.bot.ingest()
    team.bot.deliver()
    assert team.titles("other") == items(1, 3)
    assert team.titles() == items(1, 1)
    assert team.figure("digest_throttled_total", method="chat.postMessage") == 1
    team.at(f"{DAY} 09:00")  # half a minute is not over
    assert team.titles() == items(1, 1)
    team.at(f"{DAY} 09:01")
    assert team.titles() == items(1, 3)
    assert team.told() == []
