"""`LocalWorkspace`: the workspace as a server on loopback, in this process or as one of its own."""

from __future__ import annotations

import inspect
import signal
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from bot.workspace import ids
from bot.workspace.core import Options, Workspace
from bot.workspace.errors import WorkspaceError
from bot.workspace.faults import Fault
from bot.workspace.hosting import Hosting, listen, loopback
from bot.workspace.interactions import Person
from bot.workspace.model import Timing
from bot.workspace.presenting import present
from bot.workspace.setup import Setup
from bot.workspace.web.site import build_site
from bot.workspace.web.transports import Transports

Result = TypeVar("Result")


class LocalWorkspace:
    """One workspace on one port. Methods may be called from any thread; they return when the change is made.

    `port` 0 takes a free one. `channels` stand, with the bot in them, and the app is what `manifest` says, before the
    first request is answered. `keep` is a folder: with it every accepted message survives the process. Anything but a
    loopback address is refused with `WorkspaceError`: there is no authentication worth the name.
    """

    def __init__(
        self,
        port: int = 0,
        host: str = "127.0.0.1",
        *,
        keep: Path | None = None,
        rate_limits: bool = False,
        posts_a_minute: int | None = None,
        timing: Timing | None = None,
        clock: Callable[[], float] | None = None,
        people: tuple[str, ...] = ("reader", "colleague"),
        channels: tuple[str, ...] = (),
        manifest: Mapping[str, Any] | None = None,
    ) -> None:
        self._address = loopback(host)
        self._port = port
        self._options = Options(keep=keep, rate_limits=rate_limits, posts_a_minute=posts_a_minute, people=people)
        if timing is not None:
            self._options = replace(self._options, timing=timing)
        if clock is not None:
            self._options = replace(self._options, clock=clock)
        self._channels, self._manifest = channels, manifest
        self._workspace: Workspace | None = None
        self._hosting: Hosting | None = None

    # life

    def start(self) -> Self:
        """Returns when the workspace answers. Raises `WorkspaceError` if the port is taken."""
        listener = listen(self._address, self._port)
        port = listener.getsockname()[1]
        host = f"[{self._address}]" if ":" in self._address else self._address
        try:
            workspace = Workspace(self._options, f"http://{host}:{port}")
        except WorkspaceError:
            listener.close()
            raise
        transports = Transports()
        site = build_site(workspace, transports)
        try:
            self._hosting = Hosting(site, transports, listener, lambda: self._furnish(workspace))
        except Exception:
            workspace.store.close()
            raise
        self._port, self._workspace = port, workspace
        return self

    def stop(self) -> None:
        """Closes every connection and the journal. Does nothing if it is not running."""
        if self._workspace is None or self._hosting is None:
            return
        self._call(self._workspace.end)
        self._hosting.stop()
        self._workspace.store.close()
        self._workspace = self._hosting = None

    def run_forever(self) -> None:
        """Serves until SIGINT or SIGTERM. For the main thread of a process of its own."""
        done = threading.Event()

        before = {
            each: signal.signal(each, lambda _number, _frame: done.set()) for each in (signal.SIGINT, signal.SIGTERM)
        }
        if self._workspace is None:
            self.start()
        try:
            done.wait()
        finally:
            self.stop()
            for each, handler in before.items():
                signal.signal(each, handler)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # addresses and tokens

    @property
    def url(self) -> str:
        """The address without a slash at the end."""
        return self._running.url

    @property
    def api_url(self) -> str:
        """What `SLACK_API_URL` and `WebClient(base_url=...)` take."""
        return f"{self.url}/api/"

    @property
    def bot_token(self) -> str:
        """The bot's token, `xoxb-local-...`."""
        return ids.bot_token(self._options.app_name)

    @property
    def app_token(self) -> str:
        """The app-level token, `xapp-local-...`."""
        return ids.app_token(self._options.app_name)

    @property
    def signing_secret(self) -> str:
        """What signs requests in HTTP mode."""
        return self._running.store.app.signing_secret

    @property
    def bot_user_id(self) -> str:
        """The user ID of the bot."""
        return self._running.store.app.bot_user_id

    @property
    def connections(self) -> int:
        """Open Socket Mode connections."""
        return self._running.sockets.count

    def user_token(self, name: str) -> str:
        """A person's token, `xoxp-local-<name>`."""
        return ids.user_token(name)

    def user_id(self, name: str) -> str:
        """Raises `WorkspaceError` for a name that nobody has."""
        user = self._running.store.user_named(name)
        if user is None:
            raise WorkspaceError(f"no such user: {name}")
        return user.id

    def channel_id(self, name: str) -> str:
        """Raises `WorkspaceError` for a name that no channel has."""
        channel = self._running.store.channel_named(name.removeprefix("#"))
        if channel is None:
            raise WorkspaceError(f"no such channel: {name}")
        return channel.id

    # set-up

    def create_channel(self, name: str, *, private: bool = False, with_bot: bool = True) -> str:
        """The ID of the channel of this name, made if new, with all people and the bot in it."""
        return self._call(lambda: Setup(self._running).channel_with(name, private=private, with_bot=with_bot).id)

    def add_member(self, channel: str, user: str) -> None:
        """Channel and user by name or ID."""
        self._call(lambda: Setup(self._running).add_member(channel, user))

    def remove_member(self, channel: str, user: str) -> None:
        """Channel and user by name or ID."""
        self._call(lambda: Setup(self._running).remove_member(channel, user))

    def change_channel(self, channel_id: str, **changes: Any) -> None:
        """Sets `is_archived`, `topic`, or `refusal` (a code with which the bot's posts are refused)."""
        store = self._running.store
        self._call(lambda: store.put_channel(replace(store.channels[channel_id], **changes)))

    def add_user(self, name: str) -> str:
        """The ID of the person of this name, made if new."""
        return self._call(lambda: self._running.store.add_person(name).id)

    def install(
        self,
        manifest: Mapping[str, Any] | None = None,
        *,
        request_url: str | None = None,
        signing_secret: str | None = None,
        is_verified: bool = True,
    ) -> None:
        """Installs the app anew; with a request URL as an app of HTTP mode. Raises `WorkspaceError` if it fails."""
        setup = Setup(self._running)
        self._await(
            setup.install(manifest, request_url=request_url, signing_secret=signing_secret, is_verified=is_verified)
        )

    # faults and records

    def refuse_token(self, token: str, code: str | None) -> None:
        """From now on calls with the token fail with `code` (`token_revoked`, `account_inactive`...); None heals it."""
        self._call(lambda: self._running.store.set_token_fault(token, code))

    def add_fault(self, fault: Fault) -> int:
        """Arm a fault; returns its number."""
        return self._call(lambda: self._running.faults.add(fault))

    def clear_faults(self) -> None:
        """Disarm every fault."""
        self._call(self._running.faults.clear)

    def seed_faults(self, seed: int) -> None:
        """Start the dice of the faults anew."""
        self._call(lambda: self._running.faults.seed(seed))

    def calls(self, *, after: int = 0, method: str | None = None) -> list[dict[str, Any]]:
        """The Web API calls received so far."""
        return self._call(lambda: self._running.log.listed(after=after, method=method))

    def drop_sockets(self) -> None:
        """Closes every Socket Mode connection without a word."""
        self._call(self._running.sockets.drop)

    def refresh_sockets(self, reason: str = "refresh_requested") -> None:
        """Ask every connection to come back (`warning` leaves it open)."""
        self._call(lambda: self._running.sockets.refresh(reason))

    def refuse_links(self, count: int) -> None:
        """The next `count` WebSocket connections are refused."""
        self._call(lambda: setattr(self._running.sockets, "refuse_links", count))

    def messages(self, channel_id: str) -> list[dict[str, Any]]:
        """Everything in a channel, replies included, oldest first, metadata shown."""
        store = self._running.store

        def read() -> list[dict[str, Any]]:
            ordered = sorted(store.rooms[channel_id], key=lambda each: each.ts)
            return [present(store, each, with_metadata=True) for each in ordered]

        return self._call(read)

    def ephemerals(self, channel_id: str, user: str) -> list[dict[str, Any]]:
        """What only this person sees in a channel, oldest first."""

        def read() -> list[dict[str, Any]]:
            store = self._running.store
            reader = store.users[self.user_id(user)]
            found = self._running.messages.ephemerals(store.channels[channel_id], reader)
            return [present(store, each) for each in found]

        return self._call(read)

    # acting as a person

    def act(self, user: str, action: Callable[[Person], Any]) -> Any:
        """Runs an action of `interactions` or `clicks` as this person, and returns what it returns or awaits."""
        person = Person(self._running, self._running.store.users[self.user_id(user)])

        async def run() -> Any:
            result = action(person)
            return await result if inspect.isawaitable(result) else result

        return self._await(run())

    def _furnish(self, workspace: Workspace) -> None:
        setup = Setup(workspace)
        if self._manifest is not None:
            setup.describe(self._manifest)
        for name in self._channels:
            setup.channel_with(name)

    @property
    def _running(self) -> Workspace:
        if self._workspace is None:
            raise WorkspaceError("the workspace is not running")
        return self._workspace

    def _call(self, action: Callable[[], Result]) -> Result:
        return self._host.call(action)

    def _await(self, awaitable: Awaitable[Result]) -> Result:
        return self._host.wait(awaitable)

    @property
    def _host(self) -> Hosting:
        if self._hosting is None:
            raise WorkspaceError("the workspace is not running")
        return self._hosting
