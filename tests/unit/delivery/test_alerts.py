"""People are told once, where they can hear it, and the telling harms nobody."""

import threading
from datetime import timedelta

import pytest
import structlog
from structlog.testing import capture_logs

from bot.delivery.alerts import Alerts
from bot.delivery.aside import Aside
from bot.delivery.values import CannotLook
from tests.unit.delivery.fakes import (
    CHANNEL,
    DROP_AFTER,
    DROP_BEFORE,
    KILL_AFTER,
    KILL_BEFORE,
    NO_NETWORK,
    OTHER,
    FakeClock,
    FakeMaker,
    FakeSlack,
    House,
    Killed,
    MemoryStorage,
    code,
)


@pytest.fixture
def told():
    clock = FakeClock()
    slack, storage = FakeSlack(clock), MemoryStorage()
    alerts = Alerts(
        storage=storage,
        poster=slack,
        history=slack,
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


def test_an_alert_that_slack_refuses_raises_nothing_and_is_owed_until_slack_takes_it(told):
    alerts, slack, storage, clock = told
    slack.script.extend([code("not_in_channel")] * 3)
    alerts.raise_alert("x", "text")
    for _ in range(60):
        alerts.raise_alert("x", "text")
        alerts.tell_owed()
        clock.advance(10)
    assert slack.texts() == ["ALERT text"]
    assert len(slack.calls) == 4  # at 0, 1, 3 and 7 minutes
    assert storage.owed_alerts(clock.now(), clock.now() + timedelta(minutes=5)) == ()


def test_many_alerts_that_slack_refuses_are_tried_one_at_a_time_and_all_told_when_it_takes_one(told):
    alerts, slack, _, clock = told
    slack.script.extend([NO_NETWORK] * 30)
    for number in range(20):
        alerts.raise_alert(f"x{number}", f"text {number}")
    for _ in range(3600):
        alerts.tell_owed()
        clock.advance(1)
    assert len(slack.calls) < 10
    slack.script.clear()
    for _ in range(1900):
        alerts.tell_owed()
        clock.advance(1)
    assert sorted(slack.texts()) == sorted(f"ALERT text {number}" for number in range(20))


def while_the_database_goes_away(slack, storage):
    """Lose the database just when an alert is posted."""
    post = slack.post

    def post_and_lose(*arguments, **more):
        storage.away = True
        return post(*arguments, **more)

    slack.post = post_and_lose


def test_a_refusal_that_cannot_be_written_down_is_told_again_when_the_claim_has_run_out(told):
    alerts, slack, storage, clock = told
    slack.script.append(NO_NETWORK)
    post = slack.post
    while_the_database_goes_away(slack, storage)
    alerts.raise_alert("x", "text")
    alerts.tell_owed()
    slack.post, storage.away = post, False
    clock.advance(301)
    alerts.tell_owed()
    assert slack.texts() == ["ALERT text"]


def test_what_was_told_while_the_database_went_away_is_not_told_again(told):
    alerts, slack, storage, clock = told
    while_the_database_goes_away(slack, storage)
    alerts.raise_alert("x", "text")
    alerts.tell_owed()
    storage.away = False
    clock.advance(301)
    alerts.tell_owed()
    assert slack.texts() == ["ALERT text"]


def test_an_alert_that_was_raised_while_the_database_was_away_is_told_when_it_is_back(told):
    alerts, slack, storage, _ = told
    storage.away = True
    alerts.raise_alert("passed:1", "a slot was missed")  # nobody raises this one again
    alerts.raise_alert("over", "text")
    storage.away = False
    alerts.clear("over")
    for _ in range(2):
        alerts.tell_owed()
    assert slack.texts() == ["ALERT a slot was missed"]


def another(slack, storage, clock, channel=CHANNEL):
    return Alerts(
        storage=storage,
        poster=slack,
        history=slack,
        maker=FakeMaker(),
        clock=clock,
        channel=channel,
        quiet=timedelta(hours=6),
    )


def test_an_alert_whose_process_is_killed_before_it_was_posted_is_told_by_another(told):
    alerts, slack, storage, clock = told
    slack.script.append(KILL_BEFORE)
    with pytest.raises(Killed):
        alerts.raise_alert("x", "text")
    other = another(slack, storage, clock)
    other.tell_owed()
    assert slack.texts() == []  # the first may still be at it
    clock.advance(301)
    other.tell_owed()
    assert slack.texts() == ["ALERT text"]


def test_an_alert_whose_answer_was_lost_is_looked_for_and_not_told_again(told):
    alerts, slack, storage, clock = told
    slack.script.append(DROP_AFTER)
    alerts.raise_alert("x", "text")
    for _ in range(300):
        alerts.tell_owed()
        another(slack, storage, clock).tell_owed()  # a new process knows of no pause
        clock.advance(1)
    assert slack.texts() == ["ALERT text"]
    assert storage.owed_alerts(clock.now(), clock.now() + timedelta(hours=1)) == ()


def test_an_alert_whose_process_is_killed_when_it_was_posted_is_looked_for_and_not_told_again(told):
    alerts, slack, storage, clock = told
    slack.script.append(KILL_AFTER)
    with pytest.raises(Killed):
        alerts.raise_alert("x", "text")
    for _ in range(300):
        another(slack, storage, clock).tell_owed()
        clock.advance(1)
    assert slack.texts() == ["ALERT text"]
    assert storage.owed_alerts(clock.now(), clock.now() + timedelta(hours=1)) == ()


def test_an_alert_that_cannot_be_looked_for_is_rather_told_twice(told):
    alerts, slack, _, clock = told
    slack.script.append(DROP_AFTER)
    slack.looks.append(CannotLook(reason="missing_scope"))
    alerts.raise_alert("x", "text")
    clock.advance(60)
    alerts.tell_owed()
    assert slack.texts() == ["ALERT text", "ALERT text"]


def test_a_cause_that_is_over_before_its_turn_comes_is_not_told(told):
    alerts, slack, *_ = told
    errands = []
    alerts._aside = lambda errand: errands.append(errand) or True
    alerts.raise_alert("x", "text")
    alerts.clear("x")
    alerts.raise_alert("y", "text of y")
    for errand in errands:
        errand()
    assert slack.texts() == ["ALERT text of y"]


def test_what_was_raised_before_there_was_a_channel_is_told_by_a_later_process(told):
    _, slack, storage, clock = told
    early = another(slack, storage, clock, channel=None)
    early.raise_alert("x", "text")
    early.raise_alert("channel:T1/C1", "cannot post", about=CHANNEL)
    later = another(slack, storage, clock, channel=None)
    later.tell_owed()
    later.tell_in(CHANNEL)
    later.tell_in(CHANNEL)
    assert slack.texts() == ["ALERT text"]


def test_an_alert_that_slack_will_never_take_holds_up_no_other(told):
    alerts, slack, _, clock = told
    post, tries = slack.post, []

    def refuse(channel, message, **more):
        if "poison" not in str(message):
            return post(channel, message, **more)
        tries.append(clock.now())
        return code("a_new_refusal" if "new" in str(message) else "msg_too_long").answer

    slack.post = refuse
    alerts.raise_alert("1", "poison")
    alerts.raise_alert("2", "new poison")
    alerts.raise_alert("3", "text")
    for _ in range(200):
        alerts.tell_owed()
        clock.advance(1)
    assert slack.texts() == ["ALERT text"]
    assert len(tries) <= 5


def test_an_alert_that_too_many_errands_left_no_place_for_is_owed(told):
    alerts, slack, *_ = told
    alerts._aside = lambda _errand: False
    alerts.raise_alert("x", "text")
    alerts._aside = lambda errand: errand() or True
    alerts.tell_owed()
    assert slack.texts() == ["ALERT text"]


def test_a_clock_that_is_set_back_ends_the_pause_and_the_claims(told):
    alerts, slack, _, clock = told
    slack.script.extend([NO_NETWORK, KILL_BEFORE])
    alerts.raise_alert("x", "text")
    clock.advance(61)
    with pytest.raises(Killed):
        alerts.tell_owed()
    clock.advance(-86400)
    alerts.tell_owed()
    assert slack.texts() == ["ALERT text"]


def test_what_is_over_is_not_owed_any_more(told):
    alerts, slack, _, clock = told
    slack.script.append(NO_NETWORK)
    alerts.raise_alert("x", "text")
    alerts.clear("x")
    clock.advance(3600)
    alerts.tell_owed()
    assert slack.texts() == []


def test_of_two_processes_one_tells_what_is_owed(told):
    alerts, slack, storage, clock = told
    slack.script.append(NO_NETWORK)
    alerts.raise_alert("x", "text")
    clock.advance(60)
    other = Alerts(
        storage=storage,
        poster=slack,
        history=slack,
        maker=FakeMaker(),
        clock=clock,
        channel=CHANNEL,
        quiet=timedelta(hours=6),
    )
    other.tell_owed()
    alerts.tell_owed()
    assert slack.texts() == ["ALERT text"]


def held_in_the_dark():
    """A message whose answer was lost, while Slack cannot be reached from then on; and the alert channel is there."""
    house = House(now="2026-03-02T01:00:00", alert_channel=OTHER)
    house.storage.add_document(1, "2026-03-02", [1])
    house.slack.scripts[CHANNEL].extend([None, DROP_BEFORE])
    dark = [True]
    find, post = house.slack.find, house.slack.post

    def look(channel, **more):
        if dark[0]:
            return CannotLook(reason="no network", retry_at=house.clock.now() + timedelta(seconds=30))
        return find(channel, **more)

    def say(channel, *arguments, **more):
        if dark[0] and channel == OTHER:
            return NO_NETWORK.answer
        return post(channel, *arguments, **more)

    house.slack.find, house.slack.post = look, say
    house.run(4 * 3600, every=30)
    assert house.states() == ["sent", "held"]
    assert house.slack.texts(OTHER) == []
    dark[0] = False
    return house


def test_a_message_that_is_held_while_slack_is_away_is_told_of_when_it_is_back():
    house = held_in_the_dark()
    house.run(1900, every=30)
    (alert,) = house.slack.texts(OTHER)
    assert "deliveries settle" in alert
    house.run(12 * 3600, every=300)
    assert len(house.slack.texts(OTHER)) == 1


def test_a_held_message_whose_alert_was_never_written_down_is_told_of_by_the_next_process():
    house = held_in_the_dark()
    house.storage.alerts.clear()  # a kill, or a lost database, between the message's row and the alert's
    house.restart()
    house.run(120, every=30)
    assert ["entry:1" in one for one in house.slack.texts(OTHER)] == [True]


def test_a_failed_message_whose_alert_was_never_written_down_is_told_of_by_the_next_process():
    house = House(now="2026-03-02T01:00:00", alert_channel=OTHER)
    house.storage.add_document(1, "2026-03-02", [1])
    house.slack.scripts[CHANNEL].extend([None, code("msg_too_long")])
    house.run(30)
    house.storage.alerts.clear()
    house.slack.messages[OTHER].clear()
    house.restart()
    house.run(120, every=30)
    assert ["msg_too_long" in one for one in house.slack.texts(OTHER)] == [True]


def test_a_lost_database_is_no_second_fault(told):
    alerts, slack, storage, _ = told
    storage.away = True
    alerts.raise_alert("x", "text")
    assert slack.calls == []


def test_what_cannot_be_kept_is_logged_and_told_where_the_channel_is_known_and_waits_for_none():
    house = House()
    house.storage.away = True
    with capture_logs() as logs:
        house.service.alarm.tell_unkept("database-file", "the file is lost")
    assert [(one["event"], one["text"]) for one in logs] == [("alert", "the file is lost")]
    house.storage.away = False
    house.service.tell_alerts_in(OTHER)
    assert house.slack.texts(OTHER) == []
    house.storage.away = True
    house.service.alarm.tell_unkept("database-file", "the file is lost")
    assert house.slack.texts(OTHER) == ["ALERT the file is lost"]
    assert house.storage.alerts == {}


def test_what_waited_for_a_channel_and_is_over_by_then_is_not_told():
    house = House()
    house.service.alarm.raise_alert("over", "was so")
    house.service.alarm.raise_alert("lasts", "is so")
    house.storage.clear_alert("over")
    house.service.tell_alerts_in(OTHER)
    assert house.slack.texts(OTHER) == ["ALERT is so"]


def test_whoever_raises_an_alert_does_not_wait_for_slack_and_a_stop_does():
    clock, slack, aside, answered = FakeClock(), FakeSlack(FakeClock()), Aside(), threading.Event()
    post = slack.post

    def slow(*arguments, **more):
        assert answered.wait(5)
        return post(*arguments, **more)

    slack.post = slow
    alerts = Alerts(
        storage=MemoryStorage(),
        poster=slack,
        history=slack,
        maker=FakeMaker(),
        clock=clock,
        channel=CHANNEL,
        quiet=timedelta(hours=6),
        aside=aside.run,
    )
    alerts.raise_alert("x", "text")
    assert slack.texts() == []
    assert not aside.flush(0.1)
    answered.set()
    assert aside.flush(5)
    assert slack.texts() == ["ALERT text"]


def test_errands_are_dropped_where_too_many_wait_and_one_that_breaks_harms_no_other():
    aside, go, done = Aside(waiting=2), threading.Event(), []
    aside.run(lambda: go.wait(5) and 1 / 0)
    while aside._errands.qsize():
        pass
    for number in range(4):
        aside.run(lambda number=number: done.append(number))
    go.set()
    assert aside.flush(5)
    assert done == [0, 1]


def test_an_outage_is_warned_of_once_told_once_and_over_with_the_first_success():
    house = House(now="2026-03-02T01:00:00", alert_channel=OTHER)
    house.storage.add_document(1, "2026-03-02", [1])
    house.slack.scripts[CHANNEL].extend([NO_NETWORK] * 1000)
    with structlog.testing.capture_logs() as logs:
        house.run(240)
        assert house.storage.alerts == {}
        house.run(900)
    assert list(house.storage.alerts) == ["team:T1:outage"]
    assert [one["event"] for one in logs].count("slack_not_reached") == 1
    assert [one["event"] for one in logs].count("alert") == 1
    house.restart()
    house.slack.scripts[CHANNEL].clear()
    house.run(3600)
    assert len(house.slack.texts()) == 2
    assert house.storage.alerts == {}


def test_what_cannot_be_written_down_is_logged_once_until_it_can(told):
    alerts, slack, storage, _ = told
    with capture_logs() as logs:
        for storage.away in (True, False, True):
            for _ in range(3):
                alerts.clear("inbox")
                alerts.raise_alert("disk", "full")
    names = [one["event"] for one in logs]
    assert names.count("alert_not_cleared") == names.count("alert_not_noted") == 2
    assert slack.texts() == ["ALERT full"]
