"""The ceiling gives way to a busy workspace, not to a busy channel."""

from datetime import timedelta

from bot.delivery.pace import Ceiling
from bot.delivery.policy import DeliverySettings
from bot.model import Channel
from tests.unit.delivery.fakes import at

NOW = at("2026-03-02T01:00:00")
CHANNELS = [Channel(team_id="T1", channel_id=f"C{n}") for n in range(20)]


def feed(ceiling, throttled, start=NOW):
    slowed = [
        ceiling.saw(CHANNELS[n % 20], start + timedelta(seconds=n / 10), throttled=bad)
        for n, bad in enumerate(throttled)
    ]
    return any(slowed)


def test_without_trouble_the_configured_ceiling_holds():
    ceiling = Ceiling(300)
    assert not feed(ceiling, [False] * 50)
    assert ceiling.interval(NOW) == timedelta(seconds=0.2)


def test_no_ceiling_means_none():
    assert Ceiling(None).interval(NOW) is None


def test_one_channel_that_is_refused_again_and_again_slows_nobody():
    ceiling = Ceiling(300)
    assert not any(ceiling.saw(CHANNELS[0], NOW, throttled=True) for _ in range(10))


def test_a_stray_refusal_in_twenty_slows_nobody():
    assert not feed(Ceiling(None), [n % 20 == 0 for n in range(200)])


def test_many_refused_channels_halve_the_rate_once_and_it_grows_back():
    ceiling = Ceiling(300)
    assert feed(ceiling, [True] * 30)
    assert ceiling.interval(NOW + timedelta(seconds=3)) >= timedelta(seconds=0.37)
    later = ceiling.interval(NOW + timedelta(minutes=5))
    assert later == timedelta(seconds=0.2)


def test_without_a_ceiling_trouble_makes_one_for_a_while():
    ceiling = Ceiling(None)
    assert feed(ceiling, [False] * 50 + [True] * 50)
    assert ceiling.interval(NOW + timedelta(seconds=10)) is not None
    assert ceiling.interval(NOW + timedelta(minutes=10)) is None


def test_the_next_message_waits_a_pace_from_start_and_a_second_from_the_answer():
    settings = DeliverySettings(pace=1.1)
    quick = settings.not_before(NOW, NOW + timedelta(seconds=0.05))
    slow = settings.not_before(NOW, NOW + timedelta(seconds=0.8))
    assert quick == NOW + timedelta(seconds=1.1)
    assert slow == NOW + timedelta(seconds=1.8)


def test_what_a_message_was_late_is_made_up_for_and_a_second_still_passes():
    settings = DeliverySettings(pace=1.1)
    answered = NOW + timedelta(seconds=0.01)
    assert settings.not_before(NOW, answered, NOW - timedelta(seconds=0.04)) == NOW + timedelta(seconds=1.06)
    assert settings.not_before(NOW, answered, NOW - timedelta(hours=1)) == answered + timedelta(seconds=1)
    assert settings.not_before(NOW, answered, NOW + timedelta(seconds=1)) == NOW + timedelta(seconds=1.1)
    slow = DeliverySettings(pace=10)
    assert slow.not_before(NOW, answered, NOW - timedelta(hours=1)) == NOW + timedelta(seconds=9)
