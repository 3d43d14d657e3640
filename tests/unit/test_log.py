"""Logs: for people or for machines, and never with a token."""

import io
import json
import logging

import pytest

from bot.log import configure, get_logger, redact

TOKEN = "xoxb-111-222-abcDEF"
APP_TOKEN = "xapp-1-A012-345-deadbeef"


@pytest.fixture
def written():
    return io.StringIO()


def test_a_line_is_json_where_nobody_looks(written):
    configure(stream=written)
    get_logger("bot.test").info("delivery_sent", delivery=7, channel="C1")
    line = json.loads(written.getvalue())
    assert {key: line[key] for key in ("event", "delivery", "channel", "level", "logger")} == {
        "event": "delivery_sent",
        "delivery": 7,
        "channel": "C1",
        "level": "info",
        "logger": "bot.test",
    }


def test_a_line_is_readable_on_a_terminal(written):
    written.isatty = lambda: True
    configure(stream=written)
    get_logger("bot.test").info("delivery_sent", delivery=7)
    assert "delivery_sent" in written.getvalue()
    assert not written.getvalue().startswith("{")


@pytest.mark.parametrize("as_json", [True, False])
def test_no_token_gets_through_wherever_it_stands(written, as_json):
    configure(stream=written, as_json=as_json)
    log = get_logger("bot.test")
    log.info("with", text=f"as {TOKEN}.", where={"deep": [APP_TOKEN, (TOKEN,)]}, raw=TOKEN.encode())
    logging.getLogger("slack_bolt").warning("Token %s was refused", TOKEN)
    logging.getLogger("uvicorn.error").warning("extra", extra={"token": TOKEN})
    log.error("failed", exc_info=RuntimeError(f"called with {APP_TOKEN}"))
    assert "RuntimeError" in written.getvalue()
    assert TOKEN not in written.getvalue()
    assert APP_TOKEN not in written.getvalue()
    assert "deadbeef" not in written.getvalue()


def test_the_secrets_in_slack_addresses_are_hidden():
    assert "s3cret" not in redact("POST https://hooks.slack.com/commands/T1/22/s3cret failed")
    assert "s3cret" not in redact("wss://wss-primary.slack.com/link/?ticket=s3cret&app_id=1")


def test_the_libraries_never_print_bodies(written):
    configure(stream=written, level="DEBUG")
    logging.getLogger("slack_sdk.web.base_client").debug("Sending a request - body: 正文")
    logging.getLogger("slack_bolt.App").debug("Applying")
    get_logger("bot.test").debug("ours")
    assert "正文" not in written.getvalue()
    assert "ours" in written.getvalue()


def test_the_clock_does_not_tell_of_every_tick(written):
    configure(stream=written, level="DEBUG")
    logging.getLogger("apscheduler.executors.default").info("Running job")
    logging.getLogger("apscheduler.scheduler").warning("Run was missed")
    assert "Running job" not in written.getvalue()
    assert "Run was missed" in written.getvalue()


def test_configuring_twice_prints_once(written):
    configure(stream=written)
    configure(stream=written)
    get_logger("bot.test").info("once")
    assert written.getvalue().count("once") == 1
