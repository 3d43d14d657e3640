"""Where each reported fault of the groups A, B and D is a test.

Group A: duplicates, state, order, isolation
    1   unit/delivery/test_reported_faults.py::test_a1_a_restart_posts_nothing_that_stands_already
    2   unit/delivery/test_reported_faults.py::test_a2_a_first_run_over_ninety_digests_posts_the_newest_that_fit
    2   e2e/test_mornings.py::test_ninety_files_before_the_first_morning_give_the_newest_whole_editions_up_to_twenty
    3   unit/delivery/test_reported_faults.py::test_a3_an_edited_entry_is_changed_in_place_and_never_posted_again
    3   e2e/test_mornings.py::test_an_edited_file_posts_nothing_anew_and_changes_the_message_where_it_stands
    5   unit/delivery/test_reported_faults.py::test_a5_the_channel_keeps_file_order_under_a_throttle
    6   e2e/test_mornings.py::test_a_broken_file_is_set_aside_with_its_line_and_delivered_next_when_it_is_mended
    7   unit/delivery/test_reported_faults.py::test_a7_a_message_whose_answer_was_lost_stands_once_and_its_ts_is_learnt
    7   e2e/test_promise_reconcile.py::test_a_message_that_slack_took_before_the_line_dropped_is_found_behind_two_pages_of_talk
    8   unit/delivery/test_reported_faults.py::test_a8_throttled_then_killed_nothing_is_repeated_and_nothing_is_left_out
Group B: scheduling
    10  unit/delivery/test_reported_faults.py::test_b10_asleep_until_twenty_to_ten_posts_once_and_says_it_is_late
    10  unit/delivery/test_reported_faults.py::test_b10_a_clock_that_jumps_back_and_forth_delivers_once
    10  e2e/test_mornings.py::test_a_slot_missed_beyond_its_window_is_passed_with_one_warning_and_its_entries_join_the_next
    11  unit/delivery/test_reported_faults.py::test_b11_half_past_two_in_berlin_delivers_once_on_a_day_of_change
    11  e2e/test_promise_time.py::test_half_past_two_in_berlin_comes_once_on_both_days_of_change
    12  unit/config/test_config.py::test_a_crontab_line_means_what_cron_means
    12  e2e/test_promise_time.py::test_a_crontab_line_from_one_to_five_is_monday_to_friday
    13  unit/delivery/test_reported_faults.py::test_b13_four_processes_on_one_ledger_send_one_set
    13  e2e/test_processes.py::test_two_replicas_on_one_database_make_one_set_of_posts
    15  unit/delivery/test_reported_faults.py::test_b15_a_slack_that_never_answers_ends_within_the_time_budget_and_the_next_slot_runs
    15  e2e/test_promise_policy_and_storage.py::test_a_slack_that_never_answers_ends_in_its_time_and_the_next_slot_runs
    15  e2e/test_promise_loud.py::test_a_tick_that_hangs_is_counted_and_told_and_the_next_slot_still_runs
    16  unit/delivery/test_reported_faults.py::test_b16_nine_in_shanghai_is_one_in_utc
    16  e2e/test_promise_reported_faults.py::test_b16_a_zone_that_does_not_exist_is_refused_and_the_machines_zone_does_not_matter
Group D: Slack runtime
    28  unit/slack/test_slack_listeners.py::test_the_ack_does_not_wait_for_the_work
    29  unit/slack/test_slack_http.py::test_eight_slow_commands_are_acked_in_time
    29  unit/slack/test_slack_listeners.py::test_forty_slow_commands_at_once_are_all_acked_in_time
    29  unit/slack/test_slack_work.py::test_a_task_that_is_stuck_is_seen
    30  unit/slack/test_slack_sharing.py::test_a_mention_is_answered_once_in_its_thread
    30  unit/slack/test_slack_listeners.py::test_an_edit_of_a_mention_and_the_words_of_bots_are_left_alone
    32  unit/delivery/test_reported_faults.py::test_d32_a_private_channel_without_the_bot_stops_no_other_and_keeps_its_entries
    32  e2e/test_promise_outcomes.py::test_a_channel_that_refuses_holds_itself_only_says_what_to_do_and_goes_on_by_itself
    33  unit/delivery/test_reported_faults.py::test_d33_a_token_that_dies_on_the_second_of_five_leaves_the_others_pending_and_is_asked_once_an_interval
    33  e2e/test_promise_outcomes.py::test_a_dead_token_stops_all_sending_is_said_once_and_is_asked_once_an_interval
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.config import parse
from bot.errors import ConfigError

TESTS = Path(__file__).parents[1]
TABLE = re.findall(r"^ +(\d+) +(\S+)::(\w+)$", __doc__ or "", re.MULTILINE)
HANDED = {1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 15, 16, 28, 29, 30, 32, 33}


@pytest.mark.parametrize(("number", "path", "name"), TABLE)
def test_the_table_names_tests_that_exist(number, path, name):
    assert f"def {name}(" in (TESTS / path).read_text("utf-8"), f"fault {number}"


def test_every_fault_that_was_handed_over_has_a_test():
    assert {int(number) for number, _path, _name in TABLE} == HANDED


def test_b16_a_zone_that_does_not_exist_is_refused_and_the_machines_zone_does_not_matter(monkeypatch, make_team):
    with pytest.raises(ConfigError, match="Asia/Shanghai"):
        parse('channels: [{channel: "#a", schedule: {at: "09:00", timezone: Asia/Shangai}}]')
    monkeypatch.setenv("TZ", "America/New_York")
    team = make_team("2026-11-30 08:00")
    team.begin()
    team.drop("a.txt", "acme/widgets\n\nItem 1\n\n值得精读。It moves.\n")
    team.at("2026-11-30 08:59")
    assert team.titles() == []
    team.at("2026-11-30 09:00")
    assert team.titles() == ["Item 1"]
    assert team.clock.now().hour == 1
