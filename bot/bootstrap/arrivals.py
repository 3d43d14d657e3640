"""The ingest tick: complete files of the inbox go to the ingest service, and people hear of those set aside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event, RLock

import structlog

from bot.bootstrap.archive import INBOX
from bot.delivery.person import Alarm
from bot.delivery.ports import Clock
from bot.errors import StorageUnavailable
from bot.inboxes.folder import Arrival, FolderInbox, InboxUnavailable
from bot.ingest.service import Ingest, Taken
from bot.metrics import Metrics
from bot.model import Document, DocumentState

_log = structlog.get_logger("bot.ingest")

_CAUSE = "document:"


@dataclass(slots=True, kw_only=True)
class Arrivals:
    """Takes what has arrived. Safe to use from several threads: one looks at a time."""

    inbox: FolderInbox
    ingest: Ingest
    alarm: Alarm
    metrics: Metrics
    clock: Clock
    stopping: Event

    complete_until: datetime | None = None
    """What lay in the inbox at this instant has been taken. None: it was never seen complete."""
    waiting: bool = False
    """Whether the last look found files that may still be in the making."""
    _present: frozenset[str] | None = None
    _copies: dict[str, Document] = field(default_factory=dict)
    """Files whose bytes were recorded under another name, and as what."""
    _lock: RLock = field(default_factory=RLock)

    def look(self, *, force: bool = False) -> tuple[Taken, ...]:
        """Take every complete file. Raises StorageUnavailable: the files are then taken at the next look."""
        with self._lock:
            return self._look(force=force)

    def _look(self, *, force: bool) -> tuple[Taken, ...]:
        began = self.clock.now()
        try:
            look = self.inbox.look(force=force)
        except InboxUnavailable as error:
            self.alarm.raise_alert("inbox", str(error))
            return ()
        self.alarm.clear("inbox")
        for name, problem in look.unreadable:
            self.alarm.raise_alert(cause_of(name), f"{name} {problem.reason}")
        taken = tuple(self._take(look))
        if self.stopping.is_set():
            return taken
        self._settle(look.present, changed=bool(taken))
        self.waiting = bool(look.waiting)
        if not look.waiting:
            self.complete_until = began
        return taken

    def _settle(self, present: frozenset[str], *, changed: bool) -> None:
        """Let go of files that are gone, and keep what stands in the others."""
        if changed:
            self._present = None  # so that the next look does what this one may be kept from
        if present == self._present:
            return
        self.ingest.forget_broken(INBOX, present)
        for cause in self.alarm.standing(_CAUSE):
            if cause.removeprefix(_CAUSE) not in present:
                self.alarm.clear(cause)
        self._copies = {name: one for name, one in self._copies.items() if name in present}
        self.ingest.keep(self._copies)
        self._present = present

    def _take(self, arrivals: Iterable[Arrival]) -> list[Taken]:
        taken: list[Taken] = []
        waiting = list(arrivals)
        while waiting:
            if self.stopping.is_set():
                return taken  # thousands of files must not keep a stop waiting; the next start takes the others
            arrival = waiting[0]
            try:
                taken.append(self._take_one(arrival))
            except StorageUnavailable:
                for left in waiting:
                    self.inbox.again(left)
                raise
            except Exception as error:  # noqa: BLE001 - a fault of ours with one file must not hold up the others
                self._tell_failed(arrival.name, error)
            waiting.pop(0)
        return taken

    def _take_one(self, arrival: Arrival) -> Taken:
        one = self.ingest.take(source=INBOX, name=arrival.name, data=arrival.data, arrived_at=arrival.arrived_at)
        self._copies.pop(one.name, None)
        if one.document.name != one.name:
            self._copies[one.name] = one.document
        self._tell(one)
        return one

    def _tell(self, one: Taken) -> None:
        document = one.document
        cause = cause_of(one.name)
        if one.known and not one.restored:
            # A copy; or the process was stopped between taking the file and saying so.
            if document.state is DocumentState.ACCEPTED:
                self.alarm.clear(cause)
            elif cause not in self.alarm.standing(cause):
                self._tell_broken(one)
            return
        self.metrics.documents.labels(document.state.value).inc()
        if document.state is DocumentState.QUARANTINED:
            self._tell_broken(one)
            return
        self.alarm.clear(cause)
        self.metrics.entries.labels("new").inc(one.new_entries)
        self.metrics.entries.labels("revised").inc(one.revised)
        self.metrics.entries.labels("known").inc(one.appearances - one.new_entries - one.revised)

    def _tell_failed(self, name: str, error: Exception) -> None:
        _log.exception("document_failed", document=name)
        self.alarm.raise_alert(
            cause_of(name),
            f"{name} could not be taken ({type(error).__name__}), by a fault of the bot: the log has the trace. "
            "It is tried again when it changes, and at the next start.",
        )

    def _tell_broken(self, one: Taken) -> None:
        first = one.problems[0]
        self.alarm.raise_alert(
            cause_of(one.name),
            f"{one.name} was set aside: line {first.line}: {first.reason.rstrip('.')}. "
            "Mend the file and it is read again; `digest-bot documents` lists all of them.",
        )


def cause_of(name: str) -> str:
    """The cause of alerts about the file with this name."""
    return f"{_CAUSE}{name}"
