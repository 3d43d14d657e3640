"""What people do in Slack, from their keyboard to the answer they see: over real Socket Mode."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.errors import StorageUnavailable
from bot.workspace import clicks
from bot.workspace.server import LocalWorkspace
from tests.unit.slack.harness import Bot, eventually


@pytest.fixture(scope="module")
def workspace():
    with LocalWorkspace() as running:
        yield running


@pytest.fixture
def bot(workspace):
    with Bot(workspace) as connected:
        yield connected


@pytest.fixture
def channel(workspace, request):
    return workspace.create_channel(f"c{abs(hash(request.node.name)) % 10**9}")


def command(bot, channel, text, user="reader"):
    bot.act(lambda person: person.type(channel, text), user)


def last_whisper(bot, channel, containing, user="reader"):
    return eventually(
        lambda: next(
            (each for each in bot.workspace.ephemerals(channel, user) if containing in each["text"]), None
        )
    )


def click(bot, message, channel, action_id, value):
    block_id = next(
        block["block_id"]
        for block in message["blocks"]
        for element in block.get("elements", [])
        if element.get("action_id") == action_id
    )
    bot.act(
        lambda person: clicks.act_on_message(person, channel, message["ts"], block_id, action_id, value, {})
    )


def top_modal(bot, user="reader"):
    store = bot.workspace._running.store
    stack = bot.workspace._running.modals.stack(store.users[bot.workspace.user_id(user)])
    return stack[-1] if stack else None


def modal_shows(bot, text):
    def look():
        view = top_modal(bot)
        return view if view and text in str(view.document["blocks"]) else None

    return eventually(look)


def click_in_view(bot, view, action_id, value, state=None):
    block_id = next(
        block["block_id"]
        for block in view.document["blocks"]
        for element in [*block.get("elements", []), block.get("element") or {}]
        if element.get("action_id") == action_id
    )
    bot.act(lambda person: clicks.act_on_view(person, view.id, block_id, action_id, value, state or {}))


def say(bot, channel, text, thread_ts=None):
    return bot.act(lambda person: _message(person, channel, text, thread_ts))


async def _message(person, channel, text, thread_ts):
    return person.say(channel, text, thread_ts=thread_ts)


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
def test_the_words_after_the_command_choose_the_answer(bot, channel, text, asked):
    command(bot, channel, f"/digest {text}")
    eventually(lambda: bot.whispers(channel))
    assert bot.desk.asked[0][0] == asked


def test_an_answer_is_seen_by_its_reader_only(bot, channel):
    command(bot, channel, "/digest vllm")
    assert last_whisper(bot, channel, "hits for vllm")
    assert bot.whispers(channel, "colleague") == []
    assert [each for each in bot.workspace.messages(channel) if "subtype" not in each] == []


def test_the_command_answers_where_the_bot_is_no_member(bot, workspace):
    elsewhere = workspace.create_channel("without-the-bot", with_bot=False)
    command(bot, elsewhere, "/digest vllm")
    assert last_whisper(bot, elsewhere, "hits for vllm")


def test_the_command_answers_in_a_conversation_of_two_people(bot, workspace):
    async def open_im(person):
        store = person.workspace.store
        other = store.users[workspace.user_id("colleague")]
        return store.open_im(person.user, other, person.workspace.clock()).id

    direct = bot.act(open_im)
    command(bot, direct, "/digest vllm")
    assert last_whisper(bot, direct, "hits for vllm")


def test_forty_slow_commands_at_once_are_all_acked_in_time(bot, channel):
    bot.desk.gate.clear()
    begun = time.perf_counter()
    with ThreadPoolExecutor(40) as people:
        typed = [people.submit(command, bot, channel, f"/digest slow {n}") for n in range(40)]
        for each in typed:
            each.result()  # raises where the ack came too late
    assert time.perf_counter() - begun < 3
    bot.desk.gate.set()
    eventually(lambda: len([text for text in bot.whispers(channel) if "hits for slow" in text]) == 40)


def test_the_ack_does_not_wait_for_the_work(bot, channel):
    bot.desk.gate.clear()
    command(bot, channel, "/digest vllm")
    assert bot.whispers(channel) == []
    bot.desk.gate.set()
    assert last_whisper(bot, channel, "hits for vllm")


def test_a_busy_database_is_told_in_a_sentence(bot, channel):
    bot.desk.error = StorageUnavailable("locked")
    command(bot, channel, "/digest vllm")
    assert last_whisper(bot, channel, "sentence busy")


def test_a_fault_of_ours_is_told_in_a_sentence_and_logged_with_its_trace(bot, channel, caplog):
    bot.desk.error = RuntimeError("broken")
    command(bot, channel, "/digest 私事")
    assert last_whisper(bot, channel, "sentence failed")
    assert bot.errors == 1


# --- entries ---


def test_a_hit_opens_in_a_modal_and_is_saved_there(bot, channel):
    command(bot, channel, "/digest vllm")
    click(bot, last_whisper(bot, channel, "hits for"), channel, "entry_open", "7")
    view = modal_shows(bot, "entry 7")
    click_in_view(bot, view, "entry_save", "7")
    assert bot.desk.asked[-1][0] in ("entry", "keep")
    view = modal_shows(bot, "entry_unsave")
    assert bot.desk.saved_ids == {7}
    click_in_view(bot, view, "entry_unsave", "7")
    modal_shows(bot, "entry_save")
    assert bot.desk.saved_ids == set()


def test_an_entry_that_is_gone_is_a_sentence(bot, channel):
    bot.desk.gone = True
    command(bot, channel, "/digest vllm")
    click(bot, last_whisper(bot, channel, "hits for"), channel, "entry_open", "7")
    assert last_whisper(bot, channel, "sentence entry_gone")


def test_the_button_that_is_a_link_is_acked(bot, channel):
    command(bot, channel, "/digest vllm")
    click(bot, last_whisper(bot, channel, "hits for"), channel, "entry_open", "7")
    click_in_view(bot, modal_shows(bot, "entry 7"), "entry_thread", "x")


def test_the_page_turns_in_place(bot, channel):
    command(bot, channel, "/digest vllm")
    click(bot, last_whisper(bot, channel, "hits for"), channel, "search_next", "page 2")
    last_whisper(bot, channel, "shown page 2")
    assert len(bot.whispers(channel)) == 1


def test_taking_one_out_of_the_saved_list_shows_the_rest_in_place(bot, channel):
    bot.desk.saved_ids = {7, 9}
    command(bot, channel, "/digest saved")
    click(bot, last_whisper(bot, channel, "saved"), channel, "entry_unsave", "7")
    last_whisper(bot, channel, "saved [9]")
    assert len(bot.whispers(channel)) == 1


def test_sharing_asks_for_a_word_and_posts_once_however_often_it_is_submitted(bot, channel):
    command(bot, channel, "/digest vllm")
    click(bot, last_whisper(bot, channel, "hits for"), channel, "entry_open", "7")
    click_in_view(bot, modal_shows(bot, "entry 7"), "entry_share", "7")
    form = modal_shows(bot, "share?")
    state = {"share": {"share_comment": {"type": "plain_text_input", "value": "看这条"}}}
    payload = {}

    async def submit_twice(person):
        await clicks.submit(person, form.id, state)
        await person.ask(payload)

    async def remember(kind, body):
        payload.update(body)
        return await ask(kind, body)

    dispatcher = bot.workspace._running.dispatcher
    ask = dispatcher.ask
    dispatcher.ask = remember
    try:
        bot.act(submit_twice)
    finally:
        dispatcher.ask = ask
    eventually(lambda: len([each for each in bot.desk.asked if each[0] == "share"]) == 2)
    assert list(bot.desk.shares.values()) == [(7, channel, "看这条")]


def test_a_share_that_is_refused_says_so_where_the_entry_stood(bot, channel):
    bot.desk.share_answer = "invite"
    command(bot, channel, "/digest vllm")
    click(bot, last_whisper(bot, channel, "hits for"), channel, "entry_open", "7")
    click_in_view(bot, modal_shows(bot, "entry 7"), "entry_share", "7")
    form = modal_shows(bot, "share?")
    bot.act(lambda person: clicks.submit(person, form.id, {}))
    modal_shows(bot, "sentence invite")


def test_the_message_shortcut_saves_by_channel_and_ts(bot, channel):
    say(bot, channel, "an entry")
    ts = bot.workspace.messages(channel)[-1]["ts"]
    bot.act(lambda person: person.message_shortcut(channel, ts, "entry_save"))
    assert last_whisper(bot, channel, "sentence saved")
    assert bot.desk.asked[-1] == ("keep_message", channel, ts)


# --- searching elsewhere ---


def test_the_global_shortcut_searches_in_a_modal(bot):
    bot.act(lambda person: person.global_shortcut("search_modal"))
    form = modal_shows(bot, "form ")
    state = {"search": {"search_input": {"type": "plain_text_input", "value": "rocm"}}}
    bot.act(lambda person: clicks.submit(person, form.id, state))
    view = modal_shows(bot, "hits for rocm")
    assert view.id == form.id
    click_in_view(bot, view, "entry_open", "7")
    modal_shows(bot, "entry 7")


def test_a_slow_search_in_a_modal_is_shown_after_the_ack(bot, monkeypatch):
    monkeypatch.setattr("bot.slack.listeners.views.search.WITH_ACK_SECONDS", 0.1)
    monkeypatch.setattr("bot.slack.reply.ACK_TRAVELS", 0.1)
    bot.act(lambda person: person.global_shortcut("search_modal"))
    form = modal_shows(bot, "form ")
    bot.desk.gate.clear()
    state = {"search": {"search_input": {"type": "plain_text_input", "value": "slow"}}}
    bot.act(lambda person: clicks.submit(person, form.id, state))
    assert "hits for" not in str(modal_shows(bot, "form slow").document)
    bot.desk.gate.set()
    modal_shows(bot, "hits for slow")


def test_a_search_in_a_modal_that_fails_says_so_in_the_modal(bot):
    bot.act(lambda person: person.global_shortcut("search_modal"))
    form = modal_shows(bot, "form ")
    bot.desk.error = StorageUnavailable("away")
    bot.act(lambda person: clicks.submit(person, form.id, {}))
    modal_shows(bot, "sentence busy")


def home_of(bot):
    store = bot.workspace._running.store
    return store.homes.get(bot.workspace.user_id("reader"))


async def open_home(person):
    person.open_home()


def test_the_home_tab_is_made_when_it_is_opened_and_searches_in_a_modal(bot):
    bot.desk.saved_ids = {4}
    bot.act(open_home)
    eventually(lambda: home_of(bot) and "home [4]" in str(home_of(bot).document))
    click_in_view(bot, home_of(bot), "home_search", "rocm")
    modal_shows(bot, "hits for rocm")


# --- events ---


def test_a_mention_is_answered_in_its_thread_once_however_often_it_is_delivered(bot, channel):
    say(bot, channel, "@digest-bot vllm  rocm")
    ts = bot.workspace.messages(channel)[-1]["ts"]
    reader, text, event_id, where, thread_ts = eventually(lambda: bot.desk.mentions)[0]
    assert (text, where, thread_ts) == ("vllm  rocm", channel, ts)
    assert event_id == f"mention:{channel}:{ts}"
    assert reader.public


def test_replies_reactions_and_deletions_are_counted(bot, channel):
    say(bot, channel, "entry")
    parent = bot.workspace.messages(channel)[-1]["ts"]
    say(bot, channel, "reply", parent)
    reply = bot.workspace.messages(channel)[-1]["ts"]
    counted = eventually(lambda: bot.discussion.replies)
    assert [(each["thread_ts"], each["ts"]) for each in counted] == [(parent, reply)]

    async def react(person):
        person.react(channel, parent, "eyes")
        person.react(channel, parent, "eyes", remove=True)
        person.delete(channel, reply)

    bot.act(react)
    eventually(lambda: bot.discussion.forgotten and len(bot.discussion.reactions) == 2)
    assert sorted(each["present"] for each in bot.discussion.reactions) == [False, True]
    assert bot.discussion.forgotten[0]["ts"] == reply


def test_an_edit_of_a_mention_and_the_words_of_bots_are_left_alone(bot, channel):
    base = {"type": "app_mention", "channel": channel, "ts": "1.1", "text": "<@U1> hi", "user": "U2"}
    for more in ({"bot_id": "B9"}, {"subtype": "message_changed"}, {"user": None}):
        _deliver(bot, {**base, **more})
    _deliver(bot, base)
    eventually(lambda: bot.desk.mentions)
    assert len(bot.desk.mentions) == 1


def test_the_bot_hears_that_it_was_invited(bot, workspace):
    place = workspace.create_channel("just-invited", with_bot=False)
    workspace.add_member(place, workspace.bot_user_id)
    eventually(lambda: place in bot.membership.channels)


def _deliver(bot, event):
    from slack_bolt import BoltRequest  # noqa: PLC0415

    body = {"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": event}
    assert bot.app.dispatch(BoltRequest(body=body, mode="socket_mode")).status == 200


# --- the connection ---


def test_the_connection_comes_back_after_a_drop_and_a_refresh(bot, workspace, channel):
    assert bot.socket.is_connected()
    workspace.refresh_sockets()
    eventually(lambda: workspace.connections == 1 and bot.socket.is_connected(), seconds=10)
    workspace.drop_sockets()
    eventually(lambda: workspace.connections == 1 and bot.socket.is_connected(), seconds=15)
    command(bot, channel, "/digest again")
    assert last_whisper(bot, channel, "hits for again")
