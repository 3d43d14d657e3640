"""What a whole conversation leaves in the log: events and ids, never a token, never what people wrote."""

import io

import pytest

from bot.errors import StorageUnavailable
from bot.log import configure
from bot.model import Channel, Message
from bot.slack.client import posting_client
from bot.slack.poster import SlackPoster
from bot.workspace.faults import Fault, FaultKind
from bot.workspace.server import LocalWorkspace
from tests.unit.slack.harness import Bot, Hand, eventually, words

SECRET_WORDS = "只有我们知道的事"


@pytest.fixture
def written():
    stream = io.StringIO()
    configure(stream=stream, level="DEBUG")
    return stream


def test_neither_tokens_nor_words_are_logged_at_any_level(written):
    with LocalWorkspace() as workspace, Bot(workspace) as bot:
        channel, hand = workspace.create_channel("logged"), Hand(workspace)
        hand.type(channel, f"/digest {SECRET_WORDS}")
        hand.whisper(channel, "hits for")
        bot.desk.error = StorageUnavailable("database is locked")
        hand.type(channel, f"/digest {SECRET_WORDS}")
        hand.whisper(channel, "sentence busy")
        bot.desk.error = RuntimeError("broken")
        hand.type(channel, f"/digest {SECRET_WORDS}")
        hand.whisper(channel, "sentence failed")
        bot.desk.error = None
        hand.type(channel, f"@digest-bot {SECRET_WORDS}")
        eventually(lambda: bot.desk.mentions)
        poster = SlackPoster(posting_client(workspace.bot_token, api_url=workspace.api_url))
        for kind in (
            FaultKind.DROP_AFTER,
            FaultKind.ERROR,
            FaultKind.NOT_JSON_AFTER,
            FaultKind.STATUS_BEFORE,
        ):
            workspace.add_fault(Fault(kind=kind))
            message: Message = words(SECRET_WORDS)
            poster.post(Channel(team_id="T1", channel_id=channel), message, key="k")
        workspace.drop_sockets()
        eventually(lambda: workspace.connections == 1)
        tokens = (workspace.bot_token, workspace.app_token, workspace.signing_secret)
    text = written.getvalue()
    assert "listener_failed" in text
    assert "RuntimeError: broken" in text
    assert "listener_busy" in text
    assert not [token for token in tokens if token in text]
    assert SECRET_WORDS not in text
    assert "ticket=" not in text.replace("ticket=***", "")
