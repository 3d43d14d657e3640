"""The promise over real databases: what the fake ledger allows, the real ones allow too, and nothing else."""

from __future__ import annotations

import contextlib
from datetime import date

import pytest

from bot.delivery.desk import Standing, decide
from bot.delivery.values import CannotLook
from bot.model import DeliveryState, Layout
from bot.storage.delivery_store import DeliveryStore
from bot.storage.ingest_store import IngestStore
from bot.storage.listing import list_alerts
from tests.contract.conftest import document, new
from tests.unit.delivery.fakes import (
    CHANNEL,
    DROP_AFTER,
    DROP_BEFORE,
    KILL_AFTER,
    KILL_BEFORE,
    OTHER,
    House,
    Killed,
    code,
    policy,
    too_fast,
)

WHOLE = ["root", "e1", "e2", "e3", "e4"]


FLOOD = "flood"


def prepared(database, layout, *script):
    kind = {"max_messages": 3} if layout == FLOOD else {"layout": layout}
    house = House(policy(**kind), now="2026-03-02T01:00:00")
    house.storage = DeliveryStore(database)
    entries = [new(f"entry {position}", position) for position in range(1, 5)]
    IngestStore(database).record(document(edition=date(2026, 3, 2)), entries, house.clock.now())
    house.restart()
    house.slack.script.extend(script)
    return house


def morning(database, layout, *script):
    house = prepared(database, layout, *script)
    for _ in range(8):
        try:
            house.tick()
        except Killed:
            house.restart()
        house.clock.advance(20)
    return house


def said(house):
    return [text.split()[0] for text in house.slack.texts()]


@pytest.mark.parametrize("layout", [*Layout, FLOOD])
@pytest.mark.parametrize("fault", [DROP_AFTER, DROP_BEFORE, KILL_AFTER, KILL_BEFORE, too_fast(3)])
def test_each_message_stands_once_and_in_order_whatever_happens_to_one(database, layout, fault):
    place = 0 if layout == FLOOD else 2
    house = morning(database, layout, *[None] * place, fault)
    assert said(house) == (["root"] if layout == FLOOD else WHOLE)
    assert dict(house.service.status().by_state) == {"sent": 5}
    threads = {one.thread_ts for one in house.slack.messages[CHANNEL][1:]}
    in_thread = layout in (Layout.THREAD, Layout.COMPACT)
    assert threads <= ({house.slack.messages[CHANNEL][0].ts} if in_thread else {None})


def test_the_refused_root_of_a_flood_leaves_its_entries_to_be_sent_one_by_one(database):
    house = morning(database, FLOOD, code("invalid_blocks"))
    assert said(house) == WHOLE[1:]


def test_a_root_is_given_its_links_once(database):
    house = morning(database, Layout.CHANNEL)
    for _ in range(3):
        house.service.update(house.stop)
    assert house.slack.messages[CHANNEL][0].edits == ["root 4 links 4"]


def test_a_dead_token_holds_everything_until_it_is_accepted_again(database):
    house = morning(database, Layout.CHANNEL, None, code("token_revoked"))
    assert said(house) == WHOLE
    assert house.slack.checks >= 1
    assert not house.service.status().team_blocks


def test_an_order_of_now_posts_what_is_new_and_nothing_twice(database):
    house = morning(database, Layout.CHANNEL)
    assert house.service.deliver_now(CHANNEL) is None
    assert said(house) == WHOLE


@pytest.mark.parametrize("layout", [Layout.COMPACT, Layout.THREAD, FLOOD])
def test_an_unreadable_root_keeps_its_entries_without_end_and_lets_the_next_slot_pass(database, layout):
    house = prepared(database, layout, DROP_AFTER)
    house.slack.looks.extend([CannotLook(reason="missing_scope")] * 50)
    house.run(2 * 3600, every=120)
    assert said(house) == ["root"]
    later = [new(f"later {position}", position) for position in range(1, 3)]
    IngestStore(database).record(document("b.md", edition=date(2026, 3, 3)), later, house.clock.now())
    house.go_to("2026-03-03T01:00:00")
    house.run(120, every=10)
    assert not {"e1", "e2", "e3", "e4"} & set(said(house))
    assert said(house)[1] == "root"
    (held,) = house.storage.in_state(DeliveryState.HELD, 9)
    assert house.service.settle(held.key, Standing(ts=house.slack.messages[CHANNEL][0].ts))
    house.run(120, every=10)
    assert len(set(house.slack.texts())) == len(house.slack.texts())
    assert house.service.status().by_state.keys() == {"sent"}
    first = [one.thread_ts for one in house.slack.messages[CHANNEL] if one.text[:2] in ("e1", "e2", "e3", "e4")]
    assert first == ([house.slack.messages[CHANNEL][0].ts] * 4 if layout != FLOOD else [])


def causes(database):
    return [one["cause"] for one in list_alerts(database)]


def test_proof_that_comes_late_ends_the_doubt_that_people_were_told_of(database):
    house = prepared(database, Layout.CHANNEL)
    house.slack.looks.append(CannotLook(reason="missing_scope"))
    other, record = house.process(), house.storage.record
    told = []

    def held_up(owner, records, now):
        house.storage.record = record
        for seconds in (31, 10):  # the claim runs out, then it is looked for
            house.clock.advance(seconds)
            other.reconcile(house.stop)
        told.extend(causes(database))
        return record(owner, records, now)

    house.storage.record = held_up
    house.tick()
    (root,) = house.storage.in_state(DeliveryState.SENT, 1)
    assert told == [f"held:{root.key}"]
    assert causes(database) == []
    house.run(120)
    assert said(house) == WHOLE
    assert house.service.status().held == ()


@pytest.mark.parametrize("given", ["its link", "its ts"])
@pytest.mark.parametrize("layout", [Layout.THREAD, Layout.CHANNEL])
def test_what_a_killed_process_sent_and_a_person_found_has_its_parts_in_the_thread_where_they_belong(
    database, layout, given
):
    house = prepared(database, layout, None, KILL_AFTER)
    house.maker.parts[1] = 3
    with contextlib.suppress(Killed):
        house.run(60)
    house.restart()
    house.slack.looks.extend([CannotLook(reason="missing_scope")] * 9)
    house.run(120)
    (held,) = house.storage.in_state(DeliveryState.HELD, 9)
    assert held.thread_ts is None
    root, head = house.slack.messages[CHANNEL]
    link = {"thread_ts": head.thread_ts, "channel_id": CHANNEL.channel_id} if given == "its link" else {}
    assert house.service.settle(held.key, Standing(ts=head.ts, **link))
    house.run(60)
    thread = root.ts if layout is Layout.THREAD else head.ts
    parts = [one for one in house.slack.messages[CHANNEL] if one.text.startswith("e1 part")]
    assert [one.thread_ts for one in parts] == [thread, thread]


@pytest.mark.parametrize("where", ["here", "at the command line"])
@pytest.mark.parametrize("word", ["settle", "retry"])
def test_a_persons_word_ends_what_was_told_also_before_there_is_a_channel_to_tell_it_in(database, word, where):
    house = prepared(database, Layout.CHANNEL, None, DROP_AFTER)
    house.slack.looks.append(CannotLook(reason="missing_scope"))
    house.run(60)
    (held,) = house.storage.in_state(DeliveryState.HELD, 9)
    assert causes(database) == [f"held:{held.key}"]
    found = Standing(ts=house.slack.messages[CHANNEL][-1].ts) if word == "settle" else None
    if where == "here":
        assert house.service.settle(held.key, found) if found else house.service.retry(held.key)
    else:
        assert decide(house.storage, held.key, found, now=house.clock.now())
    assert causes(database) == []
    house.service.alarm.raise_alert("x", "something else")
    house.service.tell_alerts_in(OTHER)
    assert house.slack.texts(OTHER) == ["ALERT something else"]
