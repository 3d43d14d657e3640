"""People are told once, where they can hear it, and the telling harms nobody."""

from datetime import timedelta

import pytest

from bot.delivery.alerts import Alerts
from tests.unit.delivery.fakes import CHANNEL, OTHER, FakeClock, FakeMaker, FakeSlack, MemoryStorage, code


@pytest.fixture
def told():
    clock = FakeClock()
    slack, storage = FakeSlack(clock), MemoryStorage()
    alerts = Alerts(
        storage=storage,
        poster=slack,
        maker=FakeMaker(),
        clock=clock,
        channel=CHANNEL,
        quiet=timedelta(hours=6),
    )
    return alerts, slack, storage, clock


def test_a_cause_is_told_once_while_it_lasts(told):
    alerts, slack, _, clock = told
    for _ in range(10):
        alerts.raise_alert("document:a.txt", "a.txt does not fit")
        clock.advance(60)
    assert slack.texts() == ["ALERT a.txt does not fit"]


def test_a_cause_that_goes_on_is_told_again_after_the_quiet_time(told):
    alerts, slack, _, clock = told
    alerts.raise_alert("x", "still so")
    clock.advance(6 * 3600 + 1)
    alerts.raise_alert("x", "still so")
    assert len(slack.texts()) == 2


def test_a_cause_that_comes_back_is_told_at_once(told):
    alerts, slack, *_ = told
    alerts.raise_alert("x", "now")
    alerts.clear("x")
    alerts.raise_alert("x", "again")
    assert slack.texts() == ["ALERT now", "ALERT again"]


def test_trouble_of_the_alert_channel_itself_is_not_posted_there(told):
    alerts, slack, storage, _ = told
    alerts.raise_alert("channel:T1/C1", "cannot post", about=CHANNEL)
    alerts.raise_alert("channel:T1/C2", "cannot post", about=OTHER)
    assert len(slack.texts()) == 1
    assert set(storage.alerts) == {"channel:T1/C1", "channel:T1/C2"}


def test_a_dead_token_is_not_told_through_the_dead_token(told):
    alerts, slack, *_ = told
    alerts.raise_alert("team:T1", "the token is refused")
    assert slack.calls == []


def test_an_alert_that_slack_refuses_raises_nothing_and_is_not_repeated(told):
    alerts, slack, *_ = told
    slack.script.append(code("not_in_channel"))
    alerts.raise_alert("x", "text")
    alerts.raise_alert("x", "text")
    assert len(slack.calls) == 1


def test_a_lost_database_is_no_second_fault(told):
    alerts, slack, storage, _ = told
    storage.away = True
    alerts.raise_alert("x", "text")
    assert slack.calls == []
