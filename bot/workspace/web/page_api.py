"""`/_page/...`: what the page reads and what a person does in it. JSON in, JSON out, news as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.workspace import clicks
from bot.workspace.core import Workspace
from bot.workspace.errors import SlackError
from bot.workspace.interactions import Person
from bot.workspace.model import Channel, Json, Message
from bot.workspace.timestamps import micros, show
from bot.workspace.web.guard import body_of, guarded

_END = 10**18
_BEAT_SECONDS = 15


class PageApi:
    """The endpoints of the page."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def routes(self) -> list[Route]:
        """Every route of the page."""
        return [
            Route("/_page/boot", guarded(self.boot)),
            Route("/_page/channel/{channel}", guarded(self.channel)),
            Route("/_page/thread/{channel}/{ts}", guarded(self.thread)),
            Route("/_page/home", guarded(self.home)),
            Route("/_page/events", guarded(self.events)),
            Route("/_page/message", guarded(self.message), methods=["POST"]),
            Route("/_page/edit", guarded(self.edit), methods=["POST"]),
            Route("/_page/delete", guarded(self.delete), methods=["POST"]),
            Route("/_page/react", guarded(self.react), methods=["POST"]),
            Route("/_page/action", guarded(self.action), methods=["POST"]),
            Route("/_page/shortcut", guarded(self.shortcut), methods=["POST"]),
            Route("/_page/view_submit", guarded(self.view_submit), methods=["POST"]),
            Route("/_page/view_close", guarded(self.view_close), methods=["POST"]),
            Route("/_page/open_dm", guarded(self.open_dm), methods=["POST"]),
        ]

    # reading

    async def boot(self, request: Request) -> Response:
        """What the page needs at first: team, people, channels, commands; and open modals, though it begins bare."""
        person = self._person(request.query_params)
        store = self._workspace.store
        app = store.app
        return JSONResponse(
            {
                "ok": True,
                "team": {"id": store.team.id, "name": store.team.name, "domain": store.team.domain},
                "me": {"id": person.user.id, "name": person.user.name},
                "users": [
                    {"id": each.id, "name": each.name, "is_bot": each.is_bot, "real_name": each.real_name}
                    for each in store.users.values()
                ],
                "channels": [
                    self._channel_line(each, person)
                    for each in store.channels.values()
                    if self._workspace.visible(each, person.user)
                ],
                "commands": [
                    {"command": each.command, "description": each.description, "usage_hint": each.usage_hint}
                    for each in app.commands
                ],
                "shortcuts": [
                    {
                        "type": each.type,
                        "callback_id": each.callback_id,
                        "name": each.name,
                        "description": each.description,
                    }
                    for each in app.shortcuts
                ],
                "app": {
                    "id": app.id,
                    "name": app.name,
                    "bot_user_id": app.bot_user_id,
                    "home_enabled": app.home_enabled,
                    "is_connected": app.request_url is not None or self._workspace.sockets.count > 0,
                },
                "modals": [
                    self._workspace.news.shown_view(self._workspace.modals.present(view))
                    for view in self._workspace.modals.stack(person.user)
                ],
            }
        )

    async def channel(self, request: Request) -> Response:
        """The last messages of a channel (1,000 unless `limit` says otherwise), oldest first."""
        person = self._person(request.query_params)
        channel = person.channel(request.path_params["channel"])
        room = self._workspace.store.rooms[channel.id]
        limit = int(request.query_params.get("limit", "1000"))
        messages = [room.message(ts) for ts in list(room.window(0, _END, inclusive=True))[-limit:]]
        messages += [
            each for each in self._workspace.messages.ephemerals(channel, person.user) if each.thread_ts is None
        ]
        return self._messages(messages)

    async def thread(self, request: Request) -> Response:
        """A parent and its replies, oldest first."""
        person = self._person(request.query_params)
        channel = person.channel(request.path_params["channel"])
        ts = _micros(request.path_params["ts"])
        room = self._workspace.store.rooms[channel.id]
        named = room.get(ts)
        if named is None:
            raise SlackError("thread_not_found")
        parent = named.thread_ts or named.ts
        messages = [each for each in (room.get(one) for one in (parent, *room.replies(parent))) if each is not None]
        messages += [
            each for each in self._workspace.messages.ephemerals(channel, person.user) if each.thread_ts == parent
        ]
        return self._messages(messages)

    async def home(self, request: Request) -> Response:
        """The Home tab as it is; the app hears that it was opened."""
        person = self._person(request.query_params)
        view = self._workspace.store.homes.get(person.user.id)
        shown = None
        if view is not None:
            shown = self._workspace.news.shown_view(self._workspace.modals.present(view))
        person.open_home()
        return JSONResponse({"ok": True, "view": shown})

    async def events(self, request: Request) -> Response:
        """News as server-sent events."""
        person = self._person(request.query_params)
        return StreamingResponse(
            self._stream(person), media_type="text/event-stream", headers={"cache-control": "no-cache"}
        )

    async def _stream(self, person: Person) -> AsyncIterator[str]:
        queue = self._workspace.hub.listen(person.user.id)
        try:
            yield ": here\n\n"
            while True:
                try:
                    news = await asyncio.wait_for(queue.get(), _BEAT_SECONDS)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if news is None:
                    return
                yield f"data: {json.dumps(news, ensure_ascii=False)}\n\n"
        finally:
            self._workspace.hub.leave(queue)

    # acting

    async def message(self, request: Request) -> Response:
        """`channel`, `text`, `thread_ts`: a message or a command."""
        body: Any = await body_of(request)
        person = self._person(body)
        message = await person.type(body["channel"], body["text"], thread_ts=body.get("thread_ts"))
        return _ok() if message is None else _ok(ts=show(message.ts))

    async def edit(self, request: Request) -> Response:
        """`channel`, `ts`, `text`."""
        body: Any = await body_of(request)
        self._person(body).edit(body["channel"], body["ts"], body["text"])
        return _ok()

    async def delete(self, request: Request) -> Response:
        """`channel`, `ts`."""
        body: Any = await body_of(request)
        self._person(body).delete(body["channel"], body["ts"])
        return _ok()

    async def react(self, request: Request) -> Response:
        """`channel`, `ts`, `name`, `remove`."""
        body: Any = await body_of(request)
        self._person(body).react(body["channel"], body["ts"], body["name"], remove=bool(body.get("remove")))
        return _ok()

    async def action(self, request: Request) -> Response:
        """`container`, `block_id`, `action_id`, and `value`, `selected_option` or `selected_options`."""
        body: Any = await body_of(request)
        person = self._person(body)
        container = body["container"]
        value = body.get("selected_option", body.get("selected_options", body.get("value")))
        act = (body["block_id"], body["action_id"], value, body.get("state") or {})
        if container["type"] == "message":
            await clicks.act_on_message(person, container["channel"], container["ts"], *act)
            return _ok()
        view_id = container.get("view_id")
        if view_id is None:
            view_id = self._workspace.store.homes[person.user.id].id
        await clicks.act_on_view(person, view_id, *act)
        return _ok()

    async def shortcut(self, request: Request) -> Response:
        """`callback_id`, and for a message `channel` and `ts`."""
        body: Any = await body_of(request)
        person = self._person(body)
        if body.get("ts"):
            await person.message_shortcut(body["channel"], body["ts"], body["callback_id"])
        else:
            await person.global_shortcut(body["callback_id"])
        return _ok()

    async def view_submit(self, request: Request) -> Response:
        """`view_id`, `state`."""
        body: Any = await body_of(request)
        await clicks.submit(self._person(body), body["view_id"], body.get("state") or {})
        return _ok()

    async def view_close(self, request: Request) -> Response:
        """`view_id`."""
        body: Any = await body_of(request)
        await clicks.close(self._person(body), body["view_id"])
        return _ok()

    async def open_dm(self, request: Request) -> Response:
        """`with` (default: the bot): the direct conversation."""
        body: Any = await body_of(request)
        person = self._person(body)
        store = self._workspace.store
        other = store.users[body["with"]] if body.get("with") else store.bot_user
        return _ok(channel=store.open_im(person.user, other, self._workspace.clock()).id)

    def _person(self, values: Mapping[str, Any]) -> Person:
        """The person that `user` names; without it the first one."""
        store = self._workspace.store
        name = values.get("user")
        user = store.user_named(str(name)) if name else next(each for each in store.users.values() if not each.is_bot)
        if user is None or user.is_bot:
            raise SlackError("user_not_found")
        return Person(self._workspace, user)

    def _channel_line(self, channel: Channel, person: Person) -> Json:
        other = next((each for each in channel.members if each != person.user.id), None)
        is_im = channel.kind == "im"
        return {
            "id": channel.id,
            "name": self._workspace.news.user(other or "") if is_im else channel.name,
            "is_private": channel.is_private,
            "is_archived": channel.is_archived,
            "is_member": person.user.id in channel.members,
            "topic": channel.topic,
            "is_im": is_im,
            "user": other if is_im else None,
        }

    def _messages(self, messages: list[Message]) -> Response:
        ordered = sorted(messages, key=lambda each: each.ts)
        return JSONResponse({"ok": True, "messages": [self._workspace.news.shown(each) for each in ordered]})


def _micros(text: str) -> int:
    try:
        return micros(text)
    except ValueError as problem:
        raise SlackError("thread_not_found") from problem


def _ok(**more: Any) -> Response:
    return JSONResponse({"ok": True, **more})
