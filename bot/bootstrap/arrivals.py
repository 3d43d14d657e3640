"""The ingest tick: complete files of the inbox go to the ingest service, and people hear of those set aside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import structlog

from bot.bootstrap.archive import INBOX
from bot.delivery.ports import Alarm
from bot.errors import StorageUnavailable
from bot.inboxes.folder import Arrival, FolderInbox, InboxUnavailable
from bot.ingest.service import Ingest, Taken
from bot.metrics import Metrics
from bot.model import DocumentState

_log = structlog.get_logger("bot.ingest")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """Takes what has arrived. One caller at a time."""

    inbox: FolderInbox
    ingest: Ingest
    alarm: Alarm
    metrics: Metrics

    def look(self, *, force: bool = False) -> tuple[Taken, ...]:
        """Take every complete file. Raises StorageUnavailable: the files are then taken at the next look."""
        try:
            look = self.inbox.look(force=force)
        except InboxUnavailable as error:
            self.alarm.raise_alert("inbox", str(error))
            return ()
        self.alarm.clear("inbox")
        for name, problem in look.unreadable:
            self.alarm.raise_alert(f"document:{name}", f"{name} {problem.reason}")
        return tuple(self._take(look))

    def _take(self, arrivals: Iterable[Arrival]) -> list[Taken]:
        taken = []
        waiting = list(arrivals)
        while waiting:
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
                f"{name} was set aside: line {first.line}: {first.reason} "
                "Mend the file and it is read again; `digest-bot documents` lists all of them.",
            )
            return
        self.alarm.clear(cause)
        self.metrics.entries.labels("new").inc(one.new_entries)
        self.metrics.entries.labels("revised").inc(one.revised)
        self.metrics.entries.labels("known").inc(one.appearances - one.new_entries - one.revised)
