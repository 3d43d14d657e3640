"""Sending: leased channels, claimed messages, one call each, and what came of it written down at once.

One thread decides and writes to the database; only the calls to Slack run on others. What falls due together is
claimed and recorded together, so many channels cost little more than one.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from threading import Event
from zlib import crc32

import structlog

from bot.delivery.compose import Composer, Parcel, shown_by
from bot.delivery.delivered import Delivered
from bot.delivery.doors import Doors
from bot.delivery.flight import NOTHING, Broken, Flight, Landing, Tally, call_of
from bot.delivery.gates import Gates
from bot.delivery.line import Line, Lines
from bot.delivery.outcome import NotNow, Outcome, Scope, Sent, Unknown
from bot.delivery.policy import ChannelPolicy, DeliverySettings
from bot.delivery.ports import Clock, Crew, Poster, SendStorage
from bot.delivery.values import Answer, AnswerKind, Record
from bot.delivery.verdict import outcome_of, record_of
from bot.errors import MessageInvalid, TemplateError
from bot.model import Channel, DeliveryState

_log = structlog.get_logger("bot.delivery")

_AHEAD_OF_HANDS = 4
_LOOK_EVERY = timedelta(milliseconds=500)
_HOLD_AT_MOST = timedelta(seconds=5)
_LONGEST_NAP = 0.25
_AHEAD = timedelta(seconds=1)
"""How long before the end of its pace a replica with nothing to do leases a channel: see `SendStorage.lease`."""
_LEAST_AHEAD = timedelta(milliseconds=200)
"""The same for a replica with its hands full: what is offered goes to those with less to do."""
_FEW = 10
"""So many channels halve the time ahead."""
_TOGETHER = timedelta(milliseconds=100)
"""Messages due within so short a time are claimed together, and each call waits for its moment."""


class Sender:
    """Sends what is planned, channel by channel in order, many channels at once."""

    def __init__(
        self,
        *,
        owner: str,
        storage: SendStorage,
        composer: Composer,
        poster: Poster,
        crew: Crew[Landing],
        clock: Clock,
        doors: Doors,
        gates: Gates,
        policies: Mapping[Channel, ChannelPolicy],
        settings: DeliverySettings,
    ) -> None:
        """`owner` names this process in leases and claims: no two processes may share it."""
        self._owner = owner
        self._storage = storage
        self._composer = composer
        self._poster = poster
        self._crew = crew
        self._clock = clock
        self._doors = doors
        self._gates = gates
        self.policies = policies
        """Replaced as a whole when the configuration is read again."""
        self._policies_read = policies
        self._strangers: set[Channel] = set()
        """Channels that have something to send and are not among these policies."""
        self._settings = settings
        self._lines = Lines()
        self._delivered = Delivered()
        self._flying: dict[int, Flight] = {}
        self._landed: list[Landing] = []
        self._looked_at: datetime | None = None
        self._freed: list[Channel] = []
        self._offered: set[Channel] = set()
        """Channels that this process has offered to others, and may find again."""
        self._later: list[datetime] = []
        """When channels that were given back for a while want to be looked at again: those of a moment together."""
        self._taken: dict[Channel, datetime] = {}
        """Until when a place in a channel's pace was given to something else: written by other threads, too."""

    def make_way(self, channel: Channel, until: datetime) -> None:
        """Send nothing to the channel before `until`: something that is no delivery goes there. From any thread."""
        self._taken[channel] = until

    def run(self, stop: Event) -> Tally:
        """Send until nothing is left to send now, the turn is over, or `stop` is set.

        Messages in flight at the end of a turn are recorded by the next run; when stopped they are waited for, at
        most `settings.drain` seconds, and what has no answer by then is recorded as uncertain. Raises
        `StorageUnavailable`; what had landed is then recorded by the next run.
        """
        try:
            return self._run(stop)
        except BaseException:
            # Whatever was about to be sent is leased afresh: some of it was out of its place in the order.
            for line in list(self._lines):
                self._give_up(line.channel)
            raise

    def _run(self, stop: Event) -> Tally:
        tally = Tally()
        end = self._clock.now() + timedelta(seconds=self._settings.turn)
        self._looked_at = None
        while not stop.is_set():
            self._land(self._crew.collect(0), tally)
            now = self._clock.now()
            if now >= end:
                self._release()
                return tally
            hungry = self._grab(now)
            while hungry and len(self._lines) < _AHEAD_OF_HANDS * self._settings.workers:
                # Lease first, then speak: a morning's channels begin together, and so they end together.
                hungry = self._grab(self._clock.now())
            self._launch(self._clock.now())
            self._release()
            if not (self._lines or self._flying or hungry or (self._later and self._later[0] < end)):
                self._offered.clear()  # the next morning begins anew
                return tally
            self._land(self._crew.collect(0.0 if hungry else self._nap()), tally)
        self._finish(tally)
        return tally

    # --- taking channels ------------------------------------------------------------------------------------------

    def _grab(self, now: datetime) -> bool:
        """Lease more channels; return whether there may be still more."""
        if self._later and self._later[0] + _TOGETHER <= now:
            while self._later and self._later[0] <= now:
                heapq.heappop(self._later)
            self._looked_at = None
        if not self.policies:
            return False  # the configuration is not read yet: every channel would look like a stranger
        if self._looked_at is not None and now - self._looked_at < _LOOK_EVERY:
            return False
        room = self._gates.room(now, self._settings.lease) - len(self._lines)
        limit = min(self._settings.grab, room)
        if limit <= 0:
            return False
        until = now + self._settings.lease
        since = now - self._settings.order_wait
        ahead = max(_LEAST_AHEAD, _AHEAD / (1 + len(self._lines) / _FEW))
        if self._policies_read is not self.policies:
            self._policies_read, self._strangers = self.policies, set()
        channels = self._storage.lease(
            self._owner, now, until, since=since, limit=limit, ahead=ahead, apart_from=self._strangers
        )
        full = len(channels) == limit and limit == self._settings.grab
        self._looked_at = None if full else now
        if channels:
            self._open(channels, since, now, until)
        return full

    def _open(self, channels: Sequence[Channel], since: datetime, now: datetime, until: datetime) -> None:
        # One more than is sent under this lease: what lies behind it is read when its turn comes.
        limit = self._settings.share_after + 1
        turns = self._storage.turns(channels, since, limit)
        spare: list[Channel] = []
        material = self._composer.gather([one for turn in turns.values() for one in turn.queue])
        for channel in channels:
            turn = turns.get(channel)
            if turn is None or not turn.queue or turn.unresolved:
                spare.append(channel)
            elif channel not in self.policies:
                # Another replica may know it, with a newer configuration: it is left alone, not closed.
                _log.info("channel_not_configured", channel=channel.channel_id)
                self._strangers.add(channel)
                spare.append(channel)
            else:
                at = max(now, turn.next_post_at or now)
                line = Line(
                    turn=turn,
                    queue=deque(turn.queue),
                    lease_until=until,
                    at=at,
                    material=material,
                    share_at=self._share_at(channel),
                    is_cut=len(turn.queue) >= limit,
                )
                self._lines.add(line)
        self._freed.extend(spare)

    def _share_at(self, channel: Channel) -> int:
        """After how many messages of this lease the channel is offered to other replicas."""
        every = self._settings.share_after
        if channel in self._offered:
            self._offered.discard(channel)
            return every
        # A morning's channels speak in step. Were they all offered in the same second, whoever sleeps in it went away
        # empty; so each begins elsewhere in the round.
        return 1 + crc32(channel.channel_id.encode()) % every

    # --- sending ----------------------------------------------------------------------------------------------------

    def _launch(self, now: datetime) -> None:
        """Send the next message of every channel that may speak by now or in a moment, as hands and leave allow."""
        soon = now + _TOGETHER
        ready: list[tuple[Line, Parcel | Broken]] = []
        waiting: list[Line] = []
        while len(ready) < self._crew.free and (line := self._lines.pop(soon)) is not None:
            if line.lease_until <= now:
                self._give_up(line.channel)  # somebody else may have it by now: it is leased afresh
            elif not self._gates.open(line.channel.team_id, now):
                waiting.append(line)
            elif (parcel := self._prepare(line, now, soon)) is not None:
                self._gates.passed(line.channel.team_id)
                ready.append((line, parcel))
        for line in waiting:
            self._lines.wait(line)
        if ready:
            self._claim(ready)

    def _prepare(self, line: Line, now: datetime, soon: datetime) -> Parcel | Broken | None:
        """Render the head of the queue before it is claimed; None where it cannot go by `soon`."""
        delivery = line.queue[0]
        line.at = max(line.at, delivery.next_try_at or line.at, self._taken.pop(line.channel, line.at))
        if line.at > soon:
            self._hold(line, line.at, now)
            return None
        policy = self.policies.get(line.channel)
        if policy is None:
            self._give_up(line.channel)
            return None
        try:
            parcel = self._composer.post(delivery, line.turn, line.material, policy, now)
        except MessageInvalid as error:
            _log.error("message_invalid", delivery=delivery.key, subject=delivery.subject, reason=str(error))
            return Broken(str(error))
        except TemplateError as error:
            self._doors.template_broken(line.channel, str(error), now)
            self._give_up(line.channel)
            return None
        return parcel

    def _claim(self, ready: Sequence[tuple[Line, Parcel | Broken]]) -> None:
        now = self._clock.now()
        until = now + self._settings.lease
        shown = {line.queue[0].id: shown_by(parcel) for line, parcel in ready if isinstance(parcel, Parcel)}
        won = self._storage.claim(self._owner, [line.queue[0].id for line, _ in ready], now, until, shown)
        for line, parcel in ready:
            delivery = line.queue[0]
            if delivery.id not in won:
                self._give_up(line.channel)  # the claim has extended the lease all the same
                continue
            line.lease_until = until
            if isinstance(parcel, Broken):
                flight = Flight(delivery=delivery, parcel=NOTHING, until=until)
                self._landed.append(Landing(flight=flight, answer=None, began=now, ended=now, broken=parcel.reason))
                continue
            flight = Flight(delivery=delivery, parcel=parcel, until=until, due=line.at)
            self._flying[delivery.id] = flight
            try:
                self._crew.submit(call_of(self._poster, self._clock, flight, self._settings.post_timeout))
            except RuntimeError as error:
                _log.error("no_thread_to_send", reason=str(error))
                self._landed.append(Landing(flight=flight, answer=None, began=now, ended=now))

    # --- writing down -----------------------------------------------------------------------------------------------

    def _land(self, landings: Sequence[Landing], tally: Tally) -> None:
        self._landed.extend(landings)
        if not self._landed:
            return
        judged: list[tuple[Landing, Outcome | None, Record]] = []
        for landing in self._landed:
            outcome = outcome_of(landing)
            judged.append((landing, outcome, record_of(landing, outcome, self._settings)))
        now = self._clock.now()
        accepted = self._storage.record(self._owner, [record for _, _, record in judged], now)
        self._landed = []  # only now: a database that was away gets them again
        for landing, _, _ in judged:
            self._flying.pop(landing.flight.delivery.id, None)
        for landing, outcome, record in judged:
            if record.delivery_id not in accepted:
                _log.warning(
                    "record_refused", delivery=landing.flight.delivery.key, state=record.state.value, ts=record.ts
                )
                self._give_up(landing.flight.delivery.channel)
                continue
            tally.count(record)
            self._gates.saw(landing.flight.delivery.channel, now, outcome)
            self._follow(landing, outcome, record, now)

    def _follow(self, landing: Landing, outcome: Outcome | None, record: Record, now: datetime) -> None:
        """Let the channel go on, wait or stop, as the outcome has it."""
        delivery = landing.flight.delivery
        channel = delivery.channel
        line = self._lines.get(channel)
        _log.debug("delivery", delivery=delivery.key, channel=channel.channel_id, state=record.state.value)
        blocked = line is not None and line.turn.blocked
        is_late = self._clock.now() >= landing.flight.until  # also where writing it down took long
        self._doors.heed(delivery, outcome, record, now, was_blocked=blocked, is_late=is_late)
        if line is None:
            self._give_up(channel)
            return
        if isinstance(outcome, NotNow) and outcome.scope is Scope.TEAM:
            for other in self._lines:
                if other.channel.team_id == channel.team_id:
                    self._give_up(other.channel)
            return
        refused = isinstance(outcome, NotNow) and outcome.scope is Scope.CHANNEL
        if refused or outcome is None or isinstance(outcome, Unknown):
            self._give_up(channel)
            return
        self._go_on(line, landing, outcome, record, now)

    def _go_on(self, line: Line, landing: Landing, outcome: Outcome, record: Record, now: datetime) -> None:
        delivery = landing.flight.delivery
        if isinstance(outcome, Sent):
            line.sent(delivery, record)
            self._delivered.sent(landing)
        elif record.state is DeliveryState.PLANNED:
            line.again(delivery, record)
        else:
            line.queue.popleft()
        at = record.next_post_at or now
        # The further parts of an entry are planned when its first is sent: they are read under a new lease.
        has_more = landing.flight.parcel.parts > 1 and delivery.part == 0
        if not has_more and (record.folds or not line.owes(delivery.slot_id)):
            self._delivered.over(landing)
        if not line.queue or has_more:
            self._give_up(line.channel)  # what has come meanwhile is read under a new lease
            if has_more or line.is_cut:
                self._look_again(at, now)  # there is more for certain: not left to the next tick
            return
        if line.said >= line.share_at and at > now:
            # Its pace leaves a moment in which another replica, if there is one with less to do, can take it over.
            self._give_up(line.channel)
            self._offered.add(line.channel)
            self._look_again(at, now)
            return
        self._hold(line, at, now)

    def _look_again(self, at: datetime, now: datetime) -> None:
        """Look for a channel that was given back, in time before its pace ends `at`."""
        heapq.heappush(self._later, max(now, at - _LEAST_AHEAD))

    def _hold(self, line: Line, at: datetime, now: datetime) -> None:
        """Keep the line for a short wait; for a long one, give the channel back."""
        if at - now > _HOLD_AT_MOST:
            self._give_up(line.channel)
            heapq.heappush(self._later, at)
            return
        line.at = at
        self._lines.wait(line)

    def _give_up(self, channel: Channel) -> None:
        self._lines.drop(channel)
        if not any(flight.delivery.channel == channel for flight in self._flying.values()):
            self._freed.append(channel)

    def _release(self) -> None:
        """Give back, at once, what was given up since the last time: a morning's channels all end together."""
        if self._freed:
            self._storage.release(self._owner, self._freed)
            self._freed = []

    # --- waiting and stopping ---------------------------------------------------------------------------------------

    def _nap(self) -> float:
        """Return how long nothing can be done but wait for answers."""
        if self._landed:
            return 0.0
        now = self._clock.now()
        moments = [
            self._lines.next_at() if self._crew.free else None,
            self._gates.next_at(now),
            *(moment + _TOGETHER for moment in self._later[:1]),
        ]
        ahead = [(moment - now).total_seconds() for moment in moments if moment is not None]
        return max(0.0, min([_LONGEST_NAP, *(seconds for seconds in ahead if seconds > 0)]))

    def _finish(self, tally: Tally) -> None:
        end = self._clock.now() + timedelta(seconds=self._settings.drain)
        while self._flying and self._clock.now() < end:
            self._land(self._crew.collect(_LONGEST_NAP), tally)
        now = self._clock.now()
        lost = Answer(kind=AnswerKind.TIMEOUT_READ, detail="stopped")
        self._land([Landing(flight=f, answer=lost, began=now, ended=now) for f in self._flying.values()], tally)
        self._freed.extend(line.channel for line in self._lines)
        self._lines = Lines()
        self._release()
