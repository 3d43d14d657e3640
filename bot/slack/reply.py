"""The ways back to the person who asked: the response_url of a command or click, a view, an ephemeral message."""

from __future__ import annotations

import http.client
import threading
import time
from typing import Any, Protocol

from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError
from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler
from slack_sdk.webhook import WebhookClient

from bot.errors import SlackUnavailable
from bot.model import Json, Message
from bot.slack.asking import ask
from bot.slack.client import silent_logger

RESPONSE_SECONDS = 10
ACK_TRAVELS = 0.5
"""Seconds after which an ack has surely been seen to."""


class Sentences(Protocol):
    """Our own words for one reader."""

    def sentence(self, key: str, **values: str) -> Message:
        """The sentence `sentence.<key>` as a message."""

    def sentence_view(self, key: str, **values: str) -> Json:
        """The same as a modal."""


class ResponseUrl:
    """Answers through a response_url: works where the bot is not a member; five times within thirty minutes."""

    def __init__(self, url: str, *, sentences: Sentences) -> None:
        self._sentences = sentences
        # A second copy of an answer that only its reader sees is better than none: here a retry is right.
        self._client = WebhookClient(
            url,
            timeout=RESPONSE_SECONDS,
            logger=silent_logger("slack_sdk.webhook"),
            retry_handlers=[ConnectionErrorRetryHandler(max_retry_count=1)],
        )

    def send(self, message: Message, *, replace: bool = False) -> None:
        """Show the message to this person only; `replace` puts it where the clicked one was.

        Raises `SlackUnavailable`: the address is used up or too old, or Slack is away.
        """
        body = {
            "response_type": "ephemeral",
            "replace_original": replace,
            "text": message.text,
            "blocks": list(message.blocks),
            "unfurl_links": False,
            "unfurl_media": False,
        }
        try:
            answer = self._client.send_dict(body)
        except (SlackClientError, OSError, http.client.HTTPException, ValueError) as error:
            raise SlackUnavailable(f"no answer through response_url: {type(error).__name__}") from error
        if answer.status_code != http.client.OK:
            raise SlackUnavailable(f"response_url refused: HTTP {answer.status_code} {answer.body[:80]}")

    def say(self, key: str, **values: str) -> None:
        """Show a sentence. Raises like `send`."""
        self.send(self._sentences.sentence(key, **values))


class View:
    """A modal that is open: what it shows can be changed for half an hour, long after the trigger is spent."""

    def __init__(self, client: WebClient, view_id: str, *, sentences: Sentences) -> None:
        self._client = client
        self._view_id = view_id
        self._sentences = sentences

    def show(self, view: Json) -> None:
        """Replace the modal's content. Raises `SlackUnavailable`, also where the person has closed it."""
        ask("views.update", self._client.views_update, view_id=self._view_id, view=dict(view))

    def say(self, key: str, **values: str) -> None:
        """Replace the modal's content by a sentence. Raises like `show`."""
        self.show(self._sentences.sentence_view(key, **values))


class SubmittedView(View):
    """A modal whose form was just submitted: what is ready soon goes with the ack, anything later after it.

    A `views.update` that overtakes the ack's own update would be undone by it.
    """

    def __init__(self, client: WebClient, view_id: str, *, sentences: Sentences) -> None:
        super().__init__(client, view_id, sentences=sentences)
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._content: Json | None = None
        self._acked_at: float | None = None

    def for_ack(self, seconds: float) -> Json | None:
        """What to ack with, if it is there within `seconds`. From now on `show` updates the modal itself."""
        self._ready.wait(seconds)
        with self._lock:
            self._acked_at = time.monotonic()
            return self._content

    def show(self, view: Json) -> None:
        """Replace the modal's content. Raises like `View.show`."""
        with self._lock:
            if self._acked_at is None:
                self._content = view
                self._ready.set()
                return
            pause = self._acked_at + ACK_TRAVELS - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        super().show(view)


class Whisper:
    """An ephemeral message in a channel the bot is in, for what has no response_url: a mention, a form's end."""

    def __init__(
        self,
        client: WebClient,
        *,
        channel_id: str,
        user_id: str,
        thread_ts: str | None = None,
        sentences: Sentences,
    ) -> None:
        self._client = client
        self._where: dict[str, Any] = {"channel": channel_id, "user": user_id}
        if thread_ts is not None:
            self._where["thread_ts"] = thread_ts
        self._sentences = sentences

    def send(self, message: Message) -> None:
        """Show the message to this person only. Raises `SlackUnavailable`."""
        ask(
            "chat.postEphemeral",
            self._client.chat_postEphemeral,
            **self._where,
            text=message.text,
            blocks=list(message.blocks),
        )

    def say(self, key: str, **values: str) -> None:
        """Show a sentence. Raises like `send`."""
        self.send(self._sentences.sentence(key, **values))


class NewView:
    """A modal still to be opened, for a click that offers no other way back. Its trigger lives for three seconds."""

    def __init__(self, client: WebClient, trigger_id: str, *, sentences: Sentences) -> None:
        self._client = client
        self._trigger_id = trigger_id
        self._sentences = sentences

    def say(self, key: str, **values: str) -> None:
        """Open a modal with a sentence. Raises `SlackUnavailable`, mostly because it is too late."""
        view = self._sentences.sentence_view(key, **values)
        ask("views.open", self._client.views_open, trigger_id=self._trigger_id, view=dict(view))
