"""New versions of a file that was delivered: what changes where it stands, what is said, and what is left alone."""

from __future__ import annotations

import pytest
from slack_sdk.errors import SlackApiError

from bot.model import DeliveryState
from bot.workspace.faults import Fault, FaultKind
from tests.e2e.support import Item, digest, first_line, links, plain

MONDAY, TUESDAY = "2026-11-30", "2026-12-01"
LONG = "调度器在抢占之后不归还预算，新请求因此一直等待，直到旧请求结束。" * 6
ONE = Item("修复调度器死锁", f"值得精读。锁的順序反了，所以两个线程互相等待。{LONG}")
TWO = Item("Faster startup", "建议阅读。It loads less than before, and later.")
THREE = Item("Smaller images", "建议阅读。The build leaves its tools behind.")
TYPO = ONE._replace(body=ONE.body.replace("順序", "顺序"))
OTHER_VERDICT = ONE._replace(body=ONE.body.replace("值得精读", "建议阅读"))
OTHER_TEXT = ONE._replace(body="值得精读。锁不再需要：队列只由一个线程使用，其余的线程交给它消息。" + LONG[:60])
OTHER_TITLE = ONE._replace(title="修复调度器在抢占后的死锁")


@pytest.fixture
def deliver(make_morning):
    """Deliver three entries on Monday at nine; give the morning and the messages."""

    def delivered(database=None, **style):
        morning = make_morning(f"{MONDAY} 08:00", database)
        morning.start(**style)
        morning.drop("today.txt", digest(ONE, TWO, THREE))
        morning.at(f"{MONDAY} 09:00")
        morning.at(f"{MONDAY} 09:01")
        root, *entries = morning.channel.messages()
        if style.get("layout") in ("thread", "compact"):
            entries = morning.channel.replies(root["ts"])
        assert [first_line(one) for one in entries] == [ONE.title, TWO.title, THREE.title]
        return morning, root, entries

    return delivered


def change(morning, *entries, ticks=3):
    """A new version of the file at eleven, and time enough for all that follows from it."""
    morning.drop("today.txt", digest(*entries))
    for minute in range(ticks):
        morning.at(f"{MONDAY} 11:{minute:02}")


def posted(morning) -> int:
    return len(morning.workspace.calls(method="chat.postMessage"))


def changed(morning) -> list[str]:
    return [one["ts"] for one in morning.workspace.calls(method="chat.update")]


@pytest.mark.parametrize(
    ("language", "note"), [("zh", "11月30日 11:00 更新：正文有改动"), ("en", "Updated 30 Nov 11:00: text changed")]
)
def test_a_typo_is_mended_in_place_with_a_note_and_without_a_word_in_the_thread(deliver, database_url, language, note):
    morning, root, entries = deliver(database_url, language=language)
    before = posted(morning)

    change(morning, TYPO, TWO, THREE)

    now = morning.channel.messages()
    assert [one["ts"] for one in now] == [root["ts"], *(one["ts"] for one in entries)]
    assert TYPO.body in plain(now[1])
    assert "順序" not in plain(now[1])
    assert plain(now[1]).endswith("\n" + note)
    assert [block["type"] for block in now[1]["blocks"]] == ["rich_text", "context"]
    assert [plain(one) for one in now[2:]] == [plain(one) for one in entries[1:]]
    assert morning.channel.replies(entries[0]["ts"]) == []
    assert posted(morning) == before


def test_another_verdict_is_told_in_one_line_of_the_thread_and_in_the_root(deliver, database_url):
    morning, root, entries = deliver(database_url)
    assert "3 条：精读 1 · 建议 2" in plain(root)

    change(morning, OTHER_VERDICT, TWO, THREE)

    now = morning.channel.messages()
    assert len(now) == 4
    assert OTHER_VERDICT.body in plain(now[1])
    assert [plain(one) for one in morning.channel.replies(entries[0]["ts"])] == ["评价有变：精读 → 建议"]
    assert "3 条，都建议阅读" in plain(now[0])
    assert all(morning.channel.replies(one["ts"]) == [] for one in entries[1:])


def test_a_verdict_that_comes_or_goes_is_told_too(deliver):
    morning, _, entries = deliver()
    change(morning, ONE._replace(body=ONE.body.removeprefix("值得精读。")), TWO, THREE)
    assert [plain(one) for one in morning.channel.replies(entries[0]["ts"])] == ["评价有变：精读 → 未评"]
    morning.drop("today.txt", digest(ONE, TWO, THREE))
    for minute in range(3):
        morning.at(f"{MONDAY} 13:{minute:02}")
    told = [plain(one) for one in morning.channel.replies(entries[0]["ts"])]
    assert told == ["评价有变：精读 → 未评", "评价有变：未评 → 精读"]


def test_more_than_a_tenth_of_new_text_is_told_in_one_line_of_the_thread(deliver, database_url):
    morning, _, entries = deliver(database_url)
    change(morning, OTHER_TEXT, TWO, THREE)
    assert [plain(one) for one in morning.channel.replies(entries[0]["ts"])] == ["正文有较大改动。"]
    assert OTHER_TEXT.body in plain(morning.channel.messages()[1])
    # A typo after it adds nothing to the thread.
    morning.drop("today.txt", digest(OTHER_TEXT._replace(body=OTHER_TEXT.body.replace("其余的", "其他的")), TWO, THREE))
    for minute in range(3):
        morning.at(f"{MONDAY} 13:{minute:02}")
    assert "其他的" in plain(morning.channel.messages()[1])
    assert len(morning.channel.replies(entries[0]["ts"])) == 1


@pytest.mark.parametrize("layout", ["thread", "compact"])
@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("zh", ["修复调度器死锁 · 正文有较大改动。", "Faster startup · 评价有变：建议 → 速读"]),
        (
            "en",
            [
                "修复调度器死锁 · Much of the text has changed.",
                "Faster startup · Rating changed: Recommended → Skim",
            ],
        ),
    ],
)
def test_in_a_thread_of_several_entries_the_line_names_the_one_that_has_changed(deliver, layout, language, told):
    morning, root, entries = deliver(layout=layout, language=language)
    two = TWO._replace(body=TWO.body.replace("建议阅读", "值得快速阅读"))
    change(morning, OTHER_TEXT, two, THREE)
    said = morning.channel.replies(root["ts"])[len(entries) :]
    assert sorted(map(plain, said)) == sorted(told)
    places = [links(one["blocks"]) for one in sorted(said, key=plain, reverse=True)]
    expected = [[morning.channel.permalink(one["ts"])] for one in entries[:2]]
    assert places == expected


def test_a_changed_title_also_changes_the_root_s_line_and_keeps_its_link(deliver, database_url):
    morning, root, entries = deliver(database_url)
    change(morning, OTHER_TITLE, TWO, THREE)
    now = morning.channel.messages()
    assert [one["ts"] for one in now] == [root["ts"], *(one["ts"] for one in entries)]
    assert first_line(now[1]) == OTHER_TITLE.title
    assert "标题有改动" in plain(now[1])
    lines = plain(now[0]).split("\n")
    assert any(line.endswith(OTHER_TITLE.title) for line in lines)
    assert not any(line.endswith(ONE.title) for line in lines)
    assert links(now[0]["blocks"]) == [morning.channel.permalink(one["ts"]) for one in entries]
    assert morning.channel.replies(entries[0]["ts"]) == []


def test_a_deleted_message_stays_deleted(deliver, database_url):
    morning, root, entries = deliver(database_url)
    morning.channel.client.chat_delete(channel=morning.channel.channel_id, ts=entries[0]["ts"])
    before = posted(morning)

    change(morning, TYPO, TWO, THREE, ticks=5)
    morning.at(f"{TUESDAY} 09:00")

    assert [one["ts"] for one in morning.channel.messages()] == [root["ts"], *(one["ts"] for one in entries[1:])]
    assert posted(morning) == before
    assert morning.ops.messages() == [], "somebody wanted it gone: nobody is to be told"
    asked = changed(morning).count(entries[0]["ts"])
    # Later versions do not ask again.
    morning.drop("today.txt", digest(TYPO._replace(body=TYPO.body + "完。"), TWO, THREE))
    for minute in range(5):
        morning.at(f"{TUESDAY} 11:{minute:02}")
    assert changed(morning).count(entries[0]["ts"]) == asked <= 1


def test_an_entry_that_vanishes_from_a_new_version_stays_as_it_was_posted(deliver, database_url):
    morning, root, entries = deliver(database_url)
    before = posted(morning), changed(morning)
    change(morning, ONE, THREE)
    morning.at(f"{TUESDAY} 09:00")
    now = morning.channel.messages()
    assert [one["ts"] for one in now] == [root["ts"], *(one["ts"] for one in entries)]
    assert plain(now[2]) == plain(entries[1])
    assert TWO.title in plain(now[0])
    assert (posted(morning), changed(morning)) == before


@pytest.mark.parametrize("layout", ["thread", "compact"])
def test_in_the_other_layouts_the_message_in_the_thread_changes_and_the_line_follows_it(deliver, layout):
    morning, root, entries = deliver(layout=layout)
    change(morning, OTHER_VERDICT._replace(title=OTHER_TITLE.title), TWO, THREE)
    (now,) = morning.channel.messages()
    assert now["ts"] == root["ts"]
    assert OTHER_TITLE.title in plain(now)
    thread = morning.channel.replies(root["ts"])
    assert [one["ts"] for one in thread[:3]] == [one["ts"] for one in entries]
    assert first_line(thread[0]) == OTHER_TITLE.title
    assert "标题和正文有改动" in plain(thread[0])
    assert [plain(one) for one in thread[3:]] == [f"{OTHER_TITLE.title} · 评价有变：精读 → 建议"]
    assert not any(one.get("subtype") == "thread_broadcast" for one in thread)


FAULTS = [
    FaultKind.DROP_BEFORE,
    FaultKind.DROP_AFTER,
    FaultKind.RESET_AFTER,
    FaultKind.STATUS_BEFORE,
    FaultKind.STATUS_AFTER,
    FaultKind.RATE_LIMITED,
    FaultKind.ERROR_AFTER,
    FaultKind.NOT_JSON_AFTER,
]


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("method", ["chat.update", "chat.postMessage"])
def test_edits_keep_the_promise_whatever_becomes_of_one_call(deliver, kind, method):
    morning, root, entries = deliver()
    morning.workspace.add_fault(Fault(kind=kind, method=method, seconds=1))

    change(morning, OTHER_VERDICT, TWO, THREE, ticks=8)

    now = morning.channel.messages()
    assert [one["ts"] for one in now] == [root["ts"], *(one["ts"] for one in entries)]
    assert OTHER_VERDICT.body in plain(now[1])
    assert "3 条，都建议阅读" in plain(now[0])
    assert [plain(one) for one in morning.channel.replies(entries[0]["ts"])] == ["评价有变：精读 → 建议"]
    assert set(morning.bot.delivery.status().by_state) == {DeliveryState.SENT}


def test_a_bot_that_dies_between_plan_and_change_makes_the_change_when_it_is_back(deliver, database_url):
    morning, _, entries = deliver(database_url)
    morning.workspace.add_fault(Fault(kind=FaultKind.DROP_BEFORE, method="chat.update", times=None))
    change(morning, OTHER_VERDICT, TWO, THREE, ticks=1)
    morning.stop()
    morning.workspace.clear_faults()
    morning.start()
    for minute in range(30, 36):
        morning.at(f"{MONDAY} 11:{minute:02}")
    assert OTHER_VERDICT.body in plain(morning.channel.messages()[1])
    assert len(morning.channel.replies(entries[0]["ts"])) == 1


def test_nothing_is_said_in_a_thread_whose_message_was_deleted(deliver):
    morning, _, entries = deliver()
    morning.channel.client.chat_delete(channel=morning.channel.channel_id, ts=entries[0]["ts"])
    change(morning, OTHER_VERDICT, TWO, THREE, ticks=5)
    assert len(morning.channel.messages()) == 3
    with pytest.raises(SlackApiError, match="thread_not_found"):
        morning.channel.replies(entries[0]["ts"])
