"""Looking for a message: absent is said only after the last page."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

import pytest

from bot.delivery.values import Absent, CannotLook, Found
from bot.model import Channel
from bot.slack.client import reading_client
from bot.slack.history import SlackHistory
from tests.unit.slack.loopback import Loopback, http_answer

CHANNEL = Channel(team_id="T1", channel_id="C1")
NOW = datetime(2026, 12, 1, 1, 0, tzinfo=UTC)


def message(ts, key=None, event_type="digest_delivery"):
    found = {"ts": ts, "text": "x"}
    if key is not None:
        found["metadata"] = {"event_type": event_type, "event_payload": {"id": key}}
    return found


def page(*messages, cursor=""):
    return http_answer(body={"ok": True, "messages": list(messages), "response_metadata": {"next_cursor": cursor}})


def look(server, **more):
    history = SlackHistory(reading_client("xoxb-1", api_url=server.url), now=lambda: NOW)
    return history.find(CHANNEL, key="k1", oldest=NOW, **more)


def test_a_message_on_the_second_page_is_found():
    with Loopback([page(message("9.1", "other"), cursor="c2"), page(message("5.1"), message("4.1", "k1"))]) as server:
        assert look(server) == Found(ts="4.1")
    first, second = (parse_qs(request.body.decode()) for request in server.requests)
    assert first["include_all_metadata"] == ["1"]
    assert first["oldest"] == [f"{(NOW - timedelta(hours=1)).timestamp():.6f}"]
    assert second["cursor"] == ["c2"]


def test_all_pages_without_it_mean_absent():
    with Loopback([page(message("9.1"), cursor="c2"), page(message("8.1", "k1", event_type="theirs"))]) as server:
        assert look(server) == Absent()
    assert len(server.requests) == 2


def test_an_error_on_a_later_page_is_not_absence():
    with Loopback([page(message("9.1"), cursor="c2"), http_answer(503, b"")]) as server:
        assert isinstance(look(server), CannotLook)


def test_a_reply_is_looked_for_in_its_thread():
    with Loopback([page(message("1.1"), message("1.2", "k1"))]) as server:
        assert look(server, thread_ts="1.1") == Found(ts="1.2")
    assert server.requests[0].path == "/api/conversations.replies"


def test_a_429_says_when_to_look_again():
    with Loopback([http_answer(429, {"ok": False, "error": "ratelimited"}, Retry_After="12")]) as server:
        assert look(server) == CannotLook(reason="ratelimited", retry_at=NOW + timedelta(seconds=12))


@pytest.mark.parametrize("code", ["missing_scope", "not_in_channel", "channel_not_found"])
def test_what_only_a_person_can_mend_names_no_time(code):
    with Loopback([http_answer(body={"ok": False, "error": code})]) as server:
        assert look(server) == CannotLook(reason=code, retry_at=None)


def test_a_dead_token_is_looked_at_again_later():
    with Loopback([http_answer(body={"ok": False, "error": "token_revoked"})]) as server:
        assert look(server) == CannotLook(reason="token_revoked", retry_at=NOW + timedelta(seconds=30))


def test_a_page_that_is_not_a_page_is_not_absence():
    with Loopback([http_answer(body={"ok": True})]) as server:
        assert isinstance(look(server), CannotLook)
