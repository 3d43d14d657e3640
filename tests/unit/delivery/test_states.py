"""The ways between the states, and only those."""

import itertools

import pytest

from bot.delivery.states import TRANSITIONS, Event, next_state
from bot.model import DeliveryState as S


@pytest.mark.parametrize(
    ("before", "event", "after"),
    [
        (S.PLANNED, Event.CLAIMED, S.SENDING),
        (S.SENDING, Event.ACCEPTED, S.SENT),
        (S.SENDING, Event.REFUSED_FOR_NOW, S.PLANNED),
        (S.SENDING, Event.REFUSED_FOR_EVER, S.FAILED),
        (S.SENDING, Event.DOUBTED, S.UNCERTAIN),
        (S.UNCERTAIN, Event.FOUND, S.SENT),
        (S.UNCERTAIN, Event.ABSENT, S.PLANNED),
        (S.UNCERTAIN, Event.GIVEN_UP, S.HELD),
        (S.PLANNED, Event.DROPPED, S.SKIPPED),
        (S.HELD, Event.SETTLED, S.SENT),
        (S.HELD, Event.RETRIED, S.PLANNED),
        (S.PLANNED, Event.FOLDED, S.SENT),
        (S.SENDING, Event.TARGET_GONE, S.SKIPPED),
    ],
)
def test_each_letter_leads_where_the_documents_say(before, event, after):
    assert next_state(before, event) is after


def test_everything_else_cannot_happen():
    for pair in itertools.product(S, Event):
        if pair not in TRANSITIONS:
            with pytest.raises(ValueError, match="cannot be"):
                next_state(*pair)


def test_nothing_leads_out_of_sent():
    assert not [pair for pair in TRANSITIONS if pair[0] is S.SENT]


def test_doubt_never_leads_to_sending_without_a_look_or_a_person():
    ways = {event for (state, event), after in TRANSITIONS.items() if state is S.UNCERTAIN and after is S.PLANNED}
    assert ways == {Event.ABSENT}


def test_only_a_planned_delivery_can_be_claimed():
    assert [state for state, event in TRANSITIONS if event is Event.CLAIMED] == [S.PLANNED]
