"""What a look says, and when it is taken."""

from dataclasses import replace
from datetime import timedelta

from bot.delivery.policy import DeliverySettings
from bot.delivery.reconcile import resolve
from bot.delivery.values import Absent, Block, CannotLook, Doubtful, Found
from bot.model import Delivery, DeliveryKind, DeliveryState, Layout
from tests.unit.delivery.fakes import CHANNEL, DROP_AFTER, KILL_AFTER, OTHER, House, Killed, at, policy

NOW = at("2026-03-02T01:01:00")
SETTINGS = DeliverySettings(max_attempts=3, max_looks=4, look_again=timedelta(seconds=15))


def doubtful(doubts=1, looks=0):
    delivery = Delivery(
        id=7,
        key="k",
        channel=CHANNEL,
        kind=DeliveryKind.ENTRY,
        subject="entry:1",
        revision=0,
        part=0,
        slot_id=1,
        ordinal=2,
        state=DeliveryState.UNCERTAIN,
        attempts=9,
        doubts=doubts,
    )
    return Doubtful(delivery=delivery, looks=looks, oldest=NOW)


def test_found_is_sent_with_its_ts():
    resolution = resolve(doubtful(), Found(ts="5.5"), NOW, SETTINGS)
    assert (resolution.state, resolution.ts) == (DeliveryState.SENT, "5.5")


def test_absent_is_planned_again():
    assert resolve(doubtful(), Absent(), NOW, SETTINGS).state is DeliveryState.PLANNED


def test_absent_after_too_many_attempts_is_held():
    assert resolve(doubtful(doubts=3), Absent(), NOW, SETTINGS).state is DeliveryState.HELD


def test_a_look_that_needs_a_person_is_held_at_once():
    resolution = resolve(doubtful(), CannotLook(reason="missing_scope"), NOW, SETTINGS)
    assert (resolution.state, resolution.error) == (DeliveryState.HELD, "missing_scope")


def test_failed_looks_are_repeated_ever_more_slowly_and_then_held():
    cannot = CannotLook(reason="ratelimited", retry_at=NOW + timedelta(seconds=20))
    waits = [(resolve(doubtful(looks=n), cannot, NOW, SETTINGS).next_try_at - NOW).total_seconds() for n in range(3)]
    assert waits == [20, 30, 60]
    assert resolve(doubtful(looks=3), cannot, NOW, SETTINGS).state is DeliveryState.HELD


def test_a_kill_in_a_thread_is_looked_for_in_that_thread_and_in_the_channel():
    house = House(policy(layout=Layout.THREAD), now="2026-03-02T01:00:00")
    house.storage.add_document(1, "2026-03-02", [1, 2])
    house.slack.script.extend([None, KILL_AFTER])
    try:
        house.tick()
    except Killed:
        house.restart()
    places = []
    find = house.slack.find
    house.slack.find = lambda *args, **more: (places.append(more["thread_ts"]), find(*args, **more))[1]
    house.run(120)
    assert places == [None, "1.0"]
    assert house.slack.texts() == ["root 2 links 0", "e1", "e2"]
    assert house.delivery("entry:1").thread_ts == "1.0"


def test_nothing_stands_in_a_thread_that_is_gone():
    house = House(policy(layout=Layout.THREAD), now="2026-03-02T01:00:00")
    house.storage.add_document(1, "2026-03-02", [1, 2])
    house.slack.script.extend([None, DROP_AFTER])
    house.tick()
    house.slack.messages[CHANNEL].clear()
    find = house.slack.find

    def deleted(*args, **more):
        return CannotLook(reason="thread_not_found") if more["thread_ts"] else find(*args, **more)

    house.slack.find = deleted
    house.run(120)
    assert house.slack.texts() == ["e1", "e2"]


def test_while_the_token_is_refused_nothing_is_looked_for_and_no_look_is_counted():
    house = House(now="2026-03-02T01:00:00")
    house.storage.add_document(1, "2026-03-02", [1])
    house.slack.script.append(DROP_AFTER)
    house.tick()
    house.slack.token_error = "token_revoked"
    row = house.storage.rows[1]
    house.storage.block_team("T1", Block(reason="token_revoked", advice="", until=NOW), house.clock.now())
    looked = []
    house.slack.find = lambda *args, **more: looked.append(1) or CannotLook(reason="invalid_auth")
    house.run(7200, every=60)
    assert looked == []
    assert row.delivery.state is DeliveryState.UNCERTAIN
    house.slack.token_error = None
    del house.slack.find
    house.run(120)
    assert house.slack.texts() == ["root 1 links 0", "e1"]


def test_a_resolution_is_taken_once():
    house = House(now="2026-03-02T01:00:00")
    house.storage.add_document(1, "2026-03-02", [1])
    house.slack.script.append(DROP_AFTER)
    house.tick()
    row = house.storage.rows[1]
    row.delivery = replace(row.delivery, state=DeliveryState.UNCERTAIN)
    first = resolve(doubtful(), Found(ts="1.0"), NOW, SETTINGS)
    assert house.storage.resolve(replace(first, delivery_id=1), NOW)
    assert not house.storage.resolve(replace(first, delivery_id=1, state=DeliveryState.PLANNED), NOW)


def test_a_token_that_is_refused_at_the_look_closes_the_workspace_and_counts_for_no_look():
    house = House(policy(), now="2026-03-02T01:00:00", alert_channel=OTHER)
    house.storage.add_document(1, "2026-03-02", [1])
    house.slack.script.extend([None, DROP_AFTER])  # the last message of the morning is in doubt
    house.tick()
    house.slack.token_error = "token_revoked"
    find = house.slack.find

    def look(channel, **more):
        if house.slack.token_error:
            return CannotLook(reason=house.slack.token_error, retry_at=house.clock.now() + timedelta(seconds=30))
        return find(channel, **more)

    house.slack.find = look
    house.run(4 * 3600, every=60)
    assert house.states() == ["sent", "uncertain"]
    assert [cause for cause in house.storage.alerts if cause.startswith("team:")]
    house.slack.token_error = None
    house.run(180, every=5)
    assert house.states() == ["sent", "sent"]
    assert house.slack.texts() == ["root 1 links 0", "e1"]


def test_a_look_that_breaks_keeps_no_other_message_waiting():
    house = House(policy(), policy(OTHER), now="2026-03-02T01:00:00")
    house.storage.add_document(1, "2026-03-02", [1])
    house.slack.scripts[CHANNEL].append(DROP_AFTER)
    house.slack.scripts[OTHER].append(DROP_AFTER)
    find = house.slack.find

    def look(channel, **more):
        if channel == CHANNEL:
            raise TypeError("a page that nobody foresaw")
        return find(channel, **more)

    house.slack.find = look
    house.run(120)
    assert house.states() == ["uncertain", "planned"]
    assert house.states(OTHER) == ["sent", "sent"]
    house.run(4 * 3600, every=60)
    assert house.states()[0] == "held"
