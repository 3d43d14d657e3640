"""The manifest, against the limits of Slack's schema."""

import json

import pytest

from bot.model import Language
from bot.slack.manifest import BOT_EVENTS, SCOPES, manifest

NEEDED = {
    "app_mention": {"app_mentions:read"},
    "message.channels": {"channels:history"},
    "message.groups": {"groups:history"},
    "reaction_added": {"reactions:read"},
    "reaction_removed": {"reactions:read"},
    "member_joined_channel": {"channels:read"},
    "app_home_opened": set(),
}

BOTH = pytest.mark.parametrize("language", list(Language))


def test_at_most_eight_scopes_are_asked_for_each_with_a_reason():
    assert len(SCOPES) <= 8
    assert all(len(reason) > 20 for reason in SCOPES.values())


def test_every_event_has_the_scope_it_needs():
    assert set(BOT_EVENTS) == set(NEEDED)
    assert set().union(*NEEDED.values()) <= set(SCOPES)


@BOTH
@pytest.mark.parametrize("url", [None, "https://bot.example.org/"])
def test_the_manifest_keeps_the_limits_of_the_schema(language, url):
    found = manifest(url, language=language)
    about = found["display_information"]
    assert len(about["name"]) <= 35
    assert len(about["description"]) <= 140
    for command in found["features"]["slash_commands"]:
        assert 2 <= len(command["command"]) <= 32
        assert 1 <= len(command["description"]) <= 2000
        assert 1 <= len(command["usage_hint"]) <= 1000
    for shortcut in found["features"]["shortcuts"]:
        assert len(shortcut["name"]) <= 24
        assert len(shortcut["description"]) <= 150
        assert len(shortcut["callback_id"]) <= 255
    assert len(found["settings"]["event_subscriptions"]["bot_events"]) <= 100
    assert json.loads(json.dumps(found)) == found


def test_an_app_is_of_one_kind_or_the_other():
    socket_kind, http_kind = manifest(), manifest("https://bot.example.org/")
    assert socket_kind["settings"]["socket_mode_enabled"] is True
    assert "slack/events" not in json.dumps(socket_kind)
    assert http_kind["settings"]["socket_mode_enabled"] is False
    target = "https://bot.example.org/slack/events"
    assert http_kind["features"]["slash_commands"][0]["url"] == target
    assert http_kind["settings"]["event_subscriptions"]["request_url"] == target
    assert http_kind["settings"]["interactivity"]["request_url"] == target
