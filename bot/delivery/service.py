"""Departure's front door: what the ticks call and what a person asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from threading import Event

import structlog

from bot.delivery.alerts import Alerts
from bot.delivery.aside import Aside
from bot.delivery.compose import Composer
from bot.delivery.crew import ThreadCrew
from bot.delivery.desk import Standing, decide
from bot.delivery.doors import Doors
from bot.delivery.flight import Landing, Tally
from bot.delivery.gates import Gates
from bot.delivery.leave import Leave
from bot.delivery.person import Alarm
from bot.delivery.planner import Planned, Planner
from bot.delivery.policy import ChannelPolicy, DeliverySettings
from bot.delivery.ports import Clock, Crew, DeliveryStorage, History, MessageMaker, Poster
from bot.delivery.post import Sender
from bot.delivery.reconcile import Reconciler, Settled
from bot.delivery.updates import Updater
from bot.delivery.values import Block, Status
from bot.model import Channel, Delivery

_log = structlog.get_logger("bot.delivery")


class DeliveryService:
    """Plans, sends, looks and updates. Each method is safe at any time and in any number of replicas.

    `plan`, `deliver`, `reconcile` and `update` are ticks: call each from one thread at a time, as often as one likes.
    All raise `StorageUnavailable` when the database is away, and lose nothing by it.
    """

    def __init__(
        self,
        *,
        owner: str,
        storage: DeliveryStorage,
        poster: Poster,
        history: History,
        maker: MessageMaker,
        clock: Clock,
        policies: Mapping[Channel, ChannelPolicy],
        settings: DeliverySettings,
        alert_channel: Channel | None = None,
        alarm: Alarm | None = None,
        crew: Crew[Landing] | None = None,
        aside: Callable[[Callable[[], object]], bool] | None = None,
    ) -> None:
        """`owner` names this process, unlike any other, ever: host, process id and something random."""
        self._storage = storage
        self._clock = clock
        self._errands = Aside()
        self._leave = Leave(storage=storage, clock=clock, settings=settings, make_way=self._make_way)
        self.alarm: Alarm = alarm or Alerts(
            storage=storage,
            poster=poster,
            history=history,
            maker=maker,
            clock=clock,
            channel=alert_channel,
            quiet=settings.alert_quiet,
            aside=aside or self._errands.run,
            leave=self._leave.take,
        )
        composer = Composer(storage, storage, maker)
        self._composer = composer
        self._poster = poster
        self._policies = policies
        self._settings = settings
        self._doors = Doors(storage, poster, self.alarm, settings)
        self._planner = Planner(storage=storage, views=storage, alarm=self.alarm, policies=policies, settings=settings)
        self._sender = self._new_sender(owner, crew or ThreadCrew(settings.workers))
        self._updater = Updater(
            owner=owner,
            storage=storage,
            composer=composer,
            poster=poster,
            clock=clock,
            doors=self._doors,
            policies=policies,
            settings=settings,
        )
        self._reconciler = Reconciler(
            storage=storage, history=history, alarm=self.alarm, doors=self._doors, clock=clock, settings=settings
        )

    # --- ticks ------------------------------------------------------------------------------------------------

    def plan(self, now: datetime | None = None, *, ready: Callable[[datetime], datetime] | None = None) -> Planned:
        """Record the slots that are due, with all they owe. `ready`: see `Planner.plan`."""
        return self._planner.plan(now or self._clock.now(), ready=ready)

    def deliver(self, stop: Event) -> Tally:
        """Send what is planned; return when nothing is left to send now, or after `settings.turn` seconds."""
        return self.sending()(stop)

    def sending(self) -> Callable[[Event], Tally]:
        """Return `deliver` by the present sender.

        For a run that does something else before it sends, and may be left behind meanwhile: another sender is not for
        it to use then.
        """
        sender = self._sender

        def deliver(stop: Event) -> Tally:
            self._doors.knock(self._clock.now())
            return sender.run(stop)

        return deliver

    def reconcile(self, stop: Event) -> Settled:
        """Look for messages whose answer was lost."""
        return self._reconciler.run(stop)

    def update(self, stop: Event) -> int:
        """Change sent messages that no longer say what is so; return how many were changed."""
        self._updater.plan(self._clock.now())
        return self._updater.run(stop)

    def flush(self, seconds: float) -> None:
        """Wait up to `seconds` for alerts that are on their way: the process is about to end."""
        if not self._errands.flush(seconds):
            _log.warning("alerts_cut_short")

    # --- a person's words -------------------------------------------------------------------------------------

    def deliver_now(self, channel: Channel) -> int | None:
        """Plan a slot at once for what is new in the channel; return its id, or None where nothing is new."""
        return self._planner.plan_now(channel, self._clock.now())

    def take_policies(self, policies: Mapping[Channel, ChannelPolicy]) -> int:
        """Use another configuration; return how many planned deliveries it dropped. Call it once at start, too.

        Safe while ticks are running on other threads.
        """
        dropped = self._planner.take_policies(policies, self._clock.now())
        self._policies = policies
        self._sender.policies = policies
        self._updater.policies = policies
        return dropped

    def leave_sending_behind(self, owner: str) -> None:
        """`deliver` hangs: send under another name from now on.

        The old thread is then what a paused replica is: its leases and claims run out, what it was sending is looked
        for, and should it wake up, it finds its lease too short to post. Call `deliver` from another thread.
        """
        self._sender = self._new_sender(owner, ThreadCrew(self._settings.workers))

    def tell_alerts_in(self, channel: Channel | None) -> None:
        """Post alerts to this channel from now on, or (None) nowhere."""
        if isinstance(self.alarm, Alerts):
            self.alarm.tell_in(channel)

    def forget_made(self) -> None:
        """Make every message anew from now on: the templates are others."""
        self._composer.forget()

    def welcome(self, channel: Channel) -> None:
        """The bot was invited to the channel: try it at once."""
        self._doors.open(channel)

    def leave_to_post(self, channel: Channel) -> float:
        """Take a place in the channel's pace for something that is no delivery; return the seconds until then."""
        return self._leave.take(channel)

    def find(self, key: str) -> Delivery | None:
        """Return the delivery with this key, or with the only key that begins like this."""
        return self._storage.by_key(key)

    def settle(self, key: str, found: Standing) -> bool:
        """A person has found a held message; return whether the delivery was held."""
        return decide(self._storage, key, found, now=self._clock.now())

    def retry(self, key: str) -> bool:
        """A person wants a held or failed message to be sent again; return whether it was one."""
        return decide(self._storage, key, None, now=self._clock.now())

    def status(self) -> Status:
        """Return the state of delivery in numbers, and what waits for a person."""
        return self._storage.status(self._clock.now())

    def team_blocks(self) -> Mapping[str, Block]:
        """Return the workspaces whose token is refused: cheap, unlike `status`, which counts every delivery."""
        return self._storage.team_blocks()

    def _make_way(self, channel: Channel, until: datetime) -> None:
        self._sender.make_way(channel, until)

    def _new_sender(self, owner: str, crew: Crew[Landing]) -> Sender:
        return Sender(
            owner=owner,
            storage=self._storage,
            composer=self._composer,
            poster=self._poster,
            crew=crew,
            clock=self._clock,
            doors=self._doors,
            gates=Gates(self._storage, self._settings.ceiling_per_minute),
            policies=self._policies,
            settings=self._settings,
        )
