"""The composition root: configuration and secrets in, a bot out. The only place that knows every concrete class."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import uuid4

import structlog

from bot.bootstrap.archive import Archive, open_answers, open_archive
from bot.bootstrap.arrivals import Arrivals
from bot.bootstrap.channels import Channels
from bot.bootstrap.health import Health
from bot.bootstrap.maker import RenderedMessages
from bot.bootstrap.people import Front, open_front
from bot.bootstrap.policies import delivery_settings
from bot.bootstrap.watch import HUNG_AFTER, Watch
from bot.config import Config, Secrets
from bot.delivery.policy import ChannelPolicy
from bot.delivery.ports import Clock
from bot.delivery.service import DeliveryService
from bot.errors import ConfigError
from bot.inboxes.folder import FolderInbox
from bot.metrics import Metrics
from bot.model import Channel
from bot.render.messages import Renderer
from bot.runtime import Part, Runtime
from bot.scheduler import Clockwork, Tick
from bot.slack.client import posting_client, reading_client, spare_loopback_the_proxy
from bot.slack.directory import Directory
from bot.slack.history import SlackHistory
from bot.slack.poster import SlackPoster
from bot.storage.names_store import NamesStore
from bot.storage.search_store import SearchStore
from bot.web import EVERYWHERE, LOOPBACK, Server, build_web, serve

_log = structlog.get_logger("bot.bootstrap")

_REFRESH = timedelta(seconds=30)
"""How often channels that could not be found are looked for again, and policies are compared with what has arrived."""
_FIRST_LOOK_SECONDS = 60.0
"""How long the schedule waits at start for the first look at the inbox: a slot that is due by then would be found empty."""


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
    stopping: threading.Event
    reread: Callable[[], Config] | None
    port: int | None
    http: bool
    host: str

    _policies: Mapping[Channel, ChannelPolicy] | None = None
    _server: Server | None = None
    _looked: threading.Event = field(default_factory=threading.Event)

    @property
    def clock(self) -> Clock:
        """The clock that every service was given."""
        return self.archive.clock

    # --- ticks ---

    def ingest(self) -> None:
        """Take what has arrived."""
        if self.arrivals.look():
            self.refresh_policies()
        self._looked.set()

    def refresh_policies(self) -> Mapping[Channel, ChannelPolicy]:
        """Resolve the configured channels, and let delivery know when something has changed."""
        now = self.clock.now()
        alarm = self.delivery.alarm
        repos = SearchStore(self.archive.database).repos()
        policies = self.channels.policies(self.config, repos=repos, alarm=alarm, now=now)
        if policies != self._policies:
            self.delivery.take_policies(policies)
            self.front.take_policies(policies)
            self._policies = policies
        return policies

    def deliver(self) -> None:
        """Plan what is due and send what is planned."""
        self.delivery.plan()
        self.delivery.deliver(self.stopping)

    def reconcile(self) -> None:
        """Look for messages whose answer was lost."""
        self.delivery.reconcile(self.stopping)

    def update(self) -> None:
        """Bring sent messages up to date."""
        self.delivery.update(self.stopping)

    def reload(self) -> None:
        """Take a new config.yaml; a wrong one is refused whole and the old one stays. The inbox's path is kept."""
        if self.reread is None:
            return
        try:
            config = self.reread()
        except ConfigError as error:
            _log.error("configuration_refused", error=str(error))
            self.delivery.alarm.raise_alert("configuration", f"The new config.yaml is refused, the old one stays:\n{error}")
            return
        self.delivery.alarm.clear("configuration")
        self.config = config
        self.refresh_policies()
        _log.info("configuration_taken", channels=len(config.channels))

    # --- running ---

    def runtime(self, *, now: bool = False) -> Runtime:
        """The parts in starting order. `now`: what is new is planned at once in every channel."""
        clockwork = Clockwork(self._ticks(now=now), on_missed=self._missed)
        parts = [Part(name="front", start=self.front.start, stop=self.front.stop)]
        if self.port is not None:
            parts.append(Part(name="web", start=self._serve, stop=self._stop_serving))
        parts.append(Part(name="clock", start=clockwork.start, stop=lambda _left: clockwork.stop()))
        parts.append(Part(name="sending", start=lambda: None, stop=self._drain))
        return Runtime(tuple(parts), stopping=self.stopping, reload=self.reload)

    def close(self) -> None:
        """Close what is open, whether or not it was started."""
        self.archive.close()

    def _ticks(self, *, now: bool) -> list[Tick]:
        every = self.config.delivery.tick
        at_start = [self._deliver_now] if now else []

        def deliver() -> None:
            self._await_first_look()
            while at_start:
                at_start[0]()
                at_start.pop()
            self.deliver()

        runs: list[tuple[str, timedelta, Callable[[], object]]] = [
            ("ingest", self.config.inbox.scan_every, self.ingest),
            ("channels", _REFRESH, self.refresh_policies),
            ("deliver", every, deliver),
            ("reconcile", every, self.reconcile),
            ("update", every, self.update),
            ("index", timedelta(hours=1), self.front.reindex),
        ]
        return [Tick(name=name, every=period, run=self.watch.timed(name, run)) for name, period, run in runs]

    def _await_first_look(self) -> None:
        left = _FIRST_LOOK_SECONDS
        while left > 0 and not self.stopping.is_set() and not self._looked.wait(0.2):
            left -= 0.2

    def _deliver_now(self) -> None:
        self.arrivals.look(force=True)
        for channel in self.refresh_policies():
            self.delivery.deliver_now(channel)

    def _missed(self, name: str, why: str) -> None:
        if why == "hangs" and name not in self.watch.hung():
            return
        if why == "hangs":
            self.metrics.hung_ticks.labels(name).inc()
            minutes = int(HUNG_AFTER.total_seconds() // 60)
            self.delivery.alarm.raise_alert(f"tick:{name}", f"The tick {name} has been running for over {minutes} minutes.")

    def _drain(self, left: float) -> None:
        deadline = threading.Event()
        names = ("deliver", "update", "reconcile", "ingest")
        waited = 0.0
        while waited < left and any(self.watch.is_running(name) for name in names):
            deadline.wait(0.05)
            waited += 0.05

    def _serve(self) -> None:
        health = Health(bot=self)
        app = build_web(
            checks=health.checks(), exposition=self.metrics.exposition, dispatch=self.front.dispatch()
        )
        self._server = serve(app, host=self.host, port=self.port or 0)
        _log.info("web", url=self._server.url)

    def _stop_serving(self, left: float) -> None:
        if self._server is not None:
            self._server.stop(timeout=min(left, 3.0))


def assemble(
    config: Config,
    secrets: Secrets,
    *,
    http: bool = False,
    port: int | None = None,
    host: str | None = None,
    clock: Clock | None = None,
    reread: Callable[[], Config] | None = None,
) -> Bot:
    """Make a bot. Asks Slack who it is; starts nothing.

    Raises ConfigError where the token is refused, SlackUnavailable, SchemaOutdated, StorageUnavailable.
    """
    spare_loopback_the_proxy(secrets.api_url)
    timeout = max(1, round(config.delivery.post_timeout.total_seconds()))
    posting = posting_client(secrets.bot_token, api_url=secrets.api_url, timeout=timeout)
    reading = reading_client(secrets.bot_token, api_url=secrets.api_url)
    directory = Directory(reading)
    identity = directory.identity()
    archive = open_archive(config, clock=clock)
    metrics = Metrics()
    stopping = threading.Event()
    watch = Watch(clock=archive.clock, metrics=metrics)
    renderer = Renderer(vocabulary=archive.vocabulary, on_fallback=_tell_fallback)
    poster = SlackPoster(posting, observe=metrics.post_seconds.observe)
    history = SlackHistory(reading, now=archive.clock.now)
    channels = Channels(team_id=identity.team_id, names=NamesStore(archive.database), finder=directory)
    alert_channel = None
    if config.alerts.channel:
        alert_channel = channels.resolve(config.alerts.channel, archive.clock.now())
    delivery = DeliveryService(
        owner=f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}",
        storage=archive.deliveries,
        poster=poster,
        history=history,
        maker=RenderedMessages(renderer, permalink=directory.permalink),
        clock=archive.clock,
        policies={},
        settings=delivery_settings(config),
        alert_channel=alert_channel,
    )
    front = open_front(
        archive=archive,
        secrets=secrets,
        http=http,
        directory=directory,
        renderer=renderer,
        poster=poster,
        history=history,
        client=reading,
        metrics=metrics,
        delivery=delivery,
        stopping=stopping,
        answers=open_answers(
            archive, channels.confined(config, alarm=delivery.alarm, now=archive.clock.now())
        ),
    )
    arrivals = Arrivals(
        inbox=FolderInbox(config.inbox_path, archive.clock, settle=config.inbox.settle.total_seconds()),
        ingest=archive.ingest,
        alarm=delivery.alarm,
        metrics=metrics,
    )
    return Bot(
        config=config,
        archive=archive,
        metrics=metrics,
        watch=watch,
        channels=channels,
        arrivals=arrivals,
        delivery=delivery,
        front=front,
        stopping=stopping,
        reread=reread,
        port=port,
        http=http,
        host=host or (EVERYWHERE if port is not None else LOOPBACK),
    )


def _tell_fallback(template: str, reason: str) -> None:
    _log.warning("template_not_used", template=template, reason=reason)
