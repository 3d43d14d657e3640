"""Things handed to the app that wear out: trigger IDs (3 s, once) and response URLs (5 uses in 30 minutes)."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.workspace.errors import SlackError
from bot.workspace.model import Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """A person's click or command that allows one modal. `view_id` is the modal it was made in, for `views.push`."""

    user: str
    made: float
    view_id: str | None = None
    is_used: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseUrl:
    """Where an answer to an interaction goes. `original` is the message that `replace_original` means."""

    user: str
    channel: str
    made: float
    original: int | None = None
    uses: int = 0


class Tickets:
    """Gives out trigger IDs and response URLs, and takes them back."""

    def __init__(self, clock: Callable[[], float], timing: Timing) -> None:
        self._clock = clock
        self._timing = timing
        self._triggers: dict[str, Trigger] = {}
        self._urls: dict[str, ResponseUrl] = {}

    def trigger(self, user: str, view_id: str | None = None) -> str:
        """A new trigger ID for what this user just did."""
        now = self._clock()
        name = f"{int(now * 1000)}.{secrets.randbelow(10**10):010d}.{secrets.token_hex(16)}"
        self._triggers[name] = Trigger(user=user, made=now, view_id=view_id)
        return name

    def exchange(self, name: str) -> Trigger:
        """Uses a trigger ID up. Raises `invalid_trigger_id`, `expired_trigger_id`, `exchanged_trigger_id`."""
        trigger = self._triggers.get(name)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.is_used:
            raise SlackError("exchanged_trigger_id")
        if self._clock() - trigger.made > self._timing.trigger:
            raise SlackError("expired_trigger_id")
        self._triggers[name] = replace(trigger, is_used=True)
        return trigger

    def response_url(self, user: str, channel: str, original: int | None = None) -> str:
        """The secret part of a response URL."""
        name = secrets.token_urlsafe(18)
        self._urls[name] = ResponseUrl(user=user, channel=channel, made=self._clock(), original=original)
        return name

    def peek(self, name: str) -> ResponseUrl:
        """The address without counting a use."""
        return self._urls[name]

    def use(self, name: str) -> ResponseUrl:
        """Counts one use. Raises `invalid_url`, `expired_url`, `used_url`."""
        url = self._urls.get(name)
        if url is None:
            raise SlackError("invalid_url")
        if self._clock() - url.made > self._timing.response_url:
            raise SlackError("expired_url")
        if url.uses >= self._timing.response_url_uses:
            raise SlackError("used_url")
        self._urls[name] = replace(url, uses=url.uses + 1)
        return url

    def remember_original(self, name: str, ts: int) -> None:
        """The message that this URL made last is what `replace_original` means from now on."""
        self._urls[name] = replace(self._urls[name], original=ts)
