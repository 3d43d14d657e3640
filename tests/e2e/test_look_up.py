"""Look-up as readers meet it: from every door, in every channel, with whatever they type."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

from bot.errors import StorageUnavailable
from bot.render import actions
from bot.slack.manifest import manifest
from bot.storage.search_reindex import outdated
from bot.storage.search_store import SearchStore
from tests.e2e.promise import NINE, Team, items, numbered
from tests.e2e.support import digest, eventually, links, plain
from tests.unit.slack.harness import Hand

DAY = "2026-11-30"
SECRET = digest(("Phoenix core", "值得精读。The machine of phoenix learns to fly."), repo="acme/phoenix")
OPEN = digest(("Plain core", "值得精读。The machine of everybody."), repo="acme/widgets")


@pytest.fixture
def team(make_team) -> Team:
    return make_team(f"{DAY} 08:00")


def begin(team: Team, search: str = "", *, files: dict[str, str]) -> Hand:
    """A bot that has delivered the files and answers; the hand of a reader."""
    team.workspace.install(manifest())
    bot = team.begin(NINE + search)
    for name, text in files.items():
        team.drop(name, text)
    team.at(f"{DAY} 09:00")
    bot.front.start()
    return Hand(team.workspace)


def ask(hand: Hand, channel: str, text: str) -> dict[str, Any]:
    """What the reader alone is shown for a command."""
    before = len(hand.whispers(channel))
    hand.type(channel, f"/digest {text}".strip())
    return eventually(lambda: hand.whispers(channel)[before:], what=f"the answer to {text}")[0]


def titles(answer: dict[str, Any]) -> list[str]:
    return re.findall(r"Item \d+(?= ·)", plain(answer))


# --- who finds what ---------------------------------------------------------------------------------------------------


CONFINED = 'search: {confined: {acme/phoenix: ["#vllm-digest"]}}\n'


@pytest.fixture
def confined(team) -> tuple[Hand, str, str]:
    hand = begin(team, CONFINED, files={"a.txt": SECRET, "b.txt": OPEN})
    return hand, team.channel.channel_id, team.ops.channel_id


@pytest.mark.parametrize(
    "text", ["machine", "phoenix", "repo:phoenix", "acme machine", "-plain", "phenix", "today", ""]
)
def test_a_confined_repository_is_found_by_command_only_from_its_channel(confined, text):
    hand, inside, outside = confined
    assert "Phoenix core" not in plain(ask(hand, outside, text))
    if text != "phenix":
        assert "Phoenix core" in plain(ask(hand, inside, text))


def test_a_confined_repository_is_not_found_in_modals_home_or_direct_messages(confined, team):
    hand, _inside, _outside = confined
    hand.shortcut(actions.SEARCH_SHORTCUT)
    form = hand.modal("search_input")
    hand.submit(form, **{actions.SEARCH_BLOCK: {actions.SEARCH_INPUT: "machine"}})
    assert "Phoenix core" not in str(hand.modal("Plain core"))
    hand.close_modals()
    direct = team.workspace.act(
        "reader",
        lambda person: person.workspace.store.open_im(
            person.user, person.workspace.store.bot_user, person.workspace.clock()
        ),
    ).id
    assert "Phoenix core" not in plain(ask(hand, direct, "machine"))


def test_a_mention_answers_in_its_thread_with_what_that_channel_may_find(confined, team):
    hand, inside, outside = confined
    for channel, found in ((inside, True), (outside, False)):
        ts = hand.type(channel, "@digest-bot machine")

        def answers(channel=channel, ts=ts):
            return [one for one in team.workspace.messages(channel) if one.get("thread_ts") == ts and one["ts"] != ts]

        (answer,) = eventually(answers, what="the answer in the thread")
        assert "Plain core" in plain(answer)
        assert ("Phoenix core" in plain(answer)) is found
    within = team.channel.replies(hand_thread(team, hand, inside))
    assert len(within) == 2, "a mention within a thread is answered in that thread"


def hand_thread(team: Team, hand: Hand, channel: str) -> str:
    root = hand.type(channel, "What was that machine?")
    hand.type(channel, "@digest-bot machine", thread_ts=root)
    eventually(lambda: len(team.channel.replies(root)) == 2, what="the answer in the thread")
    return root


def test_what_was_saved_of_a_confined_repository_is_listed_in_its_channel_and_in_private(confined, team):
    hand, inside, outside = confined
    message = next(one for one in team.workspace.messages(inside) if "learns to fly" in plain(one))
    hand.shortcut(actions.SAVE_SHORTCUT, channel=inside, ts=message["ts"])
    hand.whisper(inside, "Phoenix core")
    assert "Phoenix core" in plain(ask(hand, inside, "saved"))
    assert "Phoenix core" not in plain(ask(hand, outside, "saved"))

    def home_shows() -> bool:
        return "Phoenix core" in str(hand.home())

    eventually(home_shows, what="the entry in the Home tab")
    team.workspace.remove_member(inside, "reader")
    team.begin(NINE + CONFINED).front.start()  # who is a member is remembered for a while
    hand.home()
    eventually(lambda: "Phoenix core" not in str(hand.home()), what="a Home tab without it")


def test_a_hit_in_a_channel_that_the_reader_is_not_in_has_no_link(team):
    hand = begin(team, files={"b.txt": OPEN})
    there = team.workspace.create_channel("lab", private=True)
    team.write(NINE.replace("vllm-digest", "lab"))
    team.begin(NINE.replace("vllm-digest", "lab")).front.start()
    team.drop("c.txt", digest(("Lab core", "值得精读。The gadget of the laboratory."), repo="acme/lab"))
    team.at("2026-12-01 09:00")
    assert any("Lab core" in one["text"] for one in team.workspace.messages(there))
    assert any(there in url for url in links(ask(hand, team.ops.channel_id, "gadget")["blocks"]))
    team.workspace.remove_member(there, "reader")
    team.begin(NINE.replace("vllm-digest", "lab")).front.start()
    answer = ask(hand, team.ops.channel_id, "gadget")
    assert "Lab core" in plain(answer)
    assert not any(there in url for url in links(answer["blocks"]))


# --- days and pages ---------------------------------------------------------------------------------------------------


def test_a_day_shows_its_edition(team):
    hand = begin(team, files={"a.txt": numbered(1, 2)})
    team.drop("b.txt", numbered(3, 4))
    team.at("2026-12-01 09:00")
    place = team.channel.channel_id
    shown = {word: plain(ask(hand, place, word)) for word in ("today", "yesterday", DAY, "昨天", "2026-11-28")}
    for word, there in (("today", "34"), ("yesterday", "12"), (DAY, "12"), ("昨天", "12"), ("2026-11-28", "")):
        assert "".join(n for n in "1234" if f"Item {n}" in shown[word]) == there, (word, shown[word])


def test_an_entry_that_a_newer_version_of_a_file_leaves_out_loses_that_day_at_once(team):
    hand = begin(team, files={"a.txt": numbered(1, 2)})
    team.drop("b.txt", numbered(2, 3))
    team.at("2026-12-01 09:00")
    place = team.channel.channel_id
    assert titles(ask(hand, place, "machine since:today sort:new")) == ["Item 3", "Item 2"]
    team.drop("b.txt", numbered(3, 4))
    team.at("2026-12-01 09:10")
    assert titles(ask(hand, place, "machine since:today sort:new")) == ["Item 4", "Item 3"]


def test_pages_turn_to_the_last_one_and_say_10_plus_until_it_is_known(team):
    hand = begin(team, files={"a.txt": numbered(1, 23)})
    place = team.ops.channel_id
    answer = ask(hand, place, "machine sort:new")
    assert "10+" in plain(answer)
    seen = titles(answer)
    for _ in range(4):
        ts = answer["ts"]
        hand.click(place, answer, actions.SEARCH_NEXT)
        before = plain(answer)
        answer = eventually(
            lambda ts=ts, before=before: next(
                (one for one in hand.whispers(place) if one["ts"] == ts and plain(one) != before), None
            ),
            what="the next page",
        )
        seen += titles(answer)
    assert sorted(seen) == sorted(items(1, 23))
    assert "10+" not in plain(answer)
    assert actions.SEARCH_NEXT not in str(answer["blocks"])


def test_the_modal_of_the_shortcut_turns_its_pages_too(team):
    hand = begin(team, files={"a.txt": numbered(1, 7)})
    hand.shortcut(actions.SEARCH_SHORTCUT)
    hand.submit(hand.modal("search_input"), **{actions.SEARCH_BLOCK: {actions.SEARCH_INPUT: "machine sort:new"}})
    first = hand.modal("Item 7")
    hand.click_in(first, actions.SEARCH_NEXT)
    last = hand.modal("Item 2")
    assert "Item 7" not in str(last)
    assert actions.SEARCH_NEXT not in str(last)


# --- what cannot be answered ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["foo:bar", "   ", '""', "-", "since:zzz", "verdict:", "repo:", "sort:up", "\u200b", "?!"]
)
def test_what_cannot_be_read_gets_a_sentence_and_no_error(team, text):
    hand = begin(team, files={"a.txt": numbered(1, 2)})
    answer = ask(hand, team.channel.channel_id, text)
    assert plain(answer)
    assert "这一步没有成功" not in plain(answer)
    assert team.figure("digest_listener_errors_total") == 0
    if ":" in text:
        assert len(plain(answer).splitlines()) == 1, plain(answer)


def test_a_busy_database_is_a_sentence_from_every_door(team, monkeypatch):
    hand = begin(team, files={"a.txt": numbered(1, 2)})
    place = team.channel.channel_id

    def away(*_: Any, **__: Any) -> None:
        raise StorageUnavailable("the database is locked")

    for name in ("find", "count", "repos", "edition"):
        monkeypatch.setattr(SearchStore, name, away)
    assert plain(ask(hand, place, "machine")) == "现在查不了，请过一会儿再试。"
    hand.type(place, "@digest-bot machine")
    eventually(lambda: len([one for one in hand.whispers(place) if "现在查不了" in plain(one)]) == 2, what="a whisper")
    hand.shortcut(actions.SEARCH_SHORTCUT)
    hand.submit(hand.modal("search_input"), **{actions.SEARCH_BLOCK: {actions.SEARCH_INPUT: "machine"}})
    hand.modal("现在查不了")


# --- configuration, index ---------------------------------------------------------------------------------------------


def test_words_and_topics_of_the_team_count(team):
    search = 'search: {glossary: ["凤凰计划, phoenix"]}\ntopics: [{id: birds, zh: [飞鸟], en: [phoenix, ostrich]}]\n'
    hand = begin(team, search, files={"a.txt": SECRET, "b.txt": OPEN})
    for text in ("凤凰计划", "topic:birds", "topic:飞鸟", "主题:Ostrich"):
        answer = plain(ask(hand, team.channel.channel_id, text))
        assert "Phoenix core" in answer, text
        assert "Plain core" not in answer, text


def test_check_names_the_teams_lines_that_contradict(team):
    team.write(NINE + 'search: {glossary: ["甲词, alphaword", "甲词 > alphaword", "乙词, ?!"]}\n')
    ended = team.run("check")
    assert ended.exit_code == 1
    told = [line.strip() for line in ended.output.partition("glossary:")[2].splitlines()]
    assert (
        "甲词 > alphaword: “alphaword” must not find the left side, but by this line it does: 甲词, alphaword" in told
    )
    assert any(line.startswith("乙词, ?!: “?!” has nothing") for line in told)
    assert "GlossaryFault" not in ended.output


def test_an_older_index_is_built_anew_at_the_start_and_delivery_does_not_wait_for_it(team, monkeypatch):
    begin(team, files={"a.txt": numbered(1, 3)})
    database = team.bot.archive.database
    with database.transaction() as connection:
        connection.exec_driver_sql("UPDATE entry_tokens SET tokens_version = 0, title = ''")
    bot = team.begin()
    reindexing, release = threading.Event(), threading.Event()
    whole = bot.front.reindex

    def slow() -> None:
        reindexing.set()
        assert release.wait(30)
        whole()

    monkeypatch.setattr(type(bot.front), "reindex", lambda _self: slow())
    team.drop("b.txt", numbered(4, 5))
    team.clock.set(team.clock.now().replace(day=1, month=12))
    runtime = bot.runtime(now=True)
    runtime.start()
    try:
        assert reindexing.wait(20)
        eventually(lambda: team.titles() == items(1, 5), what="the morning's messages")
        release.set()

        def current() -> bool:
            with bot.archive.database.reading() as connection:
                return outdated(connection) == 0

        eventually(current, what="an index of this version")
    finally:
        release.set()
        bot.stopping.set()
        runtime.stop()


def test_the_terminal_shows_matches_in_colour_and_says_what_was_not_understood(team, monkeypatch):
    begin(team, files={"a.txt": numbered(1, 2)})
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[33mmachine\x1b[0m" in team.run("search", "machine").output
    monkeypatch.delenv("FORCE_COLOR")
    told = team.run("search", "foo:machine").output
    assert "There is no foo" in told
    assert "repo: wants a value, for example repo:vllm" in team.run("search", "machine", "repo:").output
    assert "\x1b" not in told
    assert [hit["title"] for hit in team.verb("search", "machine", "sort:new")["hits"]] == ["Item 2", "Item 1"]
