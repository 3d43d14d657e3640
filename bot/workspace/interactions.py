"""What a person does in the workspace: types, edits, reacts, runs commands. Interactive parts are in `clicks`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.workspace import answers, payloads
from bot.workspace.api.reactions import emoji_name
from bot.workspace.composer import compose
from bot.workspace.core import Workspace
from bot.workspace.errors import SlackError
from bot.workspace.model import Channel, Message, Shortcut, User
from bot.workspace.sockets import NotDelivered

_COMMAND = re.compile(r"(/\S+)\s*(.*)", re.DOTALL)
NOT_DONE = "We had some trouble connecting. Try again?"


class Refused(Exception):
    """A person sees this instead of what she asked for. `code` is for programs, `message` for her."""

    def __init__(self, code: str, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.extra = extra


def explain(problem: NotDelivered) -> str:
    """Slack's word to the person: `operation_timeout` for no answer in time, `dispatch_failed` for nobody there."""
    return "operation_timeout" if "timeout" in problem.reason else "dispatch_failed"


class Person:
    """One user of the workspace at her keyboard. Raises `Refused`, and `SlackError` for what does not exist."""

    def __init__(self, workspace: Workspace, user: User) -> None:
        self.workspace = workspace
        self.user = user

    def channel(self, channel_id: str) -> Channel:
        """A channel that this person may see."""
        return self.workspace.channel(channel_id, self.user)

    async def type(self, channel_id: str, text: str, *, thread_ts: str | None = None) -> Message | None:
        """A message, or a slash command (then None). A command typed in a thread is refused, as in Slack."""
        channel = self.channel(channel_id)
        if text.startswith("/"):
            if thread_ts is not None:
                name = text.split(maxsplit=1)[0]
                raise Refused("not_allowed_in_thread", f"{name} is not supported in threads. Sorry!")
            await self.command(channel, text)
            return None
        return self.say(channel_id, text, thread_ts=thread_ts)

    def say(self, channel_id: str, text: str, *, thread_ts: str | None = None) -> Message:
        """A message; she joins the public channel she writes in."""
        channel = self.channel(channel_id)
        if channel.is_archived:
            raise SlackError("is_archived")
        if not text.strip():
            raise SlackError("no_text")
        if self.user.id not in channel.members:
            channel = self.workspace.join(channel, self.user)
        messages = self.workspace.messages
        thread = messages.parent(channel, thread_ts) if thread_ts else None
        return messages.post(channel, self.user, compose(self.workspace.store, text), thread=thread)

    def edit(self, channel_id: str, ts: str, text: str) -> Message:
        """Change a message of her own."""
        message = self._own(channel_id, ts, "cant_update_message")
        return self.workspace.messages.change(message, compose(self.workspace.store, text), editor=self.user)

    def delete(self, channel_id: str, ts: str) -> None:
        """Delete a message of her own."""
        self.workspace.messages.delete(self._own(channel_id, ts, "cant_delete_message"))

    def react(self, channel_id: str, ts: str, name: str, *, remove: bool = False) -> None:
        """React, or take the reaction back."""
        message = self.workspace.messages.get(self.channel(channel_id), ts)
        act = self.workspace.messages.unreact if remove else self.workspace.messages.react
        act(message, self.user, emoji_name(name))

    async def command(self, channel: Channel, line: str) -> None:
        """Runs `/name text` and shows what the acknowledgement says. What fails is shown to her alone."""
        match = _COMMAND.fullmatch(line.strip())
        name, text = (match[1], match[2]) if match else (line, "")
        known = next((each for each in self.workspace.store.app.commands if each.command == name), None)
        if known is None:
            raise Refused("unknown_command", f"{name} is not a valid command.")
        if known.should_escape:
            text = compose(self.workspace.store, text)["text"] if text else ""
        tickets = self.workspace.tickets
        secret = tickets.response_url(self.user.id, channel.id)
        url = answers.url_of(self.workspace, "commands", secret)
        payload = payloads.slash_command(self.workspace, self.user, channel, command=name, text=text, url=url)
        try:
            reply = await self.workspace.dispatcher.ask("slash_commands", payload)
        except NotDelivered as problem:
            code = explain(problem)
            raise Refused(code, f'{name} failed with the error "{code}"') from problem
        self.show(secret, reply)

    async def message_shortcut(self, channel_id: str, ts: str, callback_id: str) -> None:
        """Not offered on ephemeral messages."""
        self._shortcut("message", callback_id)
        channel = self.channel(channel_id)
        message = self.workspace.messages.get(channel, ts)
        secret = self.workspace.tickets.response_url(self.user.id, channel.id, message.ts)
        url = answers.url_of(self.workspace, "app", secret)
        await self.ask(
            payloads.message_shortcut(self.workspace, self.user, channel, message, callback_id=callback_id, url=url)
        )

    async def global_shortcut(self, callback_id: str) -> None:
        """Choose a shortcut from the menu of shortcuts."""
        self._shortcut("global", callback_id)
        await self.ask(payloads.global_shortcut(self.workspace, self.user, callback_id))

    async def ask(self, payload: Mapping[str, Any]) -> Any:
        """Delivers an interaction; returns the payload of the acknowledgement."""
        try:
            return await self.workspace.dispatcher.ask("interactive", dict(payload))
        except NotDelivered as problem:
            raise Refused(explain(problem), NOT_DONE) from problem

    def open_home(self) -> None:
        """Shows the Home tab as it is now, and tells the app that it was opened."""
        store = self.workspace.store
        if not store.app.home_enabled:
            raise Refused("not_enabled", "This app has no Home tab.")
        channel = store.open_im(store.bot_user, self.user, self.workspace.clock())
        view = store.homes.get(self.user.id)
        self.workspace.events.home_opened(
            self.user, channel, None if view is None else self.workspace.modals.present(view)
        )

    def show(self, secret: str, reply: Any) -> None:
        """What an acknowledgement says. It does not count as a use of the response URL."""
        url = self.workspace.tickets.peek(secret)
        error = answers.quietly(self.workspace, url, secret, reply)
        if error is not None:
            raise Refused(error, f"The app answered with something that cannot be shown ({error}).")

    def _shortcut(self, kind: str, callback_id: str) -> Shortcut:
        for each in self.workspace.store.app.shortcuts:
            if each.type == kind and each.callback_id == callback_id:
                return each
        raise Refused("unknown_shortcut", "This shortcut does not exist.")

    def _own(self, channel_id: str, ts: str, refusal: str) -> Message:
        message = self.workspace.messages.get(self.channel(channel_id), ts)
        if message.user != self.user.id:
            raise SlackError(refusal)
        return message
