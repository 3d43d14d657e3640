"""A bot that is put together: its ticks, how it takes a new configuration, and what starts and stops with it."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import structlog

from bot.bootstrap.archive import Archive
from bot.bootstrap.arrivals import Arrivals
from bot.bootstrap.channels import Channels
from bot.bootstrap.health import Health
from bot.bootstrap.lost import FileWatch
from bot.bootstrap.outlived import end_outlived
from bot.bootstrap.people import Front
from bot.bootstrap.templates import template_faults
from bot.bootstrap.watch import HUNG_AFTER, Watch
from bot.config import Config
from bot.delivery.flight import Tally
from bot.delivery.policy import ChannelPolicy
from bot.delivery.ports import Clock
from bot.delivery.service import DeliveryService
from bot.errors import ConfigError, SlackUnavailable, StorageUnavailable
from bot.metrics import Metrics
from bot.model import Channel
from bot.runtime import Hangup, Part, Runtime
from bot.scheduler import Clockwork, Tick
from bot.storage.search_store import SearchStore

if TYPE_CHECKING:
    from bot.web.server import Server

_log = structlog.get_logger("bot.bootstrap")

_REFRESH = timedelta(seconds=30)
"""How often channels that could not be found are looked for again, and policies are compared with what has arrived."""
_UPDATES_SELDOMER = 5
"""New messages are what people wait for: sent ones are brought up to date at fewer ticks."""
_LEFT_BEHIND = frozenset({"deliver", "reconcile", "update"})
"""Ticks whose hung run may be left behind: to the database it is a replica that was paused."""
_DRAIN_SECONDS = 7.0
"""What the ticks may take, of the time that a stop has in all."""
_FIRST_LOOK_SECONDS = 60.0
"""How long planning waits for the first look at the inbox, which may find a whole archive."""
_LOOK_SECONDS = 10.0
"""How long it waits for a later one."""
_FAILURES_TOLD = 5
"""So many failures of one tick in a row are told: fewer may be somebody's restart."""
_LATEST_LOOK = timedelta(minutes=1)
"""How long after it is due a slot waits for an inbox that is away, or for a file that is not finished."""


@dataclass(slots=True, kw_only=True)
class Bot:
    """Everything that a running bot is made of. `runtime` runs it; tests and the demo call its ticks themselves."""

    config: Config
    archive: Archive
    metrics: Metrics
    watch: Watch
    channels: Channels
    arrivals: Arrivals
    delivery: DeliveryService
    front: Front
    file: FileWatch
    stopping: threading.Event
    reread: Callable[[], Config] | None
    read_templates: Callable[[], None]
    port: int | None
    http: bool
    host: str

    _policies: Mapping[Channel, ChannelPolicy] | None = None
    _settled_for: Config | None = None
    """The configuration for which outlived alerts were ended."""
    _clockwork: Clockwork | None = None
    _look: threading.Thread | None = None
    """The last look at the inbox before planning."""
    _refreshing: threading.Lock = field(default_factory=threading.Lock)
    _told: set[str] = field(default_factory=set)
    """Ticks of which people were told that they hang or fail."""
    _failures: Counter[str] = field(default_factory=Counter)
    """How often each tick has failed since it last ended well."""
    _server: Server | None = None

    @property
    def clock(self) -> Clock:
        """The clock that every service was given."""
        return self.archive.clock

    # --- ticks ---

    def ingest(self) -> None:
        """Take what has arrived. A file that is new is looked at once more, to see whether it is complete."""
        taken = self.arrivals.look()
        if self.arrivals.waiting:
            self.clock.wait(self.config.inbox.settle.total_seconds(), self.stopping)
            taken += self.arrivals.look()
        if taken:
            self.refresh_policies()

    def refresh_policies(self) -> Mapping[Channel, ChannelPolicy]:
        """Resolve the configured channels, and let delivery know when something has changed.

        Raises StorageUnavailable. A channel that Slack cannot be asked about now is resolved at a later call.
        """
        with self._refreshing:
            alarm = self.delivery.alarm
            self.channels.look_up(self.config, self.clock.now())
            self._find_alert_channel()
            repos = SearchStore(self.archive.database).repos()
            policies = self.channels.policies(self.config, repos=repos, alarm=alarm)
            self.front.answers.confined = self.channels.confined(self.config, alarm=alarm)
            if policies != self._policies:
                self.delivery.take_policies(policies)
                self.front.take_policies(policies)
                self._policies = policies
            if self._settled_for is not self.config:
                end_outlived(alarm, self.config, policies, begins=self._settled_for is None)
                self._settled_for = self.config
            return policies

    def _find_alert_channel(self) -> None:
        reference = self.config.alerts.channel
        if reference is None:
            self.delivery.tell_alerts_in(None)
            return
        cause = f"alert-channel:{reference}"
        try:
            channel = self.channels.resolve(reference)
        except SlackUnavailable as error:
            _log.warning("alert_channel_not_looked_up", channel=reference, error=str(error))
            return
        if channel is None:
            text = f"Slack shows the bot no channel {reference} for its alerts: create it, and /invite the bot there."
            self.delivery.alarm.raise_alert(cause, text)
            return
        self.delivery.alarm.clear(cause)
        self.delivery.tell_alerts_in(channel)

    def deliver(self) -> None:
        """Plan what is due and send what is planned, also where planning fails."""
        send = self.delivery.sending()
        try:
            self.delivery.plan(ready=self._ready)
        finally:
            self._count(send(self.stopping))

    def _count(self, tally: Tally) -> None:
        finished = {"sent": tally.sent, "planned": tally.refused, "failed": tally.failed, "uncertain": tally.uncertain}
        for state, count in finished.items():
            self.metrics.outcomes.labels(state).inc(count)

    def _ready(self, now: datetime) -> datetime:
        """Up to when slots may be planned, of those that are due now: what lay in the inbox then has been taken.

        A digest that arrives half a minute before its slot is not to come a working day late. But no slot waits for
        a folder that is away, or a file that is not finished, for longer than `_LATEST_LOOK`.
        """
        left = _FIRST_LOOK_SECONDS if self.arrivals.complete_until is None else _LOOK_SECONDS
        # On a thread of its own: a folder that hangs holds up what is planned already for so long, once and no longer.
        look = self._look
        if look is not None and look.is_alive():
            left = 0.0
        else:
            look = self._look = threading.Thread(target=self._look_before_planning, name="look", daemon=True)
            look.start()
        while left > 0 and look.is_alive() and not self.stopping.is_set():
            look.join(0.2)
            left -= 0.2
        latest = now - _LATEST_LOOK
        return max(self.arrivals.complete_until or latest, latest)

    def _look_before_planning(self) -> None:
        try:
            self.ingest()
        except StorageUnavailable as error:
            _log.debug("not_looked_before_planning", reason=str(error))

    def reconcile(self) -> None:
        """Look for messages whose answer was lost."""
        self.delivery.reconcile(self.stopping)

    def update(self) -> None:
        """Bring sent messages up to date."""
        self.delivery.update(self.stopping)

    def reload(self) -> None:
        """Take a new config.yaml; a wrong one, or one with a broken template, is refused whole and the old one stays.

        Channels with all that they say, templates, the alert channel and `search.confined` count at once. What the
        parts were made with (database, inbox, delivery, topics and so on) counts from the next start, and the log says
        so.
        """
        if self.reread is None:
            return
        try:
            config = self.reread()
            faults = "\n".join(template_faults(config))
        except ConfigError as error:
            self._refuse("config.yaml is", str(error))
            return
        if faults:
            self._refuse("templates are", faults)
            return
        later = _needs_a_start(self.config, config)
        self.config = _as_far_as_it_counts(self.config, config)
        _log.info("configuration_taken", channels=len(config.channels), counts_from_the_next_start=later)
        self.delivery.alarm.clear("configuration")
        self.read_templates()
        try:
            self.refresh_policies()
        except StorageUnavailable as error:
            _log.warning("waiting_for_database", tick="channels", reason=str(error))

    def _refuse(self, what: str, reason: str) -> None:
        _log.error("configuration_refused", error=reason)
        text = f"The new {what} refused, the configuration and templates so far stay:\n{reason}"
        self.delivery.alarm.raise_alert("configuration", text)

    # --- running ---

    def runtime(self, *, now: bool = False, hangup: Hangup | None = None) -> Runtime:
        """The parts in starting order. `now`: what is new is planned at once everywhere. `hangup`: see `Runtime`."""
        clockwork = self._clockwork = Clockwork(self._ticks(now=now), on_missed=self._missed)
        parts = [Part(name="front", start=self.front.start, stop=self.front.stop)]
        if self.port is not None:
            parts.append(Part(name="web", start=self._serve, stop=self._stop_serving))
        parts.append(Part(name="sending", start=lambda: None, stop=self._drain))
        parts.append(Part(name="clock", start=clockwork.start, stop=lambda _left: clockwork.stop()))
        return Runtime(tuple(parts), stopping=self.stopping, reload=self.reload, hangup=hangup)

    def close(self) -> None:
        """Close what is open, whether or not it was started."""
        self.archive.close()

    def periods(self) -> Mapping[str, timedelta]:
        """How often each tick comes."""
        every = self.config.delivery.tick
        return {
            "ingest": self.config.inbox.scan_every,
            "channels": _REFRESH,
            "deliver": every,
            "reconcile": every,
            "update": _UPDATES_SELDOMER * every,
        }

    def _ticks(self, *, now: bool) -> list[Tick]:
        owed = {channel.channel for channel in self.config.channels} if now else set()

        def deliver() -> None:
            known = {policy.name for policy in (self._policies or {}).values()}
            if owed and (self._policies is None or owed & known):
                self._deliver_now(owed)
            self.deliver()

        runs: dict[str, Callable[[], object]] = {
            "ingest": self.ingest,
            "channels": self.refresh_policies,
            "deliver": deliver,
            "reconcile": self.reconcile,
            "update": self.update,
        }
        ticks = [
            Tick(name=name, every=every, run=self.watch.timed(name, self._over(name, runs[name])))
            for name, every in self.periods().items()
        ]
        # Not watched: the index of a large archive takes as long as it takes, and search answers meanwhile.
        return [*ticks, Tick(name="index", every=timedelta(hours=1), run=self._reindex)]

    def _over(self, name: str, run: Callable[[], object]) -> Callable[[], None]:
        """`run`, unless the database is lost; its good end takes back what was told about earlier ones."""

        def tick() -> None:
            self.file.check()
            run()
            self._failures.pop(name, None)
            if name in self._told:
                self._told.discard(name)
                self.delivery.alarm.clear(f"tick:{name}")

        return tick

    def _reindex(self) -> None:
        try:
            self.front.reindex()
        except StorageUnavailable as error:
            _log.warning("waiting_for_database", tick="index", reason=str(error))

    def _deliver_now(self, owed: set[str]) -> None:
        """Plan at once in those of the `owed` channels that are there; the others stay owed until they are."""
        self.arrivals.look(force=True)
        for channel, policy in self.refresh_policies().items():
            if policy.name in owed:
                slot = self.delivery.deliver_now(channel)
                _log.info("delivering_now", channel=channel.channel_id, anything_new=slot is not None)
                owed.discard(policy.name)

    def _missed(self, name: str, why: str) -> None:
        """Hear of a run that failed or was not started; count one that hangs, and let the tick go on without it."""
        if why == "failed":
            self._failures[name] += 1
            if self._failures[name] == _FAILURES_TOLD:
                self._tell_of(name, f"has failed {_FAILURES_TOLD} times in a row. The log says why")
            return
        if why != "hangs" or not self.watch.newly_hung(name):
            return
        self.metrics.hung_ticks.labels(name).inc()
        minutes = int(HUNG_AFTER.total_seconds() // 60)
        self._tell_of(name, f"has been running for over {minutes} minutes. The log says what it did last")
        if name not in _LEFT_BEHIND or self._clockwork is None:
            return
        if name == "deliver":
            self.delivery.leave_sending_behind(new_owner())
        self.watch.forget(name)
        self._clockwork.abandon(name)

    def _tell_of(self, name: str, what: str) -> None:
        self._told.add(name)
        # On a thread of its own: what made the tick hang must not hold up the clock.
        threading.Thread(
            target=self.delivery.alarm.raise_alert,
            args=(f"tick:{name}", f"The tick {name} {what}."),
            name="told",
            daemon=True,
        ).start()

    def _drain(self, left: float) -> None:
        pause = threading.Event()
        names = ("deliver", "update", "reconcile", "ingest")
        deadline = time.monotonic() + min(left, _DRAIN_SECONDS)
        while time.monotonic() < deadline and any(self.watch.is_running(name) for name in names):
            pause.wait(0.05)
        self.delivery.flush(max(0.0, deadline - time.monotonic()))

    def _serve(self) -> None:
        from bot.web.server import build_web, serve  # noqa: PLC0415 - memory that a bot without a port need not have

        health = Health(bot=self)
        app = build_web(checks=health.checks(), exposition=self.metrics.exposition, dispatch=self.front.dispatch)
        self._server = serve(app, host=self.host, port=self.port or 0)
        _log.info("web", url=self._server.url)

    def _stop_serving(self, left: float) -> None:
        if self._server is not None:
            self._server.stop(timeout=min(left, 3.0))


def new_owner() -> str:
    """A name for leases and claims, unlike any other, ever."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"


def _needs_a_start(old: Config, new: Config) -> list[str]:
    """The parts of the configuration that a reload does not touch, and that have changed."""
    before, after = old.model_dump(), new.model_dump()
    before["search"].pop("confined"), after["search"].pop("confined")
    before["alerts"].pop("channel"), after["alerts"].pop("channel")
    kept = ("inbox", "database", "delivery", "alerts", "search", "topics")
    return [name for name in kept if before[name] != after[name]]


def _as_far_as_it_counts(old: Config, new: Config) -> Config:
    """The new configuration with the old one's parts that count from the next start."""
    kept = {name: getattr(old, name) for name in ("inbox", "database", "delivery", "topics")}
    alerts = old.alerts.model_copy(update={"channel": new.alerts.channel})
    search = old.search.model_copy(update={"confined": new.search.confined})
    return new.model_copy(update={**kept, "alerts": alerts, "search": search})
