"""A bot built on slack_bolt lives in the workspace as it lives in Slack."""

from __future__ import annotations

import threading
import uuid

import pytest

from bot.workspace import clicks
from bot.workspace.interactions import Refused
from tests.unit.workspace.conftest import Heard

MODAL = {
    "type": "modal",
    "callback_id": "ask",
    "notify_on_close": True,
    "title": {"type": "plain_text", "text": "Ask"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "words",
            "label": {"type": "plain_text", "text": "Words"},
            "element": {"type": "plain_text_input", "action_id": "typed"},
        }
    ],
}
STATE = {"words": {"typed": {"type": "plain_text_input", "value": "vllm"}}}


def test_a_command_is_answered_by_its_acknowledgement_and_its_response_url(workspace, channel, connect):
    heard = Heard()

    def listeners(app):
        @app.command("/digest")
        def digest(ack, respond, command):
            ack(text="at once")
            respond("later")
            respond("shared", response_type="in_channel")
            heard.add(command)

    connect(listeners)
    workspace.act("reader", lambda person: person.type(channel, "/digest vllm  rocm"))
    command = heard.wait()[0]
    assert command["text"] == "vllm  rocm"
    assert command["channel_name"] == "vllm-digest"
    # The two travel on different connections: either may be first, as in Slack.
    assert sorted(each["text"] for each in workspace.ephemerals(channel, "reader")) == ["at once", "later"]
    assert workspace.ephemerals(channel, "colleague") == []
    assert workspace.messages(channel)[-1]["text"] == "shared"


def test_respond_works_in_a_direct_conversation_the_bot_is_not_in(workspace, client, connect):
    heard = Heard()

    def listeners(app):
        @app.command("/digest")
        def digest(ack, respond):
            ack()
            respond("here too")
            heard.add("ran")

    connect(listeners)
    direct = client.conversations_open(users=workspace.user_id("reader"), token=workspace.user_token("colleague"))
    place = direct["channel"]["id"]
    workspace.act("reader", lambda person: person.type(place, "/digest"))
    heard.wait()
    assert [each["text"] for each in workspace.ephemerals(place, "reader")] == ["here too"]


def test_an_unknown_command_and_a_silent_app_are_told_in_slacks_words(workspace, channel, connect):
    with pytest.raises(Refused, match='/digest failed with the error "dispatch_failed"'):
        workspace.act("reader", lambda person: person.type(channel, "/digest"))
    release = threading.Event()

    def listeners(app):
        @app.command("/digest")
        def digest(ack):
            release.wait(5)
            ack()

    connect(listeners)
    with pytest.raises(Refused, match='/digest failed with the error "operation_timeout"'):
        workspace.act("reader", lambda person: person.type(channel, "/digest"))
    release.set()
    with pytest.raises(Refused, match="/nothing is not a valid command"):
        workspace.act("reader", lambda person: person.type(channel, "/nothing"))


def test_events_come_with_thread_and_mention_and_only_from_channels_of_the_bot(workspace, channel, connect):
    heard = Heard()
    mentions = Heard()

    def listeners(app):
        app.event("message")(heard.event)
        app.event("app_mention")(mentions.event)

    connect(listeners)
    elsewhere = workspace.create_channel("elsewhere", with_bot=False)

    def talk(person):
        person.say(elsewhere, "not for the bot")
        parent = person.say(channel, "hello @digest-bot")
        person.say(channel, "a reply", thread_ts=f"{parent.ts // 10**6}.{parent.ts % 10**6:06d}")

    workspace.act("reader", talk)
    first, second = heard.wait(2)
    assert first["text"] == f"hello <@{workspace.bot_user_id}>"
    assert first["channel_type"] == "channel"
    assert second["thread_ts"] == first["ts"]
    assert str(uuid.UUID(first["client_msg_id"])) == first["client_msg_id"]
    (mention,) = mentions.wait()
    assert mention["ts"] == first["ts"]
    assert "client_msg_id" not in mention


def test_an_event_that_is_not_acknowledged_comes_again(workspace, channel, connect):
    heard = Heard()

    def listeners(app):
        @app.middleware
        def note(body, req, next_):
            if body.get("event", {}).get("type") == "message":
                heard.add((body["event_id"], req.headers.get("x-slack-retry-num")))
                return
            next_()

    connect(listeners)

    def talk(person):
        person.say(channel, "listen")

    workspace.act("reader", talk)
    attempts = heard.wait(4)
    assert len({event for event, _ in attempts}) == 1
    assert [number for _, number in attempts] == [["0"], ["1"], ["2"], ["3"]]


def test_a_click_carries_message_value_and_state_and_may_replace_its_message(workspace, client, channel, connect):
    heard = Heard()

    def listeners(app):
        @app.action("go")
        def go(ack, body, respond):
            ack()
            respond("done", replace_original=True)
            heard.add(body)

    connect(listeners)
    button = {
        "type": "button",
        "action_id": "go",
        "value": "7",
        "text": {"type": "plain_text", "text": "Go"},
    }
    posted = client.chat_postMessage(
        channel=channel, text="press", blocks=[{"type": "actions", "block_id": "row", "elements": [button]}]
    )
    workspace.act(
        "reader",
        lambda person: clicks.act_on_message(person, channel, posted["ts"], "row", "go"),
    )
    body = heard.wait()[0]
    assert body["actions"][0]["value"] == "7"
    assert body["container"] == {
        "type": "message",
        "message_ts": posted["ts"],
        "channel_id": channel,
        "is_ephemeral": False,
    }
    assert body["message"]["text"] == "press"
    last = workspace.messages(channel)[-1]
    assert (last["ts"], last["text"], "blocks" in last) == (posted["ts"], "done", False)


def test_a_select_takes_only_what_it_offers(workspace, client, channel, connect):
    heard = Heard()

    def listeners(app):
        @app.action("pick")
        def pick(ack, action):
            ack()
            heard.add(action)

    connect(listeners)
    options = [{"text": {"type": "plain_text", "text": each}, "value": each} for each in ("one", "two")]
    select = {"type": "static_select", "action_id": "pick", "options": options}
    posted = client.chat_postMessage(
        channel=channel, text="choose", blocks=[{"type": "actions", "block_id": "row", "elements": [select]}]
    )

    def choose(value):
        workspace.act(
            "reader",
            lambda person: clicks.act_on_message(person, channel, posted["ts"], "row", "pick", value),
        )

    choose("two")
    assert heard.wait()[0]["selected_option"]["text"]["text"] == "two"
    with pytest.raises(Exception, match="invalid_option"):
        choose("three")


def test_a_modal_opens_takes_errors_and_closes(workspace, channel, connect):
    submitted = Heard()
    opened = Heard()
    closed = Heard()

    def listeners(app):
        @app.shortcut("search_digests")
        def search(ack, body, client):
            ack()
            opened.add(client.views_open(trigger_id=body["trigger_id"], view=MODAL)["view"])

        @app.view("ask")
        def ask(ack, view):
            words = view["state"]["values"]["words"]["typed"]["value"]
            if len(submitted.items) == 0:
                ack(response_action="errors", errors={"words": "too common"})
            else:
                ack()
            submitted.add(words)

        @app.view_closed("ask")
        def gone(ack, view):
            ack()
            closed.add(view["id"])

    connect(listeners)
    workspace.act("reader", lambda person: person.global_shortcut("search_digests"))
    view = opened.wait()[0]
    with pytest.raises(Refused) as missing:
        workspace.act("reader", lambda person: clicks.submit(person, view["id"], {}))
    assert missing.value.extra["errors"].keys() == {"words"}
    with pytest.raises(Refused) as refused:
        workspace.act("reader", lambda person: clicks.submit(person, view["id"], STATE))
    assert refused.value.extra["errors"] == {"words": "too common"}
    workspace.act("reader", lambda person: clicks.submit(person, view["id"], STATE))
    assert submitted.items == ["vllm", "vllm"]
    with pytest.raises(Exception, match="not_found"):
        workspace.act("reader", lambda person: clicks.close(person, view["id"]))

    workspace.act("reader", lambda person: person.global_shortcut("search_digests"))
    second = opened.wait(2)[1]
    workspace.act("reader", lambda person: clicks.close(person, second["id"]))
    assert closed.wait() == [second["id"]]


def test_a_submission_may_push_update_and_clear(workspace, channel, connect):
    opened = Heard()
    pushed = {**MODAL, "callback_id": "second", "notify_on_close": False}

    def listeners(app):
        @app.shortcut("search_digests")
        def search(ack, body, client):
            ack()
            opened.add(client.views_open(trigger_id=body["trigger_id"], view=MODAL)["view"])

        app.view("ask")(lambda ack: ack(response_action="push", view=pushed))
        app.view("second")(lambda ack: ack(response_action="clear"))

    connect(listeners)
    workspace.act("reader", lambda person: person.global_shortcut("search_digests"))
    first = opened.wait()[0]
    workspace.act("reader", lambda person: clicks.submit(person, first["id"], STATE))

    def top(person):
        return [view.document["callback_id"] for view in person.workspace.modals.stack(person.user)]

    async def submit_top(person):
        await clicks.submit(person, person.workspace.modals.stack(person.user)[-1].id, STATE)

    assert workspace.act("reader", top) == ["ask", "second"]

    def give_fresh_ids(person):
        return person.workspace.modals.stack(person.user)[-1]

    second = workspace.act("reader", give_fresh_ids)
    assert second.root_id == first["id"]
    assert second.previous_id == first["id"]
    workspace.act("reader", submit_top)
    assert workspace.act("reader", top) == []


def test_the_home_tab_is_published_per_person_and_its_opening_is_an_event(workspace, client, connect):
    heard = Heard()

    def listeners(app):
        app.event("app_home_opened")(heard.event)

    connect(listeners)
    home = {"type": "home", "blocks": [{"type": "divider"}]}
    view = client.views_publish(user_id=workspace.user_id("reader"), view=home)["view"]
    assert view["type"] == "home"

    def open_home(person):
        person.open_home()

    workspace.act("reader", open_home)
    workspace.act("colleague", open_home)
    first, second = heard.wait(2)
    assert first["view"]["id"] == view["id"]
    assert "view" not in second


def test_a_message_shortcut_brings_the_message(workspace, client, channel, connect):
    heard = Heard()

    def listeners(app):
        @app.shortcut("entry_save")
        def save(ack, body, respond):
            ack()
            respond("saved")
            heard.add(body)

    connect(listeners)
    ts = client.chat_postMessage(channel=channel, text="keep me")["ts"]
    workspace.act("reader", lambda person: person.message_shortcut(channel, ts, "entry_save"))
    body = heard.wait()[0]
    assert body["type"] == "message_action"
    assert body["message"]["text"] == "keep me"
    assert workspace.ephemerals(channel, "reader")[-1]["text"] == "saved"


def test_reactions_and_edits_of_people_are_events(workspace, client, channel, connect):
    heard = Heard()

    def listeners(app):
        app.event("reaction_added")(heard.event)
        app.event("reaction_removed")(heard.event)

    connect(listeners)
    ts = client.chat_postMessage(channel=channel, text="react")["ts"]

    def react(person):
        person.react(channel, ts, "eyes")

    def unreact(person):
        person.react(channel, ts, "eyes", remove=True)

    workspace.act("reader", react)
    added = heard.wait()[0]
    assert (added["reaction"], added["item"]["ts"], added["item_user"]) == ("eyes", ts, workspace.bot_user_id)
    workspace.act("reader", unreact)
    assert heard.wait(2)[1]["type"] == "reaction_removed"
