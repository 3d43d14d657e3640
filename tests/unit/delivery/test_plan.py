"""What a channel is owed, decided without a database."""

import time as stopwatch
from dataclasses import replace
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.delivery.match import Matcher
from bot.delivery.plan import News, openings, plan_channel, plan_slot, slot_for_now
from bot.delivery.policy import Schedule, Wanted
from bot.delivery.values import Candidate, ChannelState, DocumentNews, RecordedSlot
from bot.model import Channel, DeliveryState, Layout, Slot, SlotState
from tests.unit.delivery.fakes import CHANNEL, at, policy

KNOWN = ChannelState(channel=CHANNEL, known_since=at("2026-01-01T00:00"), baseline_at=at("2026-01-01T00:00"))
NEW = ChannelState(channel=CHANNEL, known_since=at("2026-03-02T00:00"))


def candidate(number, repo="vllm-project/vllm", body="", topics=()):
    return Candidate(entry_id=number, repo=repo, title=f"title {number}", body=body, topics=topics)


def document(number, edition, *entries):
    entries = tuple(one if isinstance(one, Candidate) else candidate(one) for one in entries)
    return DocumentNews(id=number, edition=date.fromisoformat(edition), entries=entries)


def decide(one, state, now, news=None, recorded=()):
    due = openings(one, state, recorded, at(now))
    return plan_channel(one, state, due, news or News(), Matcher())


def recorded(one, day, name, due, state=SlotState.PLANNED):
    slot = Slot(channel=one.channel, local_date=date.fromisoformat(day), name=name, due_at=at(due))
    return RecordedSlot(id=1, slot=slot, state=state)


def shown(plan, state=DeliveryState.PLANNED):
    return [draft.subject for draft in plan.drafts if draft.state is state]


YESTERDAY = recorded(policy(), "2026-03-01", "09:00", "2026-03-01T01:00")


def test_nothing_is_due_before_the_slot():
    assert decide(policy(), KNOWN, "2026-03-02T00:59:59", recorded=[YESTERDAY]) == ()


def test_a_slot_owes_a_root_and_its_entries_in_file_order():
    news = News(fresh=(document(1, "2026-03-02", 3, 1, 2),))
    (plan,) = decide(policy(), KNOWN, "2026-03-02T01:00", news, [YESTERDAY])
    assert shown(plan) == ["slot:2026-03-02/09:00", "entry:3", "entry:1", "entry:2"]
    assert (plan.state, plan.documents, plan.baseline) == (SlotState.PLANNED, (1,), False)


def test_an_entry_in_two_documents_is_owed_once_in_its_first_place():
    news = News(fresh=(document(1, "2026-03-01", 1, 2), document(2, "2026-03-02", 2, 3)))
    (plan,) = decide(policy(), KNOWN, "2026-03-02T01:00", news, [YESTERDAY])
    assert shown(plan)[1:] == ["entry:1", "entry:2", "entry:3"]


def test_what_the_channel_has_already_is_carried_over():
    news = News(fresh=(document(1, "2026-03-02", 1, 2, 3),), taken={1, 2})
    (plan,) = decide(policy(), KNOWN, "2026-03-02T01:00", news, [YESTERDAY])
    assert shown(plan)[1:] == ["entry:3"]
    assert plan.detail["carried"] == [1, 2]


def test_a_slot_with_only_carried_entries_is_empty_and_has_told_its_documents():
    news = News(fresh=(document(1, "2026-03-02", 1),), taken={1})
    (plan,) = decide(policy(), KNOWN, "2026-03-02T01:00", news, [YESTERDAY])
    assert (plan.state, plan.documents, plan.drafts) == (SlotState.EMPTY, (1,), ())


def test_down_at_nine_and_up_at_twenty_to_ten_is_made_up_for():
    (plan,) = decide(policy(), KNOWN, "2026-03-02T01:40", News(fresh=(document(1, "2026-03-02", 1),)), [YESTERDAY])
    assert plan.state is SlotState.PLANNED


def test_beyond_the_catch_up_window_a_slot_is_passed_and_keeps_its_documents_fresh():
    news = News(fresh=(document(1, "2026-03-02", 1),))
    (plan,) = decide(policy(), KNOWN, "2026-03-02T14:00", news, [YESTERDAY])
    assert (plan.state, plan.documents, plan.drafts) == (SlotState.PASSED, (), ())


def test_after_days_away_the_latest_slot_takes_all_and_the_others_are_passed():
    news = News(fresh=(document(1, "2026-03-02", 1), document(2, "2026-03-04", 2)))
    *passed, last = decide(policy(), KNOWN, "2026-03-05T01:05", news, [YESTERDAY])
    assert [plan.state for plan in passed] == [SlotState.PASSED] * 3
    assert shown(last)[1:] == ["entry:1", "entry:2"]


def test_two_slots_missed_within_the_window_become_one():
    often = policy(times=("09:00", "11:00"))
    first, second = decide(
        often,
        KNOWN,
        "2026-03-02T03:30",
        News(fresh=(document(1, "2026-03-02", 1),)),
        [recorded(often, "2026-03-01", "11:00", "2026-03-01T03:00")],
    )
    assert (first.slot.name, first.state) == ("09:00", SlotState.EMPTY)
    assert (second.slot.name, second.state) == ("11:00", SlotState.PLANNED)


def test_a_slot_that_is_decided_is_not_decided_again_even_if_the_clock_goes_back():
    done = recorded(policy(), "2026-03-02", "09:00", "2026-03-02T01:00")
    news = News(fresh=(document(1, "2026-03-02", 1),))
    for now in ("2026-03-02T00:50", "2026-03-02T01:00", "2026-03-02T05:00"):
        assert decide(policy(), KNOWN, now, news, [YESTERDAY, done]) == ()


def test_a_slot_decided_by_a_clock_that_ran_ahead_does_not_hide_todays():
    ahead = recorded(policy(), "2026-03-09", "09:00", "2026-03-09T01:00")
    (plan,) = decide(policy(), KNOWN, "2026-03-02T01:00", recorded=[YESTERDAY, ahead])
    assert plan.slot.local_date == date(2026, 3, 2)


def test_a_slot_put_into_the_schedule_after_its_hour_is_not_missed():
    done = recorded(policy(), "2026-03-02", "09:00", "2026-03-02T01:00")
    assert decide(policy(times=("08:00", "09:00")), KNOWN, "2026-03-02T10:00", recorded=[done]) == ()


def test_a_new_channel_is_not_told_of_slots_before_its_time():
    assert decide(policy(), replace(NEW, known_since=at("2026-03-02T14:00")), "2026-03-02T14:00") == ()


def test_a_channel_set_up_within_the_window_gets_its_digest_the_same_morning():
    state = replace(NEW, known_since=at("2026-03-02T01:30"))
    (plan,) = decide(policy(), state, "2026-03-02T01:30", News(fresh=(document(1, "2026-03-02", 1),)))
    assert plan.state is SlotState.PLANNED


def test_the_first_run_posts_the_newest_whole_editions_and_records_the_rest_as_skipped():
    start = date(2025, 12, 1)
    fresh = tuple(document(n, (start + timedelta(days=n)).isoformat(), *range(n * 8, n * 8 + 8)) for n in range(90))
    (plan,) = decide(policy(), NEW, "2026-03-02T01:00", News(fresh=fresh))
    assert shown(plan)[1:] == [f"entry:{n}" for n in range(88 * 8, 90 * 8)]
    assert len(shown(plan, DeliveryState.SKIPPED)) == 88 * 8
    assert plan.baseline
    assert len(plan.documents) == 90
    assert plan.detail["editions"] == ["2026-02-27", "2026-02-28"]


def test_the_first_run_posts_at_least_one_edition_however_large():
    fresh = (document(1, "2026-03-01", *range(5)), document(2, "2026-03-02", *range(10, 40)))
    (plan,) = decide(policy(max_messages=50), NEW, "2026-03-02T01:00", News(fresh=fresh))
    assert shown(plan)[1:] == [f"entry:{n}" for n in range(10, 40)]


def test_two_seed_digests_that_overlap_fit_the_first_run():
    fresh = (document(1, "2026-03-01", *range(1, 9)), document(2, "2026-03-02", *range(5, 13)))
    (plan,) = decide(policy(), NEW, "2026-03-02T01:00", News(fresh=fresh))
    assert shown(plan)[1:] == [f"entry:{n}" for n in range(1, 13)]


def test_an_empty_first_slot_leaves_the_first_run_to_the_next():
    (plan,) = decide(policy(), NEW, "2026-03-02T01:00")
    assert (plan.state, plan.baseline) == (SlotState.EMPTY, False)


def test_a_known_channel_has_no_first_run_limit():
    (plan,) = decide(
        policy(max_messages=50),
        KNOWN,
        "2026-03-02T01:00",
        News(fresh=(document(1, "2026-03-02", *range(40)),)),
        [YESTERDAY],
    )
    assert len(shown(plan)) == 41


def test_a_flood_becomes_compact_for_this_slot_and_says_so():
    (plan,) = decide(
        policy(max_messages=3),
        KNOWN,
        "2026-03-02T01:00",
        News(fresh=(document(1, "2026-03-02", 1, 2, 3, 4),)),
        [YESTERDAY],
    )
    assert (plan.layout, plan.detail["flood"], plan.detail["compact"]) == (Layout.COMPACT, True, True)
    assert len(shown(plan)) == 5


@pytest.mark.parametrize(
    ("chosen", "posted", "compact"),
    [
        (Layout.CHANNEL, Layout.CHANNEL, False),
        (Layout.THREAD, Layout.THREAD, False),
        (Layout.COMPACT, Layout.THREAD, True),
    ],
)
def test_a_layout_says_where_the_entries_go_and_what_the_root_is(chosen, posted, compact):
    news = News(fresh=(document(1, "2026-03-02", 1, 2),))
    (plan,) = decide(policy(layout=chosen), KNOWN, "2026-03-02T01:00", news, [YESTERDAY])
    assert (plan.layout, plan.detail["flood"], plan.detail["compact"]) == (posted, False, compact)


def test_a_policy_chooses_by_repository_and_topic():
    news = News(
        fresh=(
            document(
                1,
                "2026-03-02",
                candidate(1, body="moves ROCm kernels"),
                candidate(2, body="someone"),
                candidate(3, repo="sgl-project/sglang", body="rocm"),
                candidate(4, topics=("rocm",)),
                candidate(5, body="支持投机解码"),
                candidate(6, topics=("RLHF",)),
            ),
        )
    )

    def chosen(**wanted):
        (plan,) = decide(policy(wanted=Wanted(**wanted)), KNOWN, "2026-03-02T01:00", news, [YESTERDAY])
        return shown(plan)[1:]

    assert chosen(repos=("vllm",), topics=("rocm",)) == ["entry:1", "entry:4"]
    assert chosen(repos=("sgl-project/*",)) == ["entry:3"]
    assert chosen(topics=("rlhf",)) == chosen(topics=("RLHF",)) == ["entry:6"]
    assert chosen(not_repos=("VLLM-project/vllm",)) == ["entry:3"]
    assert chosen(topics=("moe",)) == []
    assert chosen(topics=("投机解码",)) == ["entry:5"]
    assert chosen(topics=("rocm",), not_topics=("kernels",)) == ["entry:3", "entry:4"]
    assert "entry:6" not in chosen(not_topics=("rlhf",))


def test_a_slot_asked_for_now_is_named_by_the_second():
    slot = slot_for_now(policy(), at("2026-03-02T07:08:09"))
    assert (slot.local_date, slot.name) == (date(2026, 3, 2), "15:08:09")
    plan = plan_slot(policy(), KNOWN, slot, News(fresh=(document(1, "2026-03-02", 1),)), Matcher())
    assert shown(plan)[0] == "slot:2026-03-02/15:08:09"


def test_both_days_of_change_in_berlin_owe_one_delivery():
    night = policy(times=("02:30",), zone="Europe/Berlin")
    for day in ("2026-03-29", "2026-10-25"):
        before = recorded(night, "2026-03-28", "02:30", f"{day}T00:00")
        done = [before]
        for minute in range(0, 240, 7):
            now = f"{day}T{minute // 60:02}:{minute % 60:02}"
            plans = decide(night, KNOWN, now, recorded=done)
            done.extend(RecordedSlot(id=9, slot=plan.slot, state=plan.state) for plan in plans)
        assert [one.slot.local_date.isoformat() for one in done[1:]] == [day]


def test_a_thousand_channels_with_five_hundred_candidates_take_less_than_a_second():
    zone = ZoneInfo("Asia/Shanghai")
    fresh = (document(1, "2026-03-02", *(candidate(n, body="rocm kernel " * 20) for n in range(500))),)
    news = News(fresh=fresh)
    words = ("rocm", "kernel", "moe", "fp8", "router")
    channels = [Channel(team_id="T1", channel_id=f"C{n}") for n in range(1000)]
    policies = [
        replace(
            policy(one, max_messages=600, wanted=Wanted(repos=("vllm",), topics=(words[n % 5], words[n % 3]))),
            schedule=Schedule(times=policy().schedule.times, zone=zone),
        )
        for n, one in enumerate(channels)
    ]
    matcher = Matcher()
    began = stopwatch.process_time()
    owed = 0
    for one in policies:
        state = replace(KNOWN, channel=one.channel)
        due = openings(one, state, (YESTERDAY,), at("2026-03-02T01:00"))
        owed += sum(len(plan.drafts) for plan in plan_channel(one, state, due, news, matcher))
    seconds = stopwatch.process_time() - began
    assert owed > 300_000
    assert seconds < 1.0
