"""Puts the bot together: configuration and secrets in, a `Bot` out. The only place that knows every concrete class."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

import structlog

from bot.bootstrap.archive import Archive, open_answers, open_archive
from bot.bootstrap.arrivals import Arrivals
from bot.bootstrap.channels import Channels
from bot.bootstrap.counted import CountedHistory, CountedPoster
from bot.bootstrap.fallbacks import Fallbacks
from bot.bootstrap.lost import FileWatch
from bot.bootstrap.maker import RenderedMessages
from bot.bootstrap.people import open_front
from bot.bootstrap.policies import delivery_settings
from bot.bootstrap.running import Bot, new_owner
from bot.bootstrap.watch import Watch
from bot.config import Config, Secrets
from bot.delivery.outcome import TEAM_REFUSALS
from bot.delivery.ports import Clock
from bot.delivery.service import DeliveryService
from bot.errors import ConfigError
from bot.inboxes.folder import FolderInbox
from bot.metrics import Metrics
from bot.render.messages import Renderer
from bot.slack.asking import Refused
from bot.slack.client import posting_client, reading_client, spare_loopback_the_proxy
from bot.slack.directory import Directory, Identity
from bot.slack.history import SlackHistory
from bot.slack.poster import SlackPoster
from bot.storage import stats
from bot.storage.names_store import NamesStore
from bot.web import LOOPBACK

_log = structlog.get_logger("bot.bootstrap")


def assemble(
    config: Config,
    secrets: Secrets,
    *,
    http: bool = False,
    port: int | None = None,
    host: str = LOOPBACK,
    clock: Clock | None = None,
    reread: Callable[[], Config] | None = None,
    seconds: Callable[[], float] = time.monotonic,
) -> Bot:
    """Make a bot. Asks Slack who it is; starts nothing. `seconds` measures how long ticks take.

    Raises ConfigError where the token is refused, SchemaOutdated; and SlackUnavailable or StorageUnavailable where
    calling again later is right.
    """
    with ExitStack() as unless_made:
        # First: an old schema is said at once, whether or not Slack is there.
        archive = open_archive(config, clock=clock)
        unless_made.callback(archive.close)
        bot = _assemble(config, secrets, archive, http=http, port=port, host=host, reread=reread, seconds=seconds)
        unless_made.pop_all()
    return bot


def _assemble(
    config: Config,
    secrets: Secrets,
    archive: Archive,
    *,
    http: bool,
    port: int | None,
    host: str,
    reread: Callable[[], Config] | None,
    seconds: Callable[[], float],
) -> Bot:
    spare_loopback_the_proxy(secrets.api_url)
    posting = posting_client(
        secrets.bot_token,
        api_url=secrets.api_url,
        timeout=config.delivery.post_timeout.total_seconds(),
        now=archive.clock.now,
    )
    reading = reading_client(secrets.bot_token, api_url=secrets.api_url)
    directory = Directory(reading)
    identity = _who_we_are(directory)
    metrics = Metrics()
    _watch_stock(metrics, archive)
    stopping = threading.Event()
    watch = Watch(clock=archive.clock, metrics=metrics, seconds=seconds)
    fallbacks = Fallbacks()
    renderer = Renderer(vocabulary=archive.vocabulary, on_fallback=fallbacks.note)
    poster = CountedPoster(SlackPoster(posting, observe=metrics.post_seconds.observe), metrics)
    history = CountedHistory(SlackHistory(reading, now=archive.clock.now), metrics)
    channels = Channels(team_id=identity.team_id, names=NamesStore(archive.database), finder=directory)
    maker = RenderedMessages(renderer, permalink=directory.permalink)
    delivery = DeliveryService(
        owner=new_owner(),
        storage=archive.deliveries,
        poster=poster,
        history=history,
        maker=maker,
        clock=archive.clock,
        policies={},
        settings=delivery_settings(config),
    )
    fallbacks.tell(delivery.alarm)

    def read_templates() -> None:
        fallbacks.forget()
        renderer.forget_templates()
        maker.forget()
        delivery.forget_made()

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
        # Until the channels are resolved, nobody may find what only some may.
        answers=open_answers(archive, dict.fromkeys(config.search.confined, ())),
    )
    arrivals = Arrivals(
        inbox=FolderInbox(config.inbox_path, archive.clock, settle=config.inbox.settle.total_seconds()),
        ingest=archive.ingest,
        alarm=delivery.alarm,
        metrics=metrics,
        clock=archive.clock,
        stopping=stopping,
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
        file=FileWatch(archive.database, delivery.alarm),
        stopping=stopping,
        reread=reread,
        read_templates=read_templates,
        port=port,
        http=http,
        host=host,
    )


def _who_we_are(directory: Directory) -> Identity:
    try:
        return directory.identity()
    except Refused as refused:
        advice = TEAM_REFUSALS.get(refused.code)
        if advice is None:
            raise
        raise ConfigError(f"Slack refuses SLACK_BOT_TOKEN ({refused.code}). {advice}") from refused


def _watch_stock(metrics: Metrics, archive: Archive) -> None:
    database = archive.database
    metrics.watch_documents(lambda: stats.documents_by_state(database))
    metrics.watch_entries(lambda: {"all": stats.entry_count(database)})
    metrics.watch_deliveries(lambda: stats.deliveries_by_state(database))
    metrics.watch_slot_lag(lambda: stats.slot_lags(database, archive.clock.now()))
