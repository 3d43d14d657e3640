"""The three layouts, a flood and many earlier days, as the workspace holds them; and the preview, which says so before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import cli
from bot.workspace.clicks import act_on_message
from tests.e2e.support import (
    FIRST,
    FIRST_ITEMS,
    Item,
    assert_entry,
    digest,
    eventually,
    first_line,
    links,
    plain,
    shanghai,
)

MONDAY = "2026-11-30"


def many(count: int, title: str = "第 {} 条：调度器在抢占之后归还预算") -> list[Item]:
    return [Item(title.format(n), f"值得精读。它只动第 {n} 处，别的都不变。") for n in range(1, count + 1)]


def menu(message) -> tuple[str, dict]:
    """The block and the select of a message."""
    (row,) = [block for block in message["blocks"] if block["type"] == "actions"]
    (select,) = row["elements"]
    return row["block_id"], select


def choose(morning, message, option) -> str:
    """Choose an entry in the menu as a reader; give the words of the modal that opens."""
    morning.bot.front.start()
    block_id, select = menu(message)
    where = (morning.channel.channel_id, message["ts"], block_id, select["action_id"])
    morning.workspace.act("reader", lambda person: act_on_message(person, *where, option["value"]))
    shown = eventually(lambda: morning.workspace.act("reader", opened), what="a modal")[-1]
    return json.dumps(shown.document["blocks"], ensure_ascii=False)


def opened(person):
    return person.workspace.modals.stack(person.user)


def test_in_the_thread_layout_the_entries_answer_the_root_and_are_never_broadcast(make_morning):
    morning = make_morning(f"{MONDAY} 08:00")
    morning.start(layout="thread")
    morning.drop(FIRST.name, FIRST)
    morning.at(f"{MONDAY} 09:00")
    morning.at(f"{MONDAY} 09:01")
    (root,) = morning.channel.messages()
    thread = morning.channel.replies(root["ts"])
    for message, item in zip(thread, FIRST_ITEMS, strict=True):
        assert_entry(message, item)
        assert message["thread_ts"] == root["ts"]
        assert message.get("subtype") != "thread_broadcast"
    assert links(root["blocks"]) == [morning.channel.permalink(one["ts"]) for one in thread]
    assert "actions" not in [block["type"] for block in root["blocks"]]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_in_the_compact_layout_the_details_are_in_a_modal_and_in_the_thread(make_morning, language):
    morning = make_morning(f"{MONDAY} 08:00")
    morning.start(layout="compact", language=language)
    morning.drop(FIRST.name, FIRST)
    morning.at(f"{MONDAY} 09:00")
    morning.at(f"{MONDAY} 09:01")
    (root,) = morning.channel.messages()
    thread = morning.channel.replies(root["ts"])
    assert [first_line(one) for one in thread] == [item.title for item in FIRST_ITEMS]
    assert not any(one.get("subtype") == "thread_broadcast" for one in thread)
    assert links(root["blocks"]) == [morning.channel.permalink(one["ts"]) for one in thread]
    lines = [line for line in plain(root).split("\n") if line[:1].isdigit() and ". " in line]
    assert len(lines) == len(FIRST_ITEMS), "one line an entry"
    _, select = menu(root)
    assert len(select["options"]) == len(FIRST_ITEMS)
    assert FIRST_ITEMS[3].title in choose(morning, root, select["options"][3])


@pytest.mark.parametrize("layout", ["channel", "thread", "compact"])
def test_more_entries_than_a_slot_takes_are_one_message_that_counts_and_opens_them(make_morning, layout):
    morning = make_morning(f"{MONDAY} 08:00")
    morning.start(layout=layout)
    items = many(40)
    morning.drop("today.txt", digest(*items))
    for minute in range(3):
        morning.at(f"{MONDAY} 09:{minute:02}")
    (root,) = morning.channel.messages()
    assert morning.channel.replies(root["ts"]) == []
    said = plain(root).split("\n")
    assert "条数多，这次合成一条消息。" in said
    assert "还有 10 条" in said
    assert items[29].title in plain(root)
    assert items[30].title not in plain(root)
    _, select = menu(root)
    assert len(select["options"]) == 40
    assert items[39].body[5:] in choose(morning, root, select["options"][39])


@pytest.mark.parametrize("title", ["第 {} 条：一个不长不短的标题", "字" * 300 + "{}", "&<>" * 60 + "{}"])
def test_thousands_of_entries_at_once_are_one_valid_message(make_morning, title):
    morning = make_morning(f"{MONDAY} 08:00")
    morning.start()
    items = many(2_734, title)
    # Every third stands in two editions: numbers without end, if they were all named.
    morning.drop("2026-11-29.txt", digest(*items))
    morning.drop("2026-11-30.txt", digest(*items[::3]))
    morning.at(f"{MONDAY} 09:00")
    (root,) = morning.channel.messages()
    assert "还有 " in plain(root)
    assert len(menu(root)[1]["options"]) >= 15
    assert morning.ops.messages() == []
    assert len(morning.bot.delivery.status().held) == 0


def test_entries_of_many_earlier_days_are_named_by_day_or_counted(make_morning):
    morning = make_morning("2026-11-02 08:00")
    morning.start()
    days = [f"2026-11-{day:02}" for day in (2, 3, 4, 5, 6, 9, 10, 11)]
    told = {day: many(3, f"{day} 的第 {{}} 条") for day in days}
    for day in days:
        morning.drop(f"{day}.txt", digest(*told[day]))
        morning.at(f"{day} 09:00")
    everything = [item for day in days for item in told[day]]
    morning.drop("2026-11-12.txt", digest(*everything, Item("新的一条", "值得精读。只有它是新的。")))
    morning.at("2026-11-12 09:00")
    root, entry = morning.channel.messages()[-2:]
    assert first_line(entry) == "新的一条"
    said = plain(root)
    assert "另 9 条在更早的导读里发过，不再重发。" in said
    assert [day for day in days if f"{day} 的第 1 条" in said] == days[-5:]
    assert said.count("已在") == 5


@pytest.mark.parametrize("layout", ["channel", "thread", "compact"])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_preview_is_what_is_then_posted(make_morning, tmp_path, layout, language):
    digest_file = tmp_path / f"{MONDAY}.txt"
    digest_file.write_bytes(FIRST.read_bytes())
    morning = make_morning(f"{MONDAY} 08:00")
    morning.start(layout=layout, language=language)
    config = morning.folder / "config.yaml"
    before = preview(digest_file, config)
    morning.drop(digest_file.name, digest_file)
    morning.clock.set(shanghai(f"{MONDAY} 09:00"))
    morning.bot.ingest()
    for _ in range(5):
        morning.bot.deliver()  # and no update yet: links come into the root when its entries stand
    root, *entries = morning.channel.messages()
    posted = [root, *entries, *morning.channel.replies(root["ts"])]
    promised = [message for one in before for message in (one, *one["thread"])]
    assert [bare(one) for one in posted] == [bare(one) for one in promised]


def preview(file: Path, config: Path) -> list[dict]:
    words = ["preview", str(file), "--format", "blocks", "--config", str(config)]
    answer = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


def bare(message) -> dict:
    """Text and blocks, without the ids that Slack gives to blocks."""
    blocks = [{key: value for key, value in block.items() if key != "block_id"} for block in message["blocks"]]
    return {"text": message["text"], "blocks": blocks}
