"""Mornings on a moved clock: what each 09:00 in Shanghai brings, and what a bad night changes."""

from __future__ import annotations

import os

import pytest

from bot.model import DeliveryState
from bot.workspace.faults import Fault, FaultKind
from tests.e2e.support import (
    ALL_ITEMS,
    FIRST,
    FIRST_ITEMS,
    ONLY_SECOND,
    SECOND,
    SECOND_ITEMS,
    SHARED,
    Item,
    assert_digest,
    digest,
    eventually,
    first_line,
    links,
    plain,
)

MONDAY, TUESDAY = "2026-11-30", "2026-12-01"


def two_mornings(morning, first, second):
    morning.start()
    morning.drop(first.name, first)
    morning.at(f"{MONDAY} 08:59")
    assert morning.channel.messages() == [], "nothing comes before its hour"
    morning.at(f"{MONDAY} 09:00")
    monday = morning.channel.messages()
    morning.at(f"{MONDAY} 17:00")
    morning.drop(second.name, second)
    morning.at(f"{MONDAY} 18:00")
    assert len(morning.channel.messages()) == len(monday), "the second file waits for its slot"
    morning.at(f"{TUESDAY} 09:00")
    tuesday = morning.channel.messages()[len(monday) :]
    morning.at(f"{TUESDAY} 09:30")
    assert len(morning.channel.messages()) == len(monday) + len(tuesday)
    return monday, tuesday


def test_two_mornings_post_each_entry_once_and_the_second_names_what_it_carries_over(make_morning, database_url):
    morning = make_morning(f"{MONDAY} 08:00", database_url)

    monday, tuesday = two_mornings(morning, FIRST, SECOND)

    assert_digest(monday, FIRST_ITEMS)
    assert_digest(tuesday, ONLY_SECOND)
    assert "8 条" in plain(monday[0])
    assert "4 条" in plain(tuesday[0]).split("\n")[1]
    (carried,) = [line for line in plain(tuesday[0]).split("\n") if "已在" in line]
    assert carried.startswith("另 4 条")
    assert "11月30日" in carried
    # "with links to Monday's messages"
    places = {morning.channel.permalink(one["ts"]): one for one in (*monday, *tuesday)}
    back = [places[url] for url in links(tuesday[0]["blocks"]) if places[url] not in tuesday]
    assert back[0] == monday[0], "the day's own root"
    assert [first_line(one) for one in back[1:]] == [item.title for item in SHARED]
    assert all(item.title in plain(tuesday[0]) for item in SHARED)
    # Times: posted at nine in Shanghai, which is one in the morning of UTC.
    assert int(float(monday[0]["ts"])) // 60 * 60 == 1796000400
    assert "原定" not in plain(monday[0])


def test_the_seeds_arriving_the_other_way_round_also_make_twelve(make_morning):
    morning = make_morning(f"{MONDAY} 08:00")

    monday, tuesday = two_mornings(morning, SECOND, FIRST)

    assert_digest(monday, SECOND_ITEMS)
    only_first = [one for one in FIRST_ITEMS if one not in SHARED]
    assert_digest(tuesday, only_first)
    titles = [first_line(one) for one in (*monday[1:], *tuesday[1:])]
    assert sorted(titles) == sorted(item.title for item in ALL_ITEMS)


def test_a_bot_that_was_down_at_nine_and_up_at_nine_forty_delivers_once_and_says_late(make_morning):
    morning = make_morning(f"{MONDAY} 08:00")
    morning.start()
    morning.drop(FIRST.name, FIRST)
    morning.at(f"{MONDAY} 08:10")
    morning.stop()

    morning.clock.set(morning.clock.now().replace(hour=1, minute=40))  # 09:40 in Shanghai
    morning.start()
    morning.tick()
    messages = morning.channel.messages()
    morning.start()
    morning.at(f"{MONDAY} 10:00")

    assert_digest(messages, FIRST_ITEMS)
    assert "原定 09:00，09:40 发出（上海时间）" in plain(messages[0])
    assert len(morning.channel.messages()) == 9


def test_a_slot_missed_beyond_its_window_is_passed_with_one_warning_and_its_entries_join_the_next(make_morning):
    morning = make_morning(f"{MONDAY} 08:00")
    morning.start()
    morning.drop(FIRST.name, FIRST)
    morning.at(f"{MONDAY} 08:10")
    morning.stop()

    morning.clock.set(morning.clock.now().replace(hour=14, minute=0))  # 22:00, the window is four hours
    morning.start()
    morning.tick()
    morning.tick()
    morning.start()
    morning.tick()
    assert morning.channel.messages() == []
    warnings = [plain(one) for one in morning.ops.messages()]
    assert len(warnings) == 1, warnings
    assert f"{MONDAY} 09:00" in warnings[0]

    morning.drop(SECOND.name, SECOND)
    morning.at(f"{TUESDAY} 09:00")

    assert_digest(morning.channel.messages(), ALL_ITEMS)
    assert len(morning.ops.messages()) == 1


def test_no_digest_comes_on_a_saturday_and_friday_night_waits_for_monday(make_morning):
    morning = make_morning("2026-12-04 20:00")  # a Friday
    morning.start()
    morning.drop(FIRST.name, FIRST)
    morning.at("2026-12-05 09:00")
    morning.at("2026-12-06 09:00")
    assert morning.channel.messages() == []
    morning.at("2026-12-07 09:00")
    assert_digest(morning.channel.messages(), FIRST_ITEMS)
    assert morning.ops.messages() == []


def test_a_broken_file_is_set_aside_with_its_line_and_delivered_next_when_it_is_mended(make_morning):
    morning = make_morning(f"{MONDAY} 08:00")
    morning.start()
    good = [Item("修复调度器死锁", "建议阅读。锁的顺序反了。"), Item("Faster startup", "值得精读。It loads less.")]
    morning.drop("1.txt", digest(good[0]))
    morning.drop("2.txt", "acme/widgets\n\nA title without a paragraph\n")
    morning.drop("3.txt", digest(good[1]))
    morning.at(f"{MONDAY} 09:00")

    assert_digest(morning.channel.messages(), good)
    (told,) = [plain(one) for one in morning.ops.messages()]
    assert "2.txt" in told
    assert "line 3" in told

    mended = Item("A title without a paragraph", "值得精读。Now it has one.")
    morning.drop("2.txt", digest(mended))
    morning.at(f"{MONDAY} 12:00")
    morning.at(f"{TUESDAY} 09:00")
    assert_digest(morning.channel.messages()[3:], [mended])


def test_ninety_files_before_the_first_morning_give_the_newest_whole_editions_up_to_twenty(make_morning):
    morning = make_morning("2026-11-30 08:00")
    bot = morning.start()
    written = {}
    for number in range(90):
        day = f"2026-{6 + number // 30:02}-{1 + number % 30:02}"
        written[day] = [Item(f"Change {day} number {one}", f"值得精读。It moves part {day}-{one}.") for one in range(8)]
        morning.drop(f"{day}.txt", digest(*written[day]))
    morning.at("2026-11-30 09:00")

    messages = morning.channel.messages()

    newest = sorted(written)[-2:]  # 8 and 8 fit into 20, a third edition would not
    assert_digest(messages, [item for day in newest for item in written[day]])
    assert bot.delivery.status().by_state[DeliveryState.SKIPPED] == 88 * 8
    assert "704" in plain(messages[0]), "the root says how many stay behind"
    # What was not posted is still found.
    answer = ask(morning, "/digest 2026-06-01-3")
    assert "Change 2026-06-01 number 3" in answer
    # And a second day brings none of it.
    morning.at("2026-12-01 09:00")
    assert len(morning.channel.messages()) == 17


def ask(morning, line: str) -> str:
    """Type a command as a reader; return what only that reader then sees."""
    morning.bot.front.start()
    channel = morning.channel.channel_id
    before = len(morning.workspace.ephemerals(channel, "reader"))
    morning.workspace.act("reader", lambda person: person.type(channel, line))
    eventually(lambda: len(morning.workspace.ephemerals(channel, "reader")) > before, what="an answer")
    return plain(morning.workspace.ephemerals(channel, "reader")[-1])


def test_one_edition_larger_than_the_limit_is_posted_whole_on_the_first_run(make_morning):
    morning = make_morning(f"{MONDAY} 08:00")
    morning.start(channel="first_run_limit: 5")
    morning.drop(FIRST.name, FIRST)
    morning.at(f"{MONDAY} 09:00")
    assert_digest(morning.channel.messages(), FIRST_ITEMS)


def test_an_edited_file_posts_nothing_anew_and_changes_the_message_where_it_stands(make_morning, database_url):
    morning = make_morning(f"{MONDAY} 08:00", database_url)
    morning.start()
    before = Item("修复调度器死锁", "值得精读。锁的順序反了，所以两个线程互相等待。")
    other = Item("Faster startup", "建议阅读。It loads less.")
    morning.drop("today.txt", digest(before, other))
    morning.at(f"{MONDAY} 09:00")
    posted = morning.channel.messages()

    after = before._replace(body=before.body.replace("順序", "顺序"))
    morning.drop("today.txt", digest(after, other))
    morning.at(f"{MONDAY} 11:00")
    morning.at(f"{MONDAY} 11:01")
    morning.at(f"{TUESDAY} 09:00")

    now = morning.channel.messages()
    assert [one["ts"] for one in now] == [one["ts"] for one in posted]
    assert after.body in plain(now[1])
    assert "更新" in plain(now[1])
    assert plain(now[2]) == plain(posted[2])
    assert len(morning.workspace.calls(method="chat.postMessage")) == 3
    root = posted[0]["ts"]  # it may gain links to its entries
    changed = [one["ts"] for one in morning.workspace.calls(method="chat.update") if one["ts"] != root]
    assert changed == [posted[1]["ts"]]


def test_a_half_written_file_waits_until_it_is_whole(make_morning):
    morning = make_morning(f"{MONDAY} 08:00")
    morning.start()
    whole = FIRST.read_bytes()
    path = morning.drop(FIRST.name, whole[: len(whole) // 2])
    now = morning.clock.seconds()
    os.utime(path, (now, now))  # somebody is writing it at this moment
    morning.tick()
    path.write_bytes(whole)
    now = morning.clock.seconds()
    os.utime(path, (now + 0.5, now + 0.5))
    morning.tick()
    morning.drop("unfinished.txt.part", whole)
    morning.drop(".hidden.txt", whole)
    morning.at(f"{MONDAY} 08:01")
    morning.at(f"{MONDAY} 09:00")
    assert_digest(morning.channel.messages(), FIRST_ITEMS)
    assert morning.ops.messages() == [], "half a file was never read, so nobody heard of it"


@pytest.mark.parametrize(
    ("data", "entries"),
    [
        (FIRST.read_bytes().replace(b"\n", b"\r\n"), FIRST_ITEMS),
        (b"\xef\xbb\xbf" + FIRST.read_bytes().replace(b"\n", b"\r\n"), FIRST_ITEMS),
    ],
    ids=["CR LF", "byte order mark and CR LF"],
)
def test_the_same_digest_in_other_line_ends_is_the_same_digest(make_morning, data, entries):
    morning = make_morning(f"{MONDAY} 08:00")
    morning.start()
    morning.drop("a.txt", FIRST)
    morning.at(f"{MONDAY} 09:00")
    morning.drop("b.txt", data)
    morning.at(f"{TUESDAY} 09:00")
    assert_digest(morning.channel.messages(), entries)


def test_a_message_whose_answer_is_lost_stands_once_and_the_order_is_kept(make_morning, database_url):
    morning = make_morning(f"{MONDAY} 08:00", database_url)
    morning.start()
    morning.drop(FIRST.name, FIRST)
    morning.workspace.add_fault(Fault(kind=FaultKind.DROP_AFTER, skip=2))
    morning.workspace.add_fault(Fault(kind=FaultKind.RATE_LIMITED, skip=4, seconds=1))
    morning.at(f"{MONDAY} 09:00")
    for minute in range(1, 6):
        morning.at(f"{MONDAY} 09:{minute:02}")
    assert_digest(morning.channel.messages(), FIRST_ITEMS)
    assert set(morning.bot.delivery.status().by_state) == {DeliveryState.SENT}


@pytest.mark.parametrize(("layout", "roots", "replies"), [("thread", 1, 8), ("compact", 1, 8)])
def test_the_other_layouts_take_one_line_of_the_channel(make_morning, layout, roots, replies):
    morning = make_morning(f"{MONDAY} 08:00")
    morning.start(layout=layout)
    morning.drop(FIRST.name, FIRST)
    morning.at(f"{MONDAY} 09:00")
    messages = morning.channel.messages()
    assert len(messages) == roots
    assert [first_line(one) for one in morning.channel.replies(messages[0]["ts"])] == [
        item.title for item in FIRST_ITEMS[:replies]
    ]
    assert all(item.title in plain(messages[0]) for item in FIRST_ITEMS)
    morning.at(f"{MONDAY} 10:00")
    assert len(morning.channel.messages()) == roots
