"""What every listener is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_sdk import WebClient

from bot.model import Json, Message
from bot.readers.marks import Discussion
from bot.slack.asking import ask
from bot.slack.directory import Identity
from bot.slack.ports import Desk, Membership, Reader, Said, Sharing
from bot.slack.reply import NewView, ResponseUrl, SubmittedView, View, Whisper
from bot.slack.requests import reader_of, surface
from bot.slack.work import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """The desk's sentences for one reader."""

    desk: Desk
    reader: Reader

    def sentence(self, key: str, **values: str) -> Message:
        return self.desk.sentence(self.reader, key, **values)

    def sentence_view(self, key: str, **values: str) -> Json:
        return self.desk.sentence_view(self.reader, key, **values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The services behind the listeners, and the ways back to a person."""

    desk: Desk
    sharing: Sharing
    discussion: Discussion
    membership: Membership
    work: Work
    client: WebClient
    """For views and whispers, with the bot's token. It may retry: what it does twice looks like once."""
    identity: Callable[[], Identity]

    def response_url(self, body: Mapping[str, Any]) -> ResponseUrl:
        """The way back through the response_url of a command, a click in a message, or a message shortcut."""
        return ResponseUrl(str(body["response_url"]), sentences=self._words(body))

    def view(self, body: Mapping[str, Any], view_id: str) -> View:
        """The way back through an open modal."""
        return View(self.client, view_id, sentences=self._words(body))

    def submitted_view(self, body: Mapping[str, Any]) -> SubmittedView:
        """The way back through the modal whose form was submitted."""
        return SubmittedView(self.client, str(body["view"]["id"]), sentences=self._words(body))

    def whisper(self, body: Mapping[str, Any], channel_id: str, thread_ts: str | None = None) -> Whisper:
        """The way back through an ephemeral message."""
        return Whisper(
            self.client,
            channel_id=channel_id,
            user_id=reader_of(body).user_id,
            thread_ts=thread_ts,
            sentences=self._words(body),
        )

    def teller(self, body: Mapping[str, Any]) -> ResponseUrl | View | NewView | None:
        """Whatever way back the request offers."""
        if body.get("response_url"):
            return self.response_url(body)
        if surface(body) == "modal" and body.get("type") == "block_actions":
            return self.view(body, str(body["view"]["id"]))
        if body.get("trigger_id"):
            return NewView(self.client, str(body["trigger_id"]), sentences=self._words(body))
        return None

    def open_view(self, body: Mapping[str, Any], view: Json) -> str:
        """Open a modal, on top of the one that was clicked in if there is one; its id. Raises `SlackUnavailable`.

        To be called at once: the trigger lives for three seconds.
        """
        if surface(body) == "modal":
            method, call = "views.push", self.client.views_push
        else:
            method, call = "views.open", self.client.views_open
        found = ask(method, call, trigger_id=body["trigger_id"], view=dict(view))
        return str(found["view"]["id"])

    def publish_home(self, reader: Reader) -> None:
        """Show the reader's Home tab as it is now. Raises `SlackUnavailable`."""
        ask("views.publish", self.client.views_publish, user_id=reader.user_id, view=self.desk.home(reader))

    def _words(self, body: Mapping[str, Any]) -> _Words:
        return _Words(desk=self.desk, reader=reader_of(body))


def tell(teller: ResponseUrl | View | NewView | Whisper, said: Said) -> None:
    """Say the sentence. Raises `SlackUnavailable`."""
    teller.say(said.key, **said.values)
