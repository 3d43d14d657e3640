"""What a refusal holds back, what it says, and how it goes on."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.model import DeliveryState
from bot.workspace.faults import Fault, FaultKind
from tests.e2e.promise import NINE, Team, items, numbered

TWO = NINE + NINE.replace("vllm-digest", "other")
DAY = "2026-11-30"


@pytest.fixture
def team(make_team) -> Team:
    return make_team(f"{DAY} 08:00")


def refuse(team: Team, how: str) -> None:
    place = team.channel.channel_id
    if how == "not a member":
        team.workspace.remove_member(place, team.workspace.bot_user_id)
    elif how == "archived":
        team.workspace.change_channel(place, is_archived=True)
    else:
        team.workspace.change_channel(place, refusal="restricted_action")


def welcome(team: Team, how: str) -> None:
    place = team.channel.channel_id
    if how == "not a member":
        team.workspace.add_member(place, team.workspace.bot_user_id)
    elif how == "archived":
        team.workspace.change_channel(place, is_archived=False)
    else:
        team.workspace.change_channel(place, refusal=None)


@pytest.mark.parametrize(
    ("how", "advice"),
    [("not a member", "/invite"), ("archived", "Unarchive"), ("restricted", "posting permissions")],
)
def test_a_channel_that_refuses_holds_itself_only_says_what_to_do_and_goes_on_by_itself(team, how, advice):
    team.workspace.create_channel("other")
    team.begin(TWO)
    team.drop("a.txt", numbered(1, 3))
    refuse(team, how)
    team.at(f"{DAY} 09:00")
    team.at(f"{DAY} 09:01")

    assert team.titles("other") == items(1, 3)
    (told,) = team.told()
    assert advice in told
    assert team.bot.delivery.status().by_state[DeliveryState.PLANNED] == 4
    (block,) = team.bot.delivery.status().channel_blocks.values()
    assert advice in block.advice
    status = team.run("status")
    assert status.exit_code == 1
    assert advice in status.stdout

    welcome(team, how)
    team.at(f"{DAY} 09:10")
    team.at(f"{DAY} 09:11")
    assert team.titles() == items(1, 3)
    assert len(team.roots()) == 1
    assert len(team.told()) == 1
    after = team.run("status")
    assert after.exit_code == 0, after.stdout


def test_a_dead_token_stops_all_sending_is_said_once_and_is_asked_once_an_interval(team):
    team.workspace.create_channel("other")
    team.begin(TWO)
    team.drop("a.txt", numbered(1, 4))
    for method, skip in (("chat.postMessage", 3), ("auth.test", 0)):
        team.workspace.add_fault(
            Fault(kind=FaultKind.ERROR, method=method, skip=skip, times=None, error="token_revoked")
        )
    team.at(f"{DAY} 09:00")
    before = team.bot.delivery.status().by_state
    assert before[DeliveryState.SENT] <= 3, "only what Slack has taken is sent"
    assert before.get(DeliveryState.FAILED, 0) == before.get(DeliveryState.HELD, 0) == 0

    calls = len(team.workspace.calls())
    for _ in range(11):
        team.clock.set(team.clock.now() + timedelta(seconds=5))
        team.tick()
    assert len(team.workspace.calls()) - calls <= 1
    assert team.bot.delivery.status().by_state == before
    status, team.bot.delivery.status = team.bot.delivery.status, None  # a probe counts no deliveries
    token = team.check("token")
    team.bot.delivery.status = status
    assert not token.ok
    assert "SLACK_BOT_TOKEN" in token.detail
    (alert,) = team.verb("status")["alerts"]
    assert alert["cause"].startswith("team:")
    assert team.told() == [], "not through the token that is refused"

    team.workspace.clear_faults()
    team.clock.set(team.clock.now() + timedelta(seconds=90))
    team.tick()
    assert team.titles() == team.titles("other") == items(1, 4)
    assert len(team.roots()) == len(team.roots("other")) == 1
    assert team.check("token").ok
    assert team.verb("status")["alerts"] == []


def test_a_new_token_is_tried_at_once_by_the_process_that_brings_it(team):
    team.begin()
    team.drop("a.txt", numbered(1, 3))
    team.at(f"{DAY} 08:59")
    dead = team.workspace.bot_token
    team.workspace.refuse_token(dead, "account_inactive")
    team.at(f"{DAY} 09:00")
    team.workspace.refuse_token(dead, None)
    assert team.titles() == []
    team.begin()  # no interval has passed
    team.tick()
    assert team.titles() == items(1, 3)


def test_a_message_that_slack_will_never_take_is_told_and_the_others_go_on(team):
    team.begin()
    team.drop("a.txt", numbered(1, 3))
    team.workspace.add_fault(Fault(kind=FaultKind.ERROR, skip=2, error="invalid_blocks"))
    team.at(f"{DAY} 09:00")
    team.at(f"{DAY} 09:01")
    assert team.titles() == ["Item 1", "Item 3"]
    (told,) = team.told()
    assert "invalid_blocks" in told
    (failed,) = team.verb("deliveries", "--state", "failed")
    assert team.run("deliveries", "retry", failed["key"][:8]).exit_code == 0
    team.at(f"{DAY} 09:02")
    assert team.titles() == ["Item 1", "Item 3", "Item 2"]
