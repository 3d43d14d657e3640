"""What one reader is told, and which links that reader gets."""

import json
import re
from datetime import timedelta

import pytest

from bot.model import Channel, Language
from bot.readers import qualifiers
from bot.readers.marks import Activity, Place, Talk
from bot.readers.query import parse
from bot.render.answers import search_state
from bot.render.views import Style
from bot.slack.ports import Reader
from bot.text.glossary import Glossary
from tests.unit.slack.rooms import DAY, Rooms, entry

HERE, OTHER, SECRET = (Channel(team_id="T1", channel_id=one) for one in ("C1", "C2", "G3"))
READER = Reader(team_id="T1", user_id="U1", channel_id="C1")


class KnownChannels:
    """A directory: C1 and C2 are public, G3 is private and has U2 in it."""

    def permalink(self, channel_id, ts, thread_ts=None):
        return f"https://t.example/{channel_id}/{ts}" + (f"?{thread_ts}" if thread_ts else "")

    def thread_link(self, channel_id, ts, thread_ts=None):
        return self.permalink(channel_id, ts, thread_ts or ts)

    def may_see(self, *, user_id, channel_id):
        return channel_id.startswith("C") or user_id == "U2"

    def is_in(self, *, user_id, channel_id):
        return channel_id == "C1" or (user_id == "U2" and channel_id == "G3")


@pytest.fixture
def rooms():
    return Rooms(KnownChannels(), entries=[entry(1, "vllm one"), entry(2, "vllm two"), entry(3, "sglang")])


def stands(*places):
    return Activity(
        places=tuple(
            Place(channel=channel, ts=ts, thread_ts=next(iter(thread), None)) for channel, ts, *thread in places
        )
    )


def links(message):
    return [
        piece["url"]
        for piece in _all(message.blocks if hasattr(message, "blocks") else message["blocks"])
        if "url" in piece
    ]


def _all(value):
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _all(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _all(item)


def test_a_hit_is_linked_to_its_message_in_this_channel_first(rooms):
    rooms.marks.happened = {
        1: stands((HERE, "8.1"), (OTHER, "9.1")),
        2: stands((OTHER, "6.1"), (OTHER, "7.1", "5.1")),
    }
    message = rooms.desk.search(READER, "vllm")
    assert links(message) == ["https://t.example/C1/8.1", "https://t.example/C2/7.1?5.1"]


def test_a_shared_copy_does_not_draw_readers_away_from_the_discussion(rooms):
    original = Place(channel=HERE, ts="8.1", replies=3)
    rooms.marks.happened = {1: Activity(places=(original, Place(channel=HERE, ts="9.1")))}
    assert links(rooms.desk.search(READER, "vllm one")) == ["https://t.example/C1/8.1"]
    assert links(rooms.desk.entry(READER, 1)) == ["https://t.example/C1/8.1?8.1"]


def test_a_message_in_a_channel_that_the_reader_is_not_in_is_not_linked(rooms):
    rooms.marks.happened = {1: stands((SECRET, "9.1"))}
    assert links(rooms.desk.search(READER, "vllm")) == []
    inside = Reader(team_id="T1", user_id="U2", channel_id="C1")
    assert links(rooms.desk.search(inside, "vllm")) == ["https://t.example/G3/9.1"]


def test_an_answer_that_everybody_reads_links_only_what_everybody_may_see(rooms):
    rooms.marks.happened = {1: stands((SECRET, "9.1"))}
    public = Reader(team_id="T1", user_id="U2", channel_id="C1", public=True)
    assert links(rooms.desk.search(public, "vllm")) == []


def test_replies_and_reactions_stand_beside_the_hit(rooms):
    rooms.marks.happened = {1: Activity(talk=(Talk(channel=HERE, replies=3, reactions=2),))}
    assert "3 条回复" in rooms.desk.search(READER, "vllm").text


def test_what_is_said_in_a_channel_that_the_reader_cannot_open_is_not_counted(rooms):
    said = (Talk(channel=HERE, replies=3), Talk(channel=OTHER, replies=1), Talk(channel=SECRET, replies=5))
    rooms.marks.happened = {1: Activity(talk=said)}
    assert "4 条回复" in rooms.desk.search(READER, "vllm").text
    inside = Reader(team_id="T1", user_id="U2", channel_id="C1")
    assert "9 条回复" in rooms.desk.search(inside, "vllm").text
    public = Reader(team_id="T1", user_id="U2", channel_id="C1", public=True)
    assert "4 条回复" in rooms.desk.search(public, "vllm").text


def test_nothing_found_is_an_answer(rooms):
    assert "没有结果" in rooms.desk.search(READER, "nonesuch").text


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "colour:", '"', "-", "\x00", "-" * 5000])
def test_any_text_is_answered(rooms, text):
    assert rooms.desk.search(READER, text).text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("vllm since:someday", "日期 someday"),
        ("vllm 早于:哪天", "日期 哪天"),
        ("vllm colour:in", "colour"),
        ("vllm sort:up", "sort:up"),
    ],
)
def test_a_filter_that_was_not_understood_is_named_above_the_hits(text, told):
    rooms = Rooms(KnownChannels(), entries=[entry(1, "vllm in colour")])
    message = rooms.desk.search(READER, text)
    assert told in message.text.split("\n")[0]
    assert "vllm in colour" in message.text


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("name", qualifiers.NAMES)
def test_a_qualifier_without_a_value_is_answered_with_one_that_is_understood(name, language):
    rooms = Rooms(KnownChannels(), entries=[entry(1, "vllm one")], style=Style(language=language))
    told = rooms.desk.search(READER, f"{name}:").text
    assert told.startswith(
        f"{name}: 后面要写值，例如 " if language is Language.ZH else f"{name}: wants a value, for example "
    )
    example = re.search(rf"{name}:[^\s，]*[^\s，.](?=，|\. )", told)[0]
    glossary = Glossary(())
    understood = parse(f"{example} vllm", today=DAY, glossary=glossary)
    assert understood.hint is None, example


def test_words_beside_a_qualifier_without_a_value_still_find(rooms):
    first, *rest = rooms.desk.search(READER, "vllm repo:").text.split("\n")
    assert "repo:vllm" in first
    assert "vllm one" in "\n".join(rest)


def test_a_day_shows_its_edition(rooms):
    rooms.archive.known[3] = entry(3, "older", edition=DAY - timedelta(days=1), editions=(DAY - timedelta(days=1),))
    today = rooms.desk.search(READER, "today").text
    assert "vllm one" in today
    assert "older" not in today
    assert "older" in rooms.desk.search(READER, "昨天").text


def test_the_latest_edition_is_the_channels_own_else_the_newest_of_all(rooms):
    rooms.archive.newest = {None: DAY - timedelta(days=1), "C1": DAY}
    assert "vllm one" in rooms.desk.latest(READER).text
    elsewhere = Reader(team_id="T1", user_id="U1", channel_id="D9")
    assert "没有导读" in rooms.desk.latest(elsewhere).text


def test_before_the_first_digest_the_command_still_answers(rooms):
    assert "还没有导读" in rooms.desk.latest(READER).text


def test_a_further_page_comes_from_its_state_and_a_spoilt_state_is_a_sentence(rooms):
    assert "vllm two" in rooms.desk.page(READER, search_state("vllm", start=1)).text
    for spoilt in ("", "{", '{"q": 1, "from": 0}', '{"q": "a", "from": "b"}', "[]"):
        assert "没有成功" in rooms.desk.page(READER, spoilt).text


def test_a_confined_repository_is_hidden_elsewhere_and_from_readers_outside_channels():
    rooms = Rooms(KnownChannels(), confined={"vllm-project/vllm": [HERE]}, entries=[entry(1, "vllm one")])
    rooms.desk.search(READER, "one")
    rooms.desk.search(Reader(team_id="T1", user_id="U1"), "one")
    assert rooms.search.hidden == [set(), {"vllm-project/vllm"}]


def test_an_entry_opens_with_what_can_be_done_where_the_reader_is(rooms):
    rooms.marks.happened = {1: stands((HERE, "8.1"))}
    view = rooms.desk.entry(READER, 1)
    ids = [piece["action_id"] for piece in _all(view["blocks"]) if "action_id" in piece]
    assert ids == ["entry_save", "entry_share", "entry_thread"]
    assert links(view) == ["https://t.example/C1/8.1?8.1"], "the way to the thread, which nobody has begun yet"
    assert json.loads(view["private_metadata"]) == {"entry": 1, "channel": "C1"}
    direct = rooms.desk.entry(Reader(team_id="T1", user_id="U1", channel_id="D1"), 1)
    assert "entry_share" not in [piece.get("action_id") for piece in _all(direct["blocks"])]
    assert rooms.desk.entry(READER, 99) is None


def test_the_way_to_the_discussion_is_that_to_a_message_which_the_reader_may_open(rooms):
    rooms.marks.happened = {1: stands((SECRET, "9.1")), 2: stands((OTHER, "7.1", "5.1"), (SECRET, "9.2"))}
    assert links(rooms.desk.entry(READER, 1)) == []
    assert links(rooms.desk.entry(READER, 2)) == ["https://t.example/C2/7.1?5.1"]
    inside = Reader(team_id="T1", user_id="U2", channel_id="C1")
    assert links(rooms.desk.entry(inside, 1)) == ["https://t.example/G3/9.1?9.1"]


def test_saving_is_remembered_and_taken_back(rooms):
    assert rooms.desk.keep(READER, 1, saved=True).key == "saved"
    assert rooms.desk.keep(READER, 1, saved=True).key == "saved"
    assert "vllm one" in rooms.desk.saved(READER).text
    assert "entry_unsave" in str(rooms.desk.entry(READER, 1)["blocks"])
    assert rooms.desk.keep(READER, 1, saved=False).key == "unsaved"
    assert "还没有收藏" in rooms.desk.saved(READER).text
    assert rooms.desk.keep(READER, 99, saved=True).key == "entry_gone"


def test_a_message_is_saved_by_its_place_and_only_if_it_is_an_entry(rooms):
    rooms.marks.messages = {("C1", "8.1"): 2}
    assert rooms.desk.keep_message(READER, channel_id="C1", ts="8.1").key == "saved"
    assert rooms.desk.keep_message(READER, channel_id="C1", ts="8.2").key == "not_an_entry"


def test_home_shows_today_only_from_the_readers_own_channels(rooms):
    rooms.archive.sent = {"C1": [rooms.archive.known[1]], "C2": [rooms.archive.known[3]]}
    rooms.desk.keep(READER, 2, saved=True)
    shown = str(rooms.desk.home(Reader(team_id="T1", user_id="U1")))
    assert "vllm one" in shown
    assert "vllm two" in shown
    assert "sglang" not in shown


def test_every_sentence_of_the_desk_has_its_words(rooms):
    for key in ("busy", "failed", "not_an_entry", "entry_gone", "invite"):
        assert rooms.desk.sentence(READER, key).text
        assert rooms.desk.sentence_view(READER, key)["type"] == "modal"
    for key in ("saved", "unsaved", "shared"):
        assert "<!channel>" not in rooms.desk.sentence(READER, key, title="<!channel> T").text
