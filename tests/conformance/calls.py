"""Tokens, unknown things, channels and people."""

from __future__ import annotations

import urllib.parse
import urllib.request

from tests.conformance.probe import Probe, demand, expect, send


def a_missing_token_is_not_authed(probe: Probe) -> None:
    probe.refused("auth.test", "not_authed", token=None)


def an_unknown_token_is_invalid_auth(probe: Probe) -> None:
    probe.refused("auth.test", "invalid_auth", token="xoxb-nobody-has-this-one")
    probe.refused("chat.postMessage", "invalid_auth", token="xoxb-nobody-has-this-one", channel="C1", text="x")


def the_token_may_come_as_an_argument(probe: Probe) -> None:
    data = urllib.parse.urlencode({"token": probe.token}).encode()
    demand(send(urllib.request.Request(probe.base + "auth.test", data=data)).body.get("ok"), "token in the form")


def an_unknown_method_is_http_200_unknown_method(probe: Probe) -> None:
    body = probe.refused("digest.noSuchMethod", "unknown_method")
    expect(body.get("req_method"), "digest.noSuchMethod", "req_method")


def an_argument_is_named_in_letters_digits_and_underscores(probe: Probe) -> None:
    probe.ok("api.test", nobody_knows_this_1="x")
    probe.refused("api.test", "invalid_arg_name", **{"not-a-name": "x"})


def auth_test_names_team_user_and_bot(probe: Probe) -> None:
    body = probe.ok("auth.test")
    for field in ("url", "team", "team_id", "user", "user_id", "bot_id"):
        demand(body.get(field), f"auth.test answers {field}")
    demand(body["url"].endswith("/"), "the url ends with a slash")
    demand(body["team_id"].startswith("T"), "a team ID starts with T")
    demand(body["user_id"][0] in "UW", "a user ID starts with U or W")


def answers_name_the_scopes_in_a_header(probe: Probe) -> None:
    headers = {name.lower() for name in probe.call("auth.test").headers}
    demand("x-oauth-scopes" in headers, "x-oauth-scopes is among the headers")


def api_test_echoes_and_fails_on_demand(probe: Probe) -> None:
    expect(probe.ok("api.test", foo="bar")["args"].get("foo"), "bar", "args.foo")
    probe.refused("api.test", "my_error", error="my_error")


def json_bodies_and_forms_mean_the_same(probe: Probe) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "same"}}]
    for as_json in (True, False):
        body = probe.ok("chat.postMessage", channel=probe.channel, text="same", blocks=blocks, as_json=as_json)
        expect(body["message"]["blocks"][0]["text"]["text"], "same", f"blocks, as_json={as_json}")


def an_unknown_channel_is_channel_not_found(probe: Probe) -> None:
    probe.refused("chat.postMessage", "channel_not_found", channel="C00000000", text="x")
    probe.refused("conversations.info", "channel_not_found", channel="C00000000")
    probe.refused("conversations.history", "channel_not_found", channel="C00000000")


def a_foreign_private_channel_is_channel_not_found(probe: Probe) -> None:
    made = probe.ok("conversations.create", token=probe.user_token, name=probe.name("secret"), is_private=True)
    secret = made["channel"]["id"]
    probe.refused("chat.postMessage", "channel_not_found", channel=secret, text="x")
    probe.refused("conversations.info", "channel_not_found", channel=secret)
    listed = probe.ok("conversations.list", types="public_channel,private_channel", limit=1000)["channels"]
    demand(secret not in {each["id"] for each in listed}, "a foreign private channel is not listed")


def a_public_channel_without_membership_is_not_in_channel(probe: Probe) -> None:
    made = probe.ok("conversations.create", token=probe.user_token, name=probe.name("open"))
    channel = made["channel"]["id"]
    probe.refused("chat.postMessage", "not_in_channel", channel=channel, text="x")
    probe.refused("conversations.history", "not_in_channel", channel=channel)
    probe.ok("conversations.join", channel=channel)
    probe.ok("chat.postMessage", channel=channel, text="now I am")
    again = probe.ok("conversations.join", channel=channel)
    expect(again.get("warning"), "already_in_channel", "joining twice")


def an_archived_channel_takes_nothing(probe: Probe) -> None:
    channel = probe.ok("conversations.create", name=probe.name("old"))["channel"]["id"]
    probe.ok("conversations.archive", channel=channel)
    probe.refused("chat.postMessage", "is_archived", channel=channel, text="x")
    demand(probe.ok("conversations.info", channel=channel)["channel"]["is_archived"], "is_archived is shown")


def a_taken_name_is_name_taken(probe: Probe) -> None:
    name = probe.name("twice")
    probe.ok("conversations.create", name=name)
    probe.refused("conversations.create", "name_taken", name=name)


def bad_names_of_channels_are_refused(probe: Probe) -> None:
    probe.refused("conversations.create", "invalid_name_specials", name="With Space")
    probe.refused("conversations.create", "invalid_name_maxlength", name="x" * 81)


def lists_go_on_over_a_cursor(probe: Probe) -> None:
    for number in range(3):
        probe.ok("conversations.create", name=probe.name(f"page{number}"))
    seen: list[str] = []
    cursor = None
    for _ in range(500):
        body = probe.ok("conversations.list", limit=1, cursor=cursor)
        expect(len(body["channels"]), 1, "one channel a page")
        seen += [each["id"] for each in body["channels"]]
        cursor = body.get("response_metadata", {}).get("next_cursor")
        if not cursor or len(seen) >= 5:
            break
    demand(len(seen) == len(set(seen)) and len(seen) >= 3, "pages hold different channels")
    probe.refused("conversations.list", "invalid_cursor", cursor="%%%")


def unknown_types_of_channels_are_invalid_types(probe: Probe) -> None:
    probe.refused("conversations.list", "invalid_types", types="public")


def users_are_found_by_id_only(probe: Probe) -> None:
    me = probe.ok("auth.test")["user_id"]
    expect(probe.ok("users.info", user=me)["user"]["id"], me, "users.info")
    probe.refused("users.info", "user_not_found", user="U00000000")


CHECKS = (
    a_missing_token_is_not_authed,
    an_unknown_token_is_invalid_auth,
    the_token_may_come_as_an_argument,
    an_unknown_method_is_http_200_unknown_method,
    an_argument_is_named_in_letters_digits_and_underscores,
    auth_test_names_team_user_and_bot,
    answers_name_the_scopes_in_a_header,
    api_test_echoes_and_fails_on_demand,
    json_bodies_and_forms_mean_the_same,
    an_unknown_channel_is_channel_not_found,
    a_foreign_private_channel_is_channel_not_found,
    a_public_channel_without_membership_is_not_in_channel,
    an_archived_channel_takes_nothing,
    a_taken_name_is_name_taken,
    bad_names_of_channels_are_refused,
    lists_go_on_over_a_cursor,
    unknown_types_of_channels_are_invalid_types,
    users_are_found_by_id_only,
)
