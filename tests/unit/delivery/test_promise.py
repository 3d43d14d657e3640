"""The promise under chance: whatever Slack answers and wherever processes die, each entry stands once and in order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.delivery.values import CannotLook
from bot.model import Layout
from tests.unit.delivery.fakes import (
    CHANNEL,
    DROP_AFTER,
    DROP_BEFORE,
    HANG,
    KILL_AFTER,
    KILL_BEFORE,
    NO_NETWORK,
    OTHER,
    House,
    Killed,
    code,
    policy,
    too_fast,
)

FAULTS = [
    None,
    DROP_AFTER,
    DROP_BEFORE,
    HANG,
    KILL_AFTER,
    KILL_BEFORE,
    NO_NETWORK,
    too_fast(3),
    too_fast(40),
    code("fatal_error"),
    code("internal_error", accepts=True),
    code("not_in_channel"),
    code("token_revoked"),
    code("unheard_of"),
]
KINDS = [*({"layout": layout} for layout in Layout), {"max_messages": 4}]


def through_it_all(house: House, steps: int, choices: list[int]) -> None:
    """Run two processes by turns; a killed one is replaced. Then let the dust settle."""
    services = [house.process(), house.process()]
    for number in range(steps):
        which = choices[number % len(choices)] % 2
        try:
            services[which].plan()
            services[which].reconcile(house.stop)
            services[which].deliver(house.stop)
        except Killed:
            services[which] = house.process()
        house.clock.advance(1 + choices[number % len(choices)] % 5)
    house.slack.script.clear()
    house.slack.looks.clear()
    house.service = house.process()
    house.run(1500, every=20)


@settings(max_examples=60, deadline=None)
@given(
    faults=st.lists(st.sampled_from(FAULTS), max_size=25),
    choices=st.lists(st.integers(0, 9), min_size=1, max_size=12),
    kind=st.sampled_from(KINDS),
    blind=st.integers(0, 3),
)
def test_nothing_is_lost_doubled_or_out_of_order(faults, choices, kind, blind):
    house = House(
        policy(**kind),
        policy(OTHER, **kind),
        now="2026-03-02T01:00:00",
        max_attempts=99,
        max_looks=99,
        turn=3,
    )
    house.storage.add_document(1, "2026-03-02", range(1, 6))
    house.slack.script.extend(faults)
    house.slack.looks.extend(CannotLook(reason="ratelimited", retry_at=house.clock.now()) for _ in range(blind))
    through_it_all(house, 25, choices)
    expected = ["root"] if "max_messages" in kind else ["root", "e1", "e2", "e3", "e4", "e5"]
    for channel in (CHANNEL, OTHER):
        assert [text.split()[0] for text in house.slack.texts(channel)] == expected
        assert set(house.states(channel)) == {"sent"}
        keys = [one.key for one in house.slack.messages[channel]]
        assert len(set(keys)) == len(keys)


@settings(max_examples=30, deadline=None)
@given(
    faults=st.lists(st.sampled_from(FAULTS), max_size=25),
    choices=st.lists(st.integers(0, 9), min_size=1, max_size=9),
)
def test_where_history_cannot_be_read_nothing_is_doubled_and_what_is_missing_is_held(faults, choices):
    house = House(now="2026-03-02T01:00:00", max_attempts=99, turn=3)
    house.storage.add_document(1, "2026-03-02", range(1, 6))
    house.slack.find = lambda *_args, **_more: CannotLook(reason="missing_scope")
    house.slack.script.extend(faults)
    through_it_all(house, 25, choices)
    house.run(3600, every=60)
    texts = [text.split()[0] for text in house.slack.texts()]
    assert len(set(texts)) == len(texts)
    held = {one.subject for one in house.service.status().held}
    posted = {f"entry:{text[1:]}" for text in texts if text != "root"}
    assert {f"entry:{n}" for n in range(1, 6)} <= held | posted
