"""Modals and Home tabs: a stack of at most three views per person. Source: slack-ruby/slack-api-ref views.*."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bot.workspace.blocks.complete import complete_blocks
from bot.workspace.blocks.views import check_view, is_too_large
from bot.workspace.errors import SlackError
from bot.workspace.model import Json, User, View
from bot.workspace.news import News
from bot.workspace.store import Store

DEEPEST = 3


class Modals:
    """The views that people have open. Modals live as long as the process; Home tabs are durable."""

    def __init__(self, store: Store, news: News, clock: Callable[[], float]) -> None:
        self._store = store
        self._news = news
        self._clock = clock
        self._stacks: dict[str, list[View]] = {}

    def stack(self, user: User) -> tuple[View, ...]:
        """The open modals of a person, the top one last."""
        return tuple(self._stacks.get(user.id, ()))

    def find(self, view_id: str | None, external_id: str | None = None) -> View:
        """An open modal or a Home tab. Raises `not_found`."""
        for view in (*(each for stack in self._stacks.values() for each in stack), *self._store.homes.values()):
            if view.id == view_id or (external_id and view.document.get("external_id") == external_id):
                return view
        raise SlackError("not_found")

    def open(self, user: User, view: Any, *, push_on: View | None = None) -> View:
        """A new modal; with `push_on` it lies on top of that one. Raises `invalid_arguments`, `push_limit_reached`."""
        document = self._accept(view, "modal")
        stack = self._stacks.get(user.id, []) if push_on else []
        if push_on is not None:
            if push_on not in stack:
                raise SlackError("not_found")
            if len(stack) >= DEEPEST:
                raise SlackError("push_limit_reached")
        view_id = "V" + secrets.token_hex(5).upper()
        opened = View(
            id=view_id,
            user=user.id,
            document=document,
            hash=self._hash(),
            root_id=stack[0].id if stack else view_id,
            previous_id=stack[-1].id if stack else None,
        )
        self._stacks[user.id] = [*stack, opened]
        self._news.view("view_open", opened, self.present(opened))
        return opened

    def update(self, view: View, document: Any, *, expected: str | None = None) -> View:
        """Raises `hash_conflict` if the view is no longer the one with the hash `expected`."""
        if expected and expected != view.hash:
            raise SlackError("hash_conflict")
        accepted = self._accept(document, view.document["type"], itself=view)
        return self._put(replace(view, document=accepted, hash=self._hash(), state={}))

    def keep_state(self, view: View, state: Mapping[str, Any]) -> View:
        """What the person has entered so far."""
        kept = replace(view, state=dict(state))
        self._replace(kept)
        return kept

    def publish(self, user: User, document: Any, *, expected: str | None = None) -> View:
        """The person's Home tab. Raises `not_enabled`, `hash_conflict`."""
        if not self._store.app.home_enabled:
            raise SlackError("not_enabled")
        known = self._store.homes.get(user.id)
        if known is not None and expected and expected != known.hash:
            raise SlackError("hash_conflict")
        accepted = self._accept(document, "home", itself=known)
        view_id = known.id if known else "V" + secrets.token_hex(5).upper()
        view = View(id=view_id, user=user.id, document=accepted, hash=self._hash(), root_id=view_id)
        return self._put(view)

    def close(self, view: View, *, whole_stack: bool = False) -> tuple[View, ...]:
        """Closes the view and those above it, or all; returns what was closed, the top one first.

        Nothing, where it is closed already: of two who submit one view at once, the second finds no window.
        """
        stack = self._stacks.get(view.user, [])
        at = next((index for index, each in enumerate(stack) if each.id == view.id), None)
        if at is None:
            return ()
        at = 0 if whole_stack else at
        closed = tuple(reversed(stack[at:]))
        self._stacks[view.user] = stack[:at]
        for each in closed:
            self._news.view("view_close", each, self.present(each))
        return closed

    def present(self, view: View) -> Json:
        """Slack's view object."""
        document = view.document
        shown: Json = {
            "id": view.id,
            "team_id": self._store.team.id,
            "type": document["type"],
            "blocks": document["blocks"],
            "private_metadata": document.get("private_metadata", ""),
            "callback_id": document.get("callback_id", ""),
            "external_id": document.get("external_id", ""),
            "state": {"values": view.state},
            "hash": view.hash,
            "clear_on_close": document.get("clear_on_close", False),
            "notify_on_close": document.get("notify_on_close", False),
            "root_view_id": view.root_id,
            "previous_view_id": view.previous_id,
            "app_id": self._store.app.id,
            "app_installed_team_id": self._store.team.id,
            "bot_id": self._store.app.bot_id,
            "close": document.get("close"),
            "submit": document.get("submit"),
        }
        if document["type"] == "modal":
            shown["title"] = document["title"]
        return shown

    def _accept(self, view: Any, kind: str, *, itself: View | None = None) -> Json:
        if is_too_large(view):
            raise SlackError("view_too_large")
        problems = check_view(view)
        if problems:
            lines = [problem.line("/view") for problem in problems]
            raise SlackError("invalid_arguments", response_metadata={"messages": lines})
        if view["type"] != kind:
            line = f"[ERROR] must be of type {kind} [json-pointer:/view/type]"
            raise SlackError("invalid_arguments", response_metadata={"messages": [line]})
        if view.get("external_id") and self._is_taken(view["external_id"], itself):
            raise SlackError("duplicate_external_id")
        return {**view, "blocks": complete_blocks(view["blocks"])}

    def _is_taken(self, external_id: str, itself: View | None) -> bool:
        try:
            return self.find(None, external_id) != itself
        except SlackError:
            return False

    def _put(self, view: View) -> View:
        is_home = view.document["type"] == "home"
        if is_home:
            self._store.put_home(view)
        else:
            self._replace(view)
        self._news.view("home" if is_home else "view_update", view, self.present(view))
        return view

    def _replace(self, view: View) -> None:
        if view.document["type"] == "home":
            self._store.put_home(view)
            return
        stack = self._stacks[view.user]
        self._stacks[view.user] = [view if each.id == view.id else each for each in stack]

    def _hash(self) -> str:
        return f"{int(self._clock())}.{secrets.token_hex(4)}"
