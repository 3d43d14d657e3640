"""What people reach the bot through: Bolt, its listeners, and the desk that answers. Over a socket or over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.bootstrap.archive import Archive
from bot.bootstrap.policies import render_style
from bot.bootstrap.signatures import Signatures
from bot.config import Secrets
from bot.delivery.policy import ChannelPolicy
from bot.delivery.ports import Clock, History, Poster
from bot.delivery.service import DeliveryService
from bot.metrics import Metrics
from bot.model import Channel
from bot.readers.answer import Answers
from bot.readers.examples import Examples
from bot.readers.marks import Discussion, Marks
from bot.render.messages import Renderer
from bot.render.views import HelpView, Style
from bot.slack.app import App, build_app, close_app
from bot.slack.client import WebClient
from bot.slack.desk import ReadingDesk
from bot.slack.directory import Directory
from bot.slack.http import dispatcher
from bot.slack.listeners import register
from bot.slack.places import Places
from bot.slack.ports import Reader
from bot.slack.services import Services
from bot.slack.sharing import SlackSharing
from bot.slack.socket import Socket
from bot.slack.work import Failures, Work
from bot.storage.editions import Editions
from bot.storage.marks_store import MarksStore
from bot.storage.search_reindex import reindex, tidy
from bot.web import Dispatch

_SLOW = 1.5
"""Seconds, of the few that a stop has, for acks in hand and for what readers have asked."""


@dataclass(slots=True, kw_only=True)
class Front:
    """The bot's face in Slack. Answers as soon as it is started; over HTTP, what is given to `dispatch`."""

    archive: Archive
    app: App
    socket: Socket | None
    dispatch: Dispatch | None
    work: Work
    answers: Answers
    stopping: threading.Event
    _styles: dict[Channel, Style] = field(default_factory=dict)

    def start(self) -> None:
        """Connect. Idempotent. Raises SlackUnavailable where the app token is refused."""
        if self.socket is not None and not self.socket.is_connected():
            self.socket.connect()

    def stop(self, left: float) -> None:
        """Take nothing new, finish what runs, all within about `left` seconds."""
        each = min(left / 3, _SLOW)
        if self.socket is not None:
            self.socket.close(timeout=each)
        self.work.close(timeout=each)
        close_app(self.app, timeout=each)

    def is_connected(self) -> bool:
        """Whether people's requests can come in at this moment."""
        return self.socket is None or self.socket.is_connected()

    def problem(self) -> str | None:
        """Why people's requests do not come in, for a person; None while they do."""
        return None if self.socket is None else self.socket.problem

    def take_policies(self, policies: Mapping[Channel, ChannelPolicy]) -> None:
        """Answer in each channel's own language and zone from now on."""
        self._styles = {channel: render_style(policy.style) for channel, policy in policies.items()}

    def style(self, channel: Channel | None) -> Style:
        """How a channel is answered; elsewhere, as the first configured channel is."""
        styles = self._styles
        if channel is not None and channel in styles:
            return styles[channel]
        return next(iter(styles.values()), Style())

    def reindex(self) -> None:
        """Bring the search index to this program's version of the tokens, and merge what small additions left in it."""
        database = self.archive.database
        reindex(database.reading, database.transaction, stop=self.stopping)
        tidy(database.transaction, stop=self.stopping)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Welcome:
    """`bot.slack.ports.Membership` over delivery."""

    delivery: DeliveryService

    def joined(self, *, team_id: str, channel_id: str) -> None:
        self.delivery.welcome(Channel(team_id=team_id, channel_id=channel_id))


def open_front(
    *,
    archive: Archive,
    secrets: Secrets,
    http: bool,
    directory: Directory,
    renderer: Renderer,
    poster: Poster,
    history: History,
    client: WebClient,
    metrics: Metrics,
    delivery: DeliveryService,
    answers: Answers,
    stopping: threading.Event,
) -> Front:
    """Make the Bolt app with all its listeners. Starts nothing and asks Slack nothing."""
    failures = Failures(count=metrics.listener_errors.inc)
    work = Work(failures=failures)
    holder: list[Front] = []

    def style(channel: Channel | None) -> Style:
        return holder[0].style(channel)

    editions = Editions(archive.database)
    marks_store = MarksStore(archive.database)
    discussion = Discussion(marks_store, archive.clock)
    examples = Examples(answers, glossary=archive.glossary, spellings=archive.spellings)

    def help_view(reader: Reader) -> HelpView:
        channel = Channel(team_id=reader.team_id, channel_id=reader.channel_id) if reader.channel_id else None
        today = archive.clock.now().astimezone(style(channel).zone).date()
        return examples.of(channel, newest=editions.latest(channel) or editions.latest(None), today=today)

    desk = ReadingDesk(
        answers=answers,
        archive=editions,
        marks=Marks(marks_store, archive.clock),
        discussion=discussion,
        places=Places(discussion, directory),
        renderer=renderer,
        style=style,
        now=archive.clock.now,
        observe=metrics.search_seconds.observe,
        help_view=help_view,
    )
    sharing = SlackSharing(
        desk=desk,
        archive=editions,
        discussion=discussion,
        renderer=renderer,
        style=style,
        poster=poster,
        history=history,
        now=archive.clock.now,
        stopping=stopping,
        leave=delivery.leave_to_post,
    )
    services = Services(
        desk=desk,
        sharing=sharing,
        discussion=discussion,
        membership=_Welcome(delivery=delivery),
        work=work,
        client=client,
        identity=directory.identity,
    )
    app = build_app(
        identity=directory.identity,
        token=secrets.bot_token,
        client=client,
        failures=failures,
        teller=services.teller,
    )
    register(app, services)
    socket = None if http else Socket(app=app, app_token=secrets.app_token or "", api_url=secrets.api_url)
    front = Front(
        archive=archive,
        app=app,
        socket=socket,
        dispatch=_dispatch(app, secrets, metrics, delivery, archive.clock) if http else None,
        work=work,
        answers=answers,
        stopping=stopping,
    )
    holder.append(front)
    return front


def _dispatch(app: App, secrets: Secrets, metrics: Metrics, delivery: DeliveryService, clock: Clock) -> Dispatch:
    signatures = Signatures(alarm=delivery.alarm, count=metrics.requests_refused.inc, clock=clock)
    return dispatcher(app, secrets.signing_secret or "", admitted=signatures.admitted, refused=signatures.refused)
