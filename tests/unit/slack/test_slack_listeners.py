"""What people do in Slack, from their keyboard to the answer they see: over real Socket Mode."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from slack_bolt import BoltRequest

from bot.errors import StorageUnavailable
from bot.workspace.server import LocalWorkspace
from tests.unit.slack.harness import Bot, Hand, eventually


@pytest.fixture(scope="module")
def workspace():
    with LocalWorkspace() as running:
        yield running


@pytest.fixture
def bot(workspace):
    with Bot(workspace) as connected:
        yield connected


@pytest.fixture
def hand(bot, workspace):
    person = Hand(workspace)
    yield person
    person.close_modals()


@pytest.fixture
def channel(workspace, request):
    return workspace.create_channel(f"c{abs(hash(request.node.name)) % 10**9}")


def texts(hand, channel):
    return [one["text"] for one in hand.whispers(channel)]


def open_entry(hand, channel):
    hand.type(channel, "/digest vllm")
    hand.click(channel, hand.whisper(channel, "hits for"), "entry_open", value="7")
    return hand.modal("entry 7")


def deliver(bot, body):
    """Deliver a request of Slack's as Socket Mode does, and wait for its ack."""
    assert bot.app.dispatch(BoltRequest(body=body, mode="socket_mode")).status == 200


# --- /digest ---


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("", "latest"),
        ("  ", "latest"),
        ("help", "help"),
        ("ＨＥＬＰ", "help"),
        ("帮助", "help"),
        ("saved", "saved"),
        ("收藏", "saved"),
        ("vllm rocm", "search"),
        ("2026-11-30", "search"),
    ],
)
def test_the_words_after_the_command_choose_the_answer(bot, hand, channel, text, asked):
    hand.type(channel, f"/digest {text}")
    eventually(lambda: hand.whispers(channel))
    assert bot.desk.asked[0][0] == asked


def test_an_answer_is_seen_by_its_reader_only(hand, workspace, channel):
    hand.type(channel, "/digest vllm")
    assert hand.whisper(channel, "hits for vllm")
    assert Hand(workspace, "colleague").whispers(channel) == []
    assert [one for one in workspace.messages(channel) if "subtype" not in one] == []


def test_the_command_answers_where_the_bot_is_no_member(hand, workspace):
    elsewhere = workspace.create_channel("without-the-bot", with_bot=False)
    hand.type(elsewhere, "/digest vllm")
    assert hand.whisper(elsewhere, "hits for vllm")


def test_the_command_answers_in_a_conversation_of_two_people(hand, workspace):
    direct = hand.direct_message(workspace.user_id("colleague"))
    hand.type(direct, "/digest vllm")
    assert hand.whisper(direct, "hits for vllm")


def test_forty_slow_commands_at_once_are_all_acked_in_time(bot, hand, channel):
    bot.desk.gate.clear()
    begun = time.perf_counter()
    with ThreadPoolExecutor(40) as people:
        for typed in [people.submit(hand.type, channel, f"/digest slow {n}") for n in range(40)]:
            typed.result()  # raises where the ack came too late
    assert time.perf_counter() - begun < 3
    bot.desk.gate.set()
    eventually(lambda: len([text for text in texts(hand, channel) if "hits for slow" in text]) == 40)


def test_the_ack_does_not_wait_for_the_work(bot, hand, channel):
    bot.desk.gate.clear()
    hand.type(channel, "/digest vllm")
    assert hand.whispers(channel) == []
    bot.desk.gate.set()
    assert hand.whisper(channel, "hits for vllm")


def test_a_busy_database_is_told_in_a_sentence(bot, hand, channel):
    bot.desk.error = StorageUnavailable("locked")
    hand.type(channel, "/digest vllm")
    assert hand.whisper(channel, "sentence busy")


def test_a_fault_of_ours_is_told_in_a_sentence_and_counted(bot, hand, channel):
    bot.desk.error = RuntimeError("broken")
    hand.type(channel, "/digest 私事")
    assert hand.whisper(channel, "sentence failed")
    assert bot.errors == 1


# --- entries ---


def test_a_hit_opens_in_a_modal_and_is_saved_there(bot, hand, channel):
    hand.click_in(open_entry(hand, channel), "entry_save", value="7")
    view = hand.modal("entry_unsave")
    assert bot.desk.saved_ids == {7}
    hand.click_in(view, "entry_unsave", value="7")
    hand.modal("entry_save")
    assert bot.desk.saved_ids == set()


def test_an_entry_that_is_gone_is_a_sentence(bot, hand, channel):
    bot.desk.gone = True
    hand.type(channel, "/digest vllm")
    hand.click(channel, hand.whisper(channel, "hits for"), "entry_open", value="7")
    assert hand.whisper(channel, "sentence entry_gone")


def test_the_button_that_is_a_link_is_acked(hand, channel):
    hand.click_in(open_entry(hand, channel), "entry_thread", value="x")


def test_the_page_turns_in_place(hand, channel):
    hand.type(channel, "/digest vllm")
    hand.click(channel, hand.whisper(channel, "hits for"), "search_next", value="page 2")
    hand.whisper(channel, "shown page 2")
    assert len(hand.whispers(channel)) == 1


def test_taking_one_out_of_the_saved_list_shows_the_rest_in_place(bot, hand, channel):
    bot.desk.saved_ids = {7, 9}
    hand.type(channel, "/digest saved")
    hand.click(channel, hand.whisper(channel, "saved"), "entry_unsave", value="7")
    hand.whisper(channel, "saved [9]")
    assert len(hand.whispers(channel)) == 1


def test_sharing_asks_for_a_word_and_is_one_wish_however_often_it_is_delivered(bot, hand, workspace, channel):
    hand.click_in(open_entry(hand, channel), "entry_share", value="7")
    form = hand.modal("share?")
    hand.submit(form, share={"share_comment": "看这条"})
    again = {
        "type": "view_submission",
        "team": {"id": workspace_team(bot)},
        "user": {"id": workspace.user_id("reader")},
        "view": {
            **{key: form[key] for key in ("id", "type", "callback_id", "private_metadata", "blocks")},
            "state": {"values": {"share": {"share_comment": {"value": "看这条"}}}},
        },
    }
    deliver(bot, again)
    eventually(lambda: len([each for each in bot.desk.asked if each[0] == "share"]) == 2)
    assert list(bot.desk.shares.values()) == [(7, channel, "看这条")]


def workspace_team(bot):
    return bot.directory.identity().team_id


def test_a_share_that_is_refused_says_so_where_the_entry_stood(bot, hand, channel):
    bot.desk.share_answer = "invite"
    hand.click_in(open_entry(hand, channel), "entry_share", value="7")
    hand.submit(hand.modal("share?"))
    hand.modal("sentence invite")


def test_the_message_shortcut_saves_by_channel_and_ts(bot, hand, channel):
    ts = hand.type(channel, "an entry")
    hand.shortcut("entry_save", channel=channel, ts=ts)
    assert hand.whisper(channel, "sentence saved")
    assert bot.desk.asked[-1] == ("keep_message", channel, ts)


# --- searching elsewhere ---


def test_the_global_shortcut_searches_in_a_modal(hand):
    hand.shortcut("search_modal")
    form = hand.modal("form ")
    hand.submit(form, search={"search_input": "rocm"})
    view = hand.modal("hits for rocm")
    assert view["id"] == form["id"]
    hand.click_in(view, "entry_open", value="7")
    hand.modal("entry 7")


def test_a_slow_search_in_a_modal_is_shown_after_the_ack(bot, hand, monkeypatch):
    monkeypatch.setattr("bot.slack.listeners.views.search.WITH_ACK_SECONDS", 0.1)
    monkeypatch.setattr("bot.slack.reply.ACK_TRAVELS", 0.1)
    hand.shortcut("search_modal")
    form = hand.modal("form ")
    bot.desk.gate.clear()
    hand.submit(form, search={"search_input": "slow"})
    assert "hits for" not in str(hand.modal("form slow"))
    bot.desk.gate.set()
    hand.modal("hits for slow")


def test_a_search_in_a_modal_that_fails_says_so_in_the_modal(bot, hand):
    hand.shortcut("search_modal")
    form = hand.modal("form ")
    bot.desk.error = StorageUnavailable("away")
    hand.submit(form)
    hand.modal("sentence busy")


def test_the_home_tab_is_made_when_it_is_opened_and_searches_in_a_modal(bot, hand):
    bot.desk.saved_ids = {4}
    shown = eventually(lambda: (view := hand.home()) and "home [4]" in str(view["blocks"]) and view)
    hand.click_in(shown, "home_search", value="rocm")
    hand.modal("hits for rocm")


# --- events ---


def test_a_mention_is_handed_on_with_its_thread(bot, hand, channel):
    ts = hand.type(channel, "@digest-bot vllm  rocm")
    reader, text, event_id, where, thread_ts = eventually(lambda: bot.desk.mentions)[0]
    assert (text, where, thread_ts) == ("vllm  rocm", channel, ts)
    assert event_id == f"mention:{channel}:{ts}"
    assert reader.public


def test_replies_reactions_and_deletions_are_counted(bot, hand, channel):
    parent = hand.type(channel, "entry")
    reply = hand.type(channel, "reply", parent)
    assert eventually(lambda: bot.discussion.replies) == [(parent, reply)]
    hand.react(channel, parent, "eyes")
    hand.react(channel, parent, "eyes", remove=True)
    hand.delete(channel, reply)
    eventually(lambda: bot.discussion.forgotten and len(bot.discussion.reactions) == 2)
    assert sorted(bot.discussion.reactions) == [(parent, "eyes", False), (parent, "eyes", True)]
    assert bot.discussion.forgotten == [reply]


def event(channel, **more):
    inner = {"type": "app_mention", "channel": channel, "ts": "1.1", "text": "<@U1> hi", "user": "U2", **more}
    return {"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": inner}


def test_an_edit_of_a_mention_and_the_words_of_bots_are_left_alone(bot, channel):
    for more in ({"bot_id": "B9"}, {"subtype": "message_changed"}, {"user": None}):
        deliver(bot, event(channel, **more))
    deliver(bot, event(channel))
    eventually(lambda: bot.desk.mentions)
    assert len(bot.desk.mentions) == 1


@pytest.mark.parametrize("subtype", ["message_changed", "channel_join", "bot_message", "message_replied"])
def test_messages_that_are_nobodys_words_are_not_counted(bot, channel, subtype):
    changed = {"type": "message", "subtype": subtype, "thread_ts": "1.0", "hidden": True}
    deliver(bot, event(channel, **changed))
    deliver(bot, event(channel, type="message", thread_ts="1.0", ts="1.2"))
    assert eventually(lambda: bot.discussion.replies) == [("1.0", "1.2")]


def test_the_bot_hears_that_it_was_invited(bot, workspace):
    place = workspace.create_channel("just-invited", with_bot=False)
    workspace.add_member(place, workspace.bot_user_id)
    eventually(lambda: place in bot.membership.channels)


def test_a_request_that_lacks_everything_harms_nobody(bot, channel):
    """Slack sends whole requests; whatever else comes is answered, and the next one works."""
    for body in ({"type": "block_actions"}, {"type": "view_submission"}, {"command": "/digest"}, {}):
        bot.app.dispatch(BoltRequest(body=json.loads(json.dumps(body)), mode="socket_mode"))
    deliver(bot, event(channel))
    eventually(lambda: bot.desk.mentions)


# --- the connection ---


@pytest.mark.parametrize("happens", ["refresh_sockets", "drop_sockets"])
def test_the_connection_comes_back(bot, hand, workspace, channel, happens):
    before = len(workspace.calls(method="apps.connections.open"))
    getattr(workspace, happens)()
    eventually(lambda: len(workspace.calls(method="apps.connections.open")) == before + 1)
    eventually(lambda: workspace.connections == 1 and bot.socket.is_connected())
    hand.type(channel, "/digest again")
    assert hand.whisper(channel, "hits for again")
