"""When slots are due, in every awkward night of the year."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.delivery.policy import EVERY_DAY, Schedule, SlotTime
from bot.delivery.slots import due_between, instant, minutes_late, next_due

BERLIN = ZoneInfo("Europe/Berlin")
SHANGHAI = ZoneInfo("Asia/Shanghai")
WEEKDAYS = frozenset(range(5))


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def schedule(*times, zone=SHANGHAI, days=EVERY_DAY, **more):
    slots = tuple(SlotTime(at=time.fromisoformat(one), days=days) for one in times)
    return Schedule(times=slots, zone=zone, **more)


def test_nine_in_shanghai_is_one_in_utc_whatever_the_machine_thinks():
    (due,) = due_between(schedule("09:00"), at("2026-03-02T00:00"), at("2026-03-02T12:00"))
    assert due.due_at == at("2026-03-02T01:00")
    assert (due.local_date, due.name) == (date(2026, 3, 2), "09:00")


def test_a_slot_is_due_at_its_second_and_not_before():
    one = schedule("09:00")
    assert not due_between(one, at("2026-03-02T00:00"), at("2026-03-02T00:59:59"))
    assert due_between(one, at("2026-03-02T00:00"), at("2026-03-02T01:00:00"))
    assert not due_between(one, at("2026-03-02T01:00:00"), at("2026-03-02T01:00:01"))


@pytest.mark.parametrize("day", [date(2026, 3, 29), date(2026, 10, 25)])
def test_half_past_two_in_berlin_is_due_once_on_both_days_of_change(day):
    start = datetime.combine(day, time(0), tzinfo=UTC) - timedelta(hours=6)
    due = due_between(schedule("02:30", zone=BERLIN), start, start + timedelta(hours=30))
    assert [one.local_date for one in due if one.local_date == day] == [day]


def test_a_time_that_does_not_happen_means_the_end_of_the_gap():
    assert instant(date(2026, 3, 29), time(2, 30), BERLIN) == at("2026-03-29T01:00")


def test_a_time_that_happens_twice_means_the_first():
    assert instant(date(2026, 10, 25), time(2, 30), BERLIN) == at("2026-10-25T00:30")


def test_a_gap_of_half_an_hour_ends_where_the_clock_has_jumped():
    lord_howe = ZoneInfo("Australia/Lord_Howe")  # 02:00 becomes 02:30
    assert instant(date(2026, 10, 4), time(2, 10), lord_howe).astimezone(lord_howe).time() == time(2, 30)


def test_a_day_that_a_zone_left_out_does_not_loop():
    apia = ZoneInfo("Pacific/Apia")  # 2011-12-30 did not happen
    due = due_between(schedule("09:00", zone=apia), at("2011-12-28T12:00"), at("2012-01-02T00:00"))
    assert len({one.local_date for one in due}) == len(due)


def test_weekdays_are_those_named():
    due = due_between(schedule("09:00", days=WEEKDAYS), at("2026-03-01T00:00"), at("2026-03-08T12:00"))
    assert [one.local_date.day for one in due] == [2, 3, 4, 5, 6]


def test_several_times_a_day_come_in_order():
    due = due_between(schedule("17:00", "09:00"), at("2026-03-02T00:00"), at("2026-03-03T00:00"))
    assert [one.name for one in due] == ["09:00", "17:00"]


def test_a_skipped_date_and_a_pause_have_no_slots():
    holiday = schedule("09:00", skip_dates=frozenset({date(2026, 3, 3)}))
    due = due_between(holiday, at("2026-03-01T12:00"), at("2026-03-05T12:00"))
    assert [one.local_date.day for one in due] == [2, 4, 5]
    paused = schedule("09:00", pause_until=date(2026, 3, 4))
    due = due_between(paused, at("2026-03-01T12:00"), at("2026-03-05T12:00"))
    assert [one.local_date.day for one in due] == [4, 5]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "2026-03-03T01:00"),
        ({"days": frozenset({0})}, "2026-03-09T01:00"),
        ({"skip_dates": frozenset(date(2026, 3, day) for day in range(3, 20))}, "2026-03-20T01:00"),
        ({"pause_until": date(2028, 3, 4)}, "2028-03-04T01:00"),
    ],
)
def test_the_next_slot_is_the_first_after_now(more, expected):
    due = next_due(schedule("09:00", **more), at("2026-03-02T01:00"))
    assert due is not None
    assert due.due_at == at(expected)


def test_without_any_time_no_slot_is_next():
    assert next_due(schedule(), at("2026-03-02T01:00")) is None


def test_a_clock_that_goes_backwards_finds_nothing():
    assert due_between(schedule("09:00"), at("2026-03-02T12:00"), at("2026-03-02T00:00")) == ()


def test_late_is_only_what_lies_beyond_the_grace():
    due, grace = at("2026-03-02T01:00"), timedelta(minutes=5)
    assert minutes_late(due, due + timedelta(minutes=5), grace) == 0
    assert minutes_late(due, due + timedelta(minutes=40, seconds=9), grace) == 40


@given(
    zone=st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe", "Asia/Tehran"]),
    minute=st.integers(0, 1439),
    start=st.integers(1_704_067_200, 1_796_083_200),
    cuts=st.lists(st.integers(1, 5000), min_size=1, max_size=12),
)
def test_however_the_time_is_cut_into_ticks_each_date_is_due_once(zone, minute, start, cuts):
    one = schedule(f"{minute // 60:02}:{minute % 60:02}", zone=ZoneInfo(zone))
    begin = moment = datetime.fromtimestamp(start, UTC)
    pieces = []
    for cut in cuts:
        pieces += due_between(one, moment, moment + timedelta(minutes=cut))
        moment += timedelta(minutes=cut)
    assert pieces == list(due_between(one, begin, moment))
    dates = [due.local_date for due in pieces]
    assert len(set(dates)) == len(dates)
