"""The ingest tick: complete files of the inbox go to the ingest service, and people hear of those set aside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event, RLock

import structlog

from bot.bootstrap.archive import INBOX
from bot.delivery.ports import Alarm, Clock
from bot.errors import StorageUnavailable
from bot.inboxes.folder import Arrival, FolderInbox, InboxUnavailable
from bot.ingest.service import Ingest, Taken
from bot.metrics import Metrics
from bot.model import DocumentState

_log = structlog.get_logger("bot.ingest")


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
            self.alarm.raise_alert(f"document:{name}", f"{name} {problem.reason}")
        taken = tuple(self._take(look))
        if self.stopping.is_set():
            return taken
        if look.present != self._present:
            for name in self.ingest.forget_broken(INBOX, look.present):
                self.alarm.clear(f"document:{name}")
            self._present = look.present
        self.waiting = bool(look.waiting)
        if not look.waiting:
            self.complete_until = began
        return taken

    def _take(self, arrivals: Iterable[Arrival]) -> list[Taken]:
        taken: list[Taken] = []
        waiting = list(arrivals)
        while waiting:
            if self.stopping.is_set():
                return taken  # thousands of files must not keep a stop waiting; the next start takes the others
            arrival = waiting[0]
            try:
                one = self.ingest.take(
                    source=INBOX, name=arrival.name, data=arrival.data, arrived_at=arrival.arrived_at
                )
            except StorageUnavailable:
                for left in waiting:
                    self.inbox.again(left)
                raise
            waiting.pop(0)
            taken.append(one)
            self._tell(one, arrival.name)
        return taken

    def _tell(self, one: Taken, name: str) -> None:
        document = one.document
        cause = f"document:{name}"
        if one.known and not one.restored:
            if document.state is DocumentState.ACCEPTED:
                self.alarm.clear(cause)  # the process may have been stopped between taking it and saying so
            return
        self.metrics.documents.labels(document.state.value).inc()
        if document.state is DocumentState.QUARANTINED:
            first = one.problems[0]
            self.alarm.raise_alert(
                cause,
                f"{name} was set aside: line {first.line}: {first.reason.rstrip('.')}. "
                "Mend the file and it is read again; `digest-bot documents` lists all of them.",
            )
            return
        self.alarm.clear(cause)
        self.metrics.entries.labels("new").inc(one.new_entries)
        self.metrics.entries.labels("revised").inc(one.revised)
        self.metrics.entries.labels("known").inc(one.appearances - one.new_entries - one.revised)
