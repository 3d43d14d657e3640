"""Working fakes: a ledger in memory with the same uniqueness rules, a clock that is moved by hand, a scripted Slack."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from operator import itemgetter
from threading import Event
from types import MappingProxyType
from zoneinfo import ZoneInfo

from bot.delivery.alerts import at_once
from bot.delivery.policy import ChannelPolicy, DeliverySettings, Schedule, SlotTime, Style
from bot.delivery.service import DeliveryService
from bot.delivery.values import (
    Absent,
    Answer,
    AnswerKind,
    Block,
    CannotLook,
    ChannelState,
    DocumentNews,
    Doubtful,
    Draft,
    EntryBehind,
    Found,
    RecordedSlot,
    RootBehind,
    RootState,
    SentMessage,
    Shown,
    SlotView,
    Status,
    Turn,
    Wording,
    entry_of,
    entry_subject,
)
from bot.delivery.values import Candidate as CandidateValue
from bot.errors import StorageUnavailable
from bot.model import (
    Channel,
    Delivery,
    DeliveryKind,
    DeliveryState,
    Entry,
    Layout,
    Message,
    SlotState,
)

S = DeliveryState
K = DeliveryKind
CHANNEL = Channel(team_id="T1", channel_id="C1")
OTHER = Channel(team_id="T1", channel_id="C2")
THIRD = Channel(team_id="T1", channel_id="C3")
UNRESOLVED = (S.SENDING, S.UNCERTAIN, S.HELD)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class FakeClock:
    def __init__(self, now: datetime | str = "2026-03-02T00:59:00"):
        self.moment = at(now) if isinstance(now, str) else now

    def now(self) -> datetime:
        return self.moment

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)

    def wait(self, seconds: float, stop: Event) -> bool:
        self.advance(seconds)
        return stop.is_set()


class Killed(BaseException):
    """The process is gone at this very point."""


class FakeCrew:
    """Runs calls at once. When nothing has finished, waiting moves the clock."""

    def __init__(self, clock: FakeClock, workers: int = 16):
        self.clock, self.workers, self.done = clock, workers, []

    @property
    def free(self) -> int:
        return self.workers - len(self.done)

    def submit(self, call: Callable[[], object]) -> None:
        self.done.append(call())

    def collect(self, seconds: float) -> list:
        if not self.done and seconds > 0:
            self.clock.advance(seconds)
        found, self.done = self.done, []
        return found


@dataclass
class Posted:
    ts: str
    text: str
    key: str
    thread_ts: str | None
    at: datetime
    edits: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Fault:
    """What happens to one call: whether Slack takes the message, and what the caller sees (None: killed)."""

    accepts: bool
    answer: Answer | None


DROP_AFTER = Fault(accepts=True, answer=Answer(kind=AnswerKind.DROPPED))
DROP_BEFORE = Fault(accepts=False, answer=Answer(kind=AnswerKind.DROPPED))
HANG = Fault(accepts=True, answer=Answer(kind=AnswerKind.TIMEOUT_READ))
KILL_BEFORE = Fault(accepts=False, answer=None)
KILL_AFTER = Fault(accepts=True, answer=None)
NO_NETWORK = Fault(accepts=False, answer=Answer(kind=AnswerKind.CONNECT_FAILED))


def too_fast(seconds: float) -> Fault:
    return Fault(accepts=False, answer=Answer(kind=AnswerKind.HTTP, status=429, retry_after=seconds))


def code(word: str, *, accepts: bool = False) -> Fault:
    return Fault(accepts, Answer(kind=AnswerKind.SLACK_ERROR, code=word, status=200))


class FakeSlack:
    """Poster and History in one: what was taken stands in `messages`."""

    def __init__(self, clock: FakeClock):
        self.clock = clock
        self.messages: dict[Channel, list[Posted]] = defaultdict(list)
        self.script: deque[Fault | None] = deque()
        self.scripts: dict[Channel, deque[Fault | None]] = defaultdict(deque)
        self.closed: dict[Channel, str] = {}
        self.token_error: str | None = None
        self.looks: deque[CannotLook] = deque()
        self.calls: list[tuple[datetime, Channel]] = []
        self.checks = 0
        self.latency = 0.05
        self._count = 0

    def texts(self, channel: Channel = CHANNEL) -> list[str]:
        return [one.text for one in self.messages[channel]]

    def post(self, channel, message, *, key, thread_ts=None, until=None) -> Answer:
        self.calls.append((self.clock.now(), channel))
        self.clock.advance(self.latency)
        fault = self._fault(channel)
        if fault is not None and not fault.accepts:
            if fault.answer is None:
                raise Killed
            return fault.answer
        self._count += 1
        posted = Posted(f"{self._count}.0", message.text, key, thread_ts, self.clock.now())
        self.messages[channel].append(posted)
        if fault is not None:
            if fault.answer is None:
                raise Killed
            return fault.answer
        return Answer(kind=AnswerKind.OK, ts=posted.ts, status=200)

    def _fault(self, channel):
        if self.token_error:
            return code(self.token_error)
        if channel in self.closed:
            return code(self.closed[channel])
        if self.scripts[channel]:
            return self.scripts[channel].popleft()
        return self.script.popleft() if self.script else None

    def update(self, channel, ts, message, *, key=None, until=None) -> Answer:
        self.clock.advance(self.latency)
        fault = self.script.popleft() if self.script else None
        if fault is not None and fault.answer is not None:
            return fault.answer
        for one in self.messages[channel]:
            if one.ts == ts:
                one.edits.append(message.text)
                return Answer(kind=AnswerKind.OK, ts=ts, status=200)
        return code("message_not_found").answer

    def check(self, team_id) -> Answer:
        self.checks += 1
        return code(self.token_error).answer if self.token_error else Answer(kind=AnswerKind.OK, status=200)

    def find(self, channel, *, key, oldest, thread_ts=None):
        if self.looks:
            return self.looks.popleft()
        for one in self.messages[channel]:
            if one.key == key and one.thread_ts == thread_ts and one.at >= oldest:
                return Found(ts=one.ts)
        return Absent()


class FakeMaker:
    """Messages whose text says what they are."""

    def __init__(self):
        self.bad: dict[str, Exception] = {}
        """What making a message raises, by `root`, `e1`, `update e1`, `reply e1`, `alert`."""
        self.parts: dict[int, int] = {}
        self.rendered = Counter()

    def _fail(self, what: str) -> None:
        if what in self.bad:
            raise self.bad[what]

    def root(self, view, style):
        self._fail("root")
        links = sum(1 for entry in view.entries if entry.id in view.sent)
        late = f" late {view.late_minutes}" if view.late_minutes else ""
        carried = f" carried {len(view.carried)}" if view.carried else ""
        flood = " flood" if view.slot.detail.get("flood") else ""
        return say(f"root {len(view.entries)}{carried}{late}{flood} links {links}")

    def empty(self, view, style):
        return say("nothing new")

    def entry(self, entry, style, *, overtaken):
        self._fail(f"e{entry.id}")
        self.rendered[entry.id] += 1
        tail = " (out of turn)" if overtaken else ""
        parts = self.parts.get(entry.id, 1)
        return tuple(say(f"e{entry.id}{tail}" + (f" part {n}" if n else "")) for n in range(parts))

    def entry_update(self, entry, style, *, changed, at):
        self._fail(f"update e{entry.id}")
        head = f"e{entry.id} r{entry.revision} changed {','.join(changed)}"
        parts = self.parts.get(entry.id, 1)
        return tuple(say(f"e{entry.id} r{entry.revision} part {n}" if n else head) for n in range(parts))

    def entry_end(self, style):
        return say("ends above")

    def entry_reply(self, entry, before, style, *, channel, sent):
        self._fail(f"reply e{entry.id}")
        return say(f"e{entry.id} now says r{entry.revision}")

    def alert(self, text):
        self._fail("alert")
        return say(f"ALERT {text}")


def say(text: str) -> Message:
    return Message(text=text, blocks=())


@dataclass
class Row:
    delivery: Delivery
    claimed_by: str | None = None
    claimed_until: datetime | None = None
    first_at: datetime | None = None
    looks: int = 0
    told: int | None = None
    parts: int = 1
    folded: bool = False
    sent_at: datetime | None = None
    planned_at: datetime | None = None


@dataclass
class ChannelRow:
    state: ChannelState
    owner: str | None = None
    lease_until: datetime | None = None
    next_post_at: datetime | None = None


class MemoryStorage:
    """`DeliveryStorage` in memory. `away` makes every call fail, as a lost database does."""

    def __init__(self):
        self.channels: dict[Channel, ChannelRow] = {}
        self.teams: dict[str, Block] = {}
        self.paces: dict[tuple, datetime] = {}
        self.slot_rows: dict[int, tuple] = {}
        self.told: dict[Channel, set[int]] = defaultdict(set)
        self.rows: dict[int, Row] = {}
        self.documents: dict[int, DocumentNews] = {}
        self.entry_rows: dict[int, Entry] = {}
        self.wording_rows: dict[tuple[int, int], Wording] = {}
        self.alerts: dict[str, dict] = {}
        self.away = False
        self.writes = 0

    def _here(self):
        if self.away:
            raise StorageUnavailable("the database is away")

    def _row(self, channel, now):
        if channel not in self.channels:
            self.channels[channel] = ChannelRow(ChannelState(channel=channel, known_since=now))
        return self.channels[channel]

    def of(self, channel, *kinds):
        rows = [r for r in self.rows.values() if r.delivery.channel == channel and r.delivery.kind in kinds]
        return sorted(rows, key=lambda r: (r.delivery.ordinal, r.delivery.part))

    # what a test says
    def add_document(self, number: int, edition: str, entry_ids, repo="vllm-project/vllm"):
        news = []
        for one in entry_ids:
            if one not in self.entry_rows:
                self.entry_rows[one] = Entry(
                    id=one,
                    repo=repo,
                    title=f"title {one}",
                    body=f"body {one}",
                    revision=1,
                    edition=date.fromisoformat(edition),
                )
                self.wording_rows[one, 1] = Wording(revision=1, title=f"title {one}", body=f"body {one}")
            entry = self.entry_rows[one]
            news.append(CandidateValue(entry_id=one, repo=entry.repo, title=entry.title, body=entry.body))
        self.documents[number] = DocumentNews(id=number, edition=date.fromisoformat(edition), entries=tuple(news))

    def revise(self, entry_id: int, body: str):
        entry = self.entry_rows[entry_id]
        revision = entry.revision + 1
        self.entry_rows[entry_id] = replace(entry, body=body, revision=revision)
        self.wording_rows[entry_id, revision] = Wording(revision=revision, title=entry.title, body=body)

    # PlanStorage
    def register_channel(self, channel, name, now):
        self._here()
        return self._row(channel, now).state

    def register_channels(self, names, now):
        return {channel: self.register_channel(channel, name, now) for channel, name in names.items()}

    def slots_of(self, channels, since):
        return {channel: self.slots(channel, since) for channel in channels}

    def fresh_documents_of(self, channels):
        return {channel: self.fresh_documents(channel) for channel in channels}

    def taken_by(self, channels, entry_ids):
        return {channel: self.taken(channel, entry_ids) for channel in channels}

    def record_plans(self, plans, now):
        return tuple(self.record_plan(plan, now) for plan in plans)

    def slots(self, channel, since):
        found = [
            RecordedSlot(id=i, slot=p.slot, state=p.state)
            for i, (p, _) in self.slot_rows.items()
            if p.slot.channel == channel and p.slot.local_date >= since
        ]
        return tuple(sorted(found, key=lambda one: one.slot.due_at))

    def fresh_documents(self, channel):
        fresh = [d for d in self.documents.values() if d.id not in self.told[channel]]
        return tuple(d.id for d in sorted(fresh, key=lambda d: (d.edition, d.id)))

    def document_news(self, ids):
        return {one: self.documents[one] for one in ids}

    def taken(self, channel, entry_ids):
        subjects = {r.delivery.subject for r in self.of(channel, K.ENTRY)}
        return frozenset(one for one in entry_ids if entry_subject(one) in subjects)

    def record_plan(self, plan, now):
        self._here()
        self.writes += 1
        key = (plan.slot.channel, plan.slot.local_date, plan.slot.name)
        if any((p.slot.channel, p.slot.local_date, p.slot.name) == key for p, _ in self.slot_rows.values()):
            return None
        if self.told[plan.slot.channel] & set(plan.documents):
            return None
        slot_id = len(self.slot_rows) + 1
        self.slot_rows[slot_id] = (plan, now)
        self.told[plan.slot.channel].update(plan.documents)
        self.add_deliveries(plan.slot.channel, plan.drafts, slot_id, now)
        row = self._row(plan.slot.channel, now)
        if plan.baseline and row.state.baseline_at is None:
            row.state = replace(row.state, baseline_at=now)
        return slot_id

    def planned(self, channel):
        return tuple(r.delivery for r in self.of(channel, K.ROOT, K.ENTRY) if r.delivery.state is S.PLANNED)

    def skip(self, delivery_ids, reason, now):
        count = 0
        for one in delivery_ids:
            if self.rows[one].delivery.state is S.PLANNED:
                self._set(one, state=S.SKIPPED, error=reason)
                count += 1
        return count

    def _set(self, delivery_id, **values):
        self.writes += 1
        row = self.rows[delivery_id]
        row.delivery = replace(row.delivery, **values)

    # SendStorage
    def lease(self, owner, now, until, *, since, limit, ahead=timedelta(seconds=1), apart_from=()):
        self._here()
        found = []
        for channel, row in self.channels.items():
            planned = [
                r.delivery
                for r in self.of(channel, K.ROOT, K.ENTRY, K.REPLY)
                if r.delivery.state is S.PLANNED and not self._waits(r.delivery)
            ]
            free = row.lease_until is None or row.lease_until <= now
            block = row.state.block
            if (
                planned
                and free
                and channel not in apart_from
                and (block is None or block.until <= now)
                and channel.team_id not in self.teams
                and (row.next_post_at is None or row.next_post_at <= now + ahead)
                and (planned[0].next_try_at is None or planned[0].next_try_at <= now)
                and not self._unresolved(channel, since)
            ):
                found.append((row.next_post_at or datetime.min.replace(tzinfo=UTC), channel))
        chosen = tuple(channel for _, channel in sorted(found)[:limit])
        for channel in chosen:
            self.channels[channel].owner, self.channels[channel].lease_until = owner, until
        return chosen

    def _waits(self, delivery):
        """Whether an entry stands in a root, or under it, of which nobody knows whether it is there."""
        if delivery.kind is not K.ENTRY or delivery.slot_id is None:
            return False
        layout = self.slot_rows[delivery.slot_id][0].layout
        return layout in (Layout.COMPACT, Layout.THREAD) and any(
            r.delivery.slot_id == delivery.slot_id and r.delivery.state in UNRESOLVED
            for r in self.of(delivery.channel, K.ROOT)
        )

    def _unresolved(self, channel, since):
        return tuple(
            r.delivery
            for r in self.of(channel, K.ROOT, K.ENTRY, K.REPLY)
            if r.delivery.state in UNRESOLVED
            and (r.first_at >= since or (r.delivery.state is S.SENDING and r.delivery.sending_since >= since))
        )

    def release(self, owner, channels):
        for channel in channels:
            row = self.channels[channel]
            if row.owner == owner:
                row.owner = row.lease_until = None

    def turns(self, channels, since, limit):
        self._here()
        return {channel: self._turn(channel, since, limit) for channel in channels}

    def _turn(self, channel, since, limit):
        rows = self.of(channel, K.ROOT, K.ENTRY, K.REPLY)
        sent = [r.delivery for r in rows if r.delivery.state is S.SENT]
        roots = {
            r.delivery.slot_id: RootState(
                state=r.delivery.state, layout=self.slot_rows[r.delivery.slot_id][0].layout, ts=r.delivery.ts
            )
            for r in rows
            if r.delivery.kind is K.ROOT
        }
        row = self.channels[channel]
        return Turn(
            channel=channel,
            queue=tuple(r.delivery for r in rows if r.delivery.state is S.PLANNED and not self._waits(r.delivery))[
                :limit
            ],
            unresolved=self._unresolved(channel, since),
            roots=roots,
            parents={d.subject: d.thread_ts or d.ts for d in sent if d.kind is K.ENTRY and d.part == 0},
            highest_sent=max((d.ordinal for d in sent), default=-1),
            next_post_at=row.next_post_at,
            blocked=row.state.block is not None,
        )

    def claim(self, owner, delivery_ids, now, until, shown=MappingProxyType({})):
        self._here()
        won = set()
        for one in delivery_ids:
            row = self.rows[one]
            channel = self.channels[row.delivery.channel]
            holds = channel.owner == owner and channel.lease_until is not None and channel.lease_until > now
            if row.delivery.state is S.PLANNED and (holds or row.delivery.kind is K.UPDATE):
                self._set(
                    one,
                    state=S.SENDING,
                    attempts=row.delivery.attempts + 1,
                    sending_since=now,
                    next_try_at=None,
                )
                row.claimed_by, row.claimed_until, row.first_at = owner, until, row.first_at or now
                show = shown.get(one, Shown())
                row.told, row.parts = row.told if show.revision is None else show.revision, show.parts
                if show.folds:
                    for other in self._foldable(row.delivery):
                        other.told = self.entry_rows[entry_of(other.delivery.subject)].revision
                if holds:
                    channel.lease_until = until
                won.add(one)
        return frozenset(won)

    def record(self, owner, records, now):
        self._here()
        accepted = set()
        for record in records:
            row = self.rows[record.delivery_id]
            mine = (
                row.delivery.state is S.SENDING and row.claimed_by == owner and row.delivery.attempts == record.attempt
            )
            if record.next_post_at is not None:
                self.channels[row.delivery.channel].next_post_at = record.next_post_at
            if not (mine or (record.state is S.SENT and row.delivery.state is not S.SENT)):
                continue
            accepted.add(record.delivery_id)
            values = {"state": record.state, "error": record.error, "next_try_at": record.next_try_at}
            values["doubts"] = row.delivery.doubts + (record.state is S.UNCERTAIN)
            values["refusals"] = row.delivery.refusals + record.refused
            if record.ts is not None:
                values["ts"] = record.ts
            if record.thread_ts is not None:
                values["thread_ts"] = record.thread_ts
            self._set(record.delivery_id, **values)
            if record.state is S.SENT:
                self._sent(row, record.told_revision, now, folds=record.folds, parts=record.parts)
        return frozenset(accepted)

    def _sent(self, row, told, now, *, folds, parts=1):
        row.sent_at, row.told = now, told if told is not None else row.told
        one = row.delivery
        if one.kind is K.ENTRY and one.part == 0:
            self._add_parts(one, row.parts, now)
        elif one.kind is K.ENTRY:
            self._change_part(one.channel, one.subject, one.part, now)
        elif one.kind is K.UPDATE:
            for other in self.of(one.channel, K.ROOT, K.ENTRY):
                if other.delivery.subject == one.subject and other.delivery.part == one.part:
                    other.told = max(other.told or 0, told or 0)
            if entry_of(one.subject) is not None and one.part == 0:
                head = self._part(one.channel, one.subject, 0)
                head.parts = max(head.parts, parts)
                self._add_parts(head.delivery, parts, now)
                for part in range(1, head.parts):
                    self._change_part(one.channel, one.subject, part, now)
        if folds:
            for other in self._foldable(one):
                self._set(other.delivery.id, state=S.SENT, ts=one.ts)
                other.folded, other.sent_at = True, now

    def _foldable(self, root):
        return [
            r
            for r in self.of(root.channel, K.ENTRY)
            if r.delivery.slot_id == root.slot_id and r.delivery.state is S.PLANNED and r.delivery.part == 0
        ]

    def _part(self, channel, subject, part):
        found = [r for r in self.of(channel, K.ENTRY) if r.delivery.subject == subject]
        return next((r for r in found if r.delivery.part == part), None)

    def _add_parts(self, head, parts, now):
        for part in range(1, parts):
            if self._part(head.channel, head.subject, part) is None:
                self._insert(
                    Delivery(
                        id=0,
                        key="",
                        channel=head.channel,
                        kind=K.ENTRY,
                        subject=head.subject,
                        revision=head.revision,
                        part=part,
                        slot_id=head.slot_id,
                        ordinal=head.ordinal,
                        state=S.PLANNED,
                    ),
                    now,
                )

    def _change_part(self, channel, subject, part, now):
        head, one = self._part(channel, subject, 0), self._part(channel, subject, part)
        if one is not None and one.delivery.state is S.SENT and (one.told or 1) < (head.told or 1):
            draft = Draft(kind=K.UPDATE, subject=subject, revision=head.told, part=part)
            self.add_deliveries(channel, [draft], one.delivery.slot_id, now)

    def _insert(self, delivery, now):
        number = len(self.rows) + 1
        self.rows[number] = Row(replace(delivery, id=number, key=f"{number:032x}"), planned_at=now)

    def block_channel(self, channel, block, now):
        row = self._row(channel, now)
        new = row.state.block is None or row.state.block.reason != block.reason
        row.state = replace(row.state, block=block)
        return new

    def unblock_channel(self, channel):
        row = self.channels[channel]
        had = row.state.block is not None
        row.state = replace(row.state, block=None)
        return had

    def block_team(self, team_id, block, now):
        new = team_id not in self.teams or self.teams[team_id].reason != block.reason
        self.teams[team_id] = block
        return new

    def unblock_team(self, team_id):
        return self.teams.pop(team_id, None) is not None

    def team_blocks(self):
        self._here()
        return dict(self.teams)

    def probe_team(self, team_id, now, until):
        if team_id in self.teams and self.teams[team_id].until <= now:
            self.teams[team_id] = replace(self.teams[team_id], until=until)
            return True
        return False

    def reserve_channel(self, channel, now, gap):
        self._here()
        if channel not in self.channels:
            return now
        moment = max(self.channels[channel].next_post_at or now, now)
        self.channels[channel].next_post_at = moment + gap
        return moment

    def reserve_team(self, team_id, lane, now, interval):
        moment = max(self.paces.get((team_id, lane), now), now)
        self.paces[team_id, lane] = moment + interval
        return moment

    def end_waits(self, now, longest):
        beyond = now + longest
        for row in self.channels.values():
            if row.next_post_at and row.next_post_at > beyond:
                row.next_post_at = now
        self.paces = {key: now if moment > beyond else moment for key, moment in self.paces.items()}
        for row in self.rows.values():
            if row.delivery.next_try_at and row.delivery.next_try_at > beyond:
                row.delivery = replace(row.delivery, next_try_at=now)
        return 0

    # ReconcileStorage
    def expire_sending(self, now, look_at):
        self._here()
        found = []
        for row in self.rows.values():
            if row.delivery.state is S.SENDING and row.claimed_until < now:
                state = S.PLANNED if row.delivery.kind is K.UPDATE else S.UNCERTAIN
                doubts = row.delivery.doubts + (state is S.UNCERTAIN)
                self._set(row.delivery.id, state=state, error="lease_expired", next_try_at=look_at, doubts=doubts)
                row.looks = 0
                found.append(row.delivery)
        return tuple(found)

    def uncertain(self, now, limit):
        self._here()
        return tuple(
            Doubtful(delivery=r.delivery, looks=r.looks, oldest=r.first_at)
            for r in self.rows.values()
            if r.delivery.state is S.UNCERTAIN and r.delivery.next_try_at <= now
        )[:limit]

    def resolve(self, resolution, now):
        row = self.rows[resolution.delivery_id]
        if resolution.state is S.SENT and resolution.attempt is not None:
            if row.delivery.state is S.SENT:
                return False
        elif row.delivery.state is not resolution.expected or resolution.attempt not in (None, row.delivery.attempts):
            return False
        values = {"state": resolution.state, "error": resolution.error, "next_try_at": resolution.next_try_at}
        if resolution.ts is not None:
            values["ts"] = resolution.ts
        if resolution.thread_ts is not None:
            values["thread_ts"] = resolution.thread_ts
        if resolution.expected is not S.UNCERTAIN:
            values |= {"doubts": 0, "refusals": 0}
        self._set(resolution.delivery_id, **values)
        row.looks = 0 if resolution.state is S.PLANNED else resolution.looks
        if resolution.state is S.SENT:
            layout = self.slot_rows[row.delivery.slot_id][0].layout if row.delivery.slot_id else None
            self._sent(row, row.told, now, folds=row.delivery.kind is K.ROOT and layout is Layout.COMPACT)
        return True

    # UpdateStorage
    def entries_behind(self, limit, *, among):
        found = []
        for row in self.rows.values():
            d = row.delivery
            if d.channel not in among:
                continue
            if d.kind is not K.ENTRY or d.state is not S.SENT or d.part or row.folded:
                continue
            entry = self.entry_rows[entry_of(d.subject)]
            updates = [r.delivery for r in self.of(d.channel, K.UPDATE) if r.delivery.subject == d.subject]
            updates = [one for one in updates if one.part == 0]
            gone = any(u.state is S.SKIPPED for u in updates)
            if entry.revision > (row.told or 1) and not gone and not any(u.revision == entry.revision for u in updates):
                found.append(
                    EntryBehind(
                        channel=d.channel,
                        entry_id=entry.id,
                        told_revision=row.told or 1,
                        revision=entry.revision,
                        ts=d.ts,
                        slot_id=d.slot_id,
                    )
                )
        return tuple(found[:limit])

    def roots_behind(self, limit, *, among):
        found = []
        for row in self.rows.values():
            d = row.delivery
            if d.channel not in among:
                continue
            if (
                d.kind is not K.ROOT
                or d.state is not S.SENT
                or self.slot_rows[d.slot_id][0].state is not SlotState.PLANNED
            ):
                continue
            mine = [r.delivery for r in self.of(d.channel, K.ENTRY) if r.delivery.slot_id == d.slot_id]
            if any(one.state in (S.PLANNED, S.SENDING, S.UNCERTAIN) for one in mine):
                continue
            shown = {entry_of(one.subject) for one in mine if one.state is not S.SKIPPED}
            revision = 1 + sum(self.entry_rows[one].revision - 1 for one in shown)
            revision += sum(one.state is S.SENT and one.part == 0 for one in mine)
            updates = [r.delivery for r in self.of(d.channel, K.UPDATE) if r.delivery.subject == d.subject]
            updates = [one for one in updates if one.part == 0]
            gone = any(u.state is S.SKIPPED for u in updates)
            if (row.told or 0) < revision and not gone and not any(u.revision == revision for u in updates):
                found.append(
                    RootBehind(channel=d.channel, slot_id=d.slot_id, subject=d.subject, revision=revision, ts=d.ts)
                )
        return tuple(found[:limit])

    def add_deliveries(self, channel, drafts, slot_id, now):
        present = {(d.kind, d.subject, d.revision, d.part) for d in (r.delivery for r in self.of(channel, *K))}
        ordinal = max((r.delivery.ordinal for r in self.of(channel, *K)), default=0)
        count = 0
        for draft in drafts:
            if (draft.kind, draft.subject, draft.revision, draft.part) in present:
                continue
            ordinal += 1
            count += 1
            ts = None
            if draft.kind is K.UPDATE:
                ts = next(
                    r.delivery.ts
                    for r in self.of(channel, K.ROOT, K.ENTRY)
                    if r.delivery.subject == draft.subject and r.delivery.part == draft.part
                )
            self._insert(
                Delivery(
                    id=0,
                    key="",
                    channel=channel,
                    kind=draft.kind,
                    subject=draft.subject,
                    revision=draft.revision,
                    part=draft.part,
                    slot_id=slot_id,
                    ordinal=ordinal,
                    state=draft.state,
                    error=draft.error,
                    ts=ts,
                ),
                now,
            )
        return count

    def due_updates(self, now, limit, *, among):
        return tuple(
            r.delivery
            for r in self.rows.values()
            if r.delivery.channel in among
            and r.delivery.kind is K.UPDATE
            and r.delivery.state is S.PLANNED
            and r.delivery.channel.team_id not in self.teams
            and self.channels[r.delivery.channel].state.block is None
            and (r.delivery.next_try_at is None or r.delivery.next_try_at <= now)
        )[:limit]

    # ViewStorage, WordingStorage
    def slot_views(self, slot_ids):
        return {one: self.slot_view(one) for one in slot_ids if one in self.slot_rows}

    def slot_view(self, slot_id):
        plan, _ = self.slot_rows[slot_id]
        rows = [r for r in self.rows.values() if r.delivery.slot_id == slot_id]
        root = next((r for r in rows if r.delivery.kind is K.ROOT), None)
        dropped = frozenset(
            entry_of(r.delivery.subject)
            for r in rows
            if r.delivery.kind is K.ENTRY and r.delivery.part == 0 and r.delivery.state is S.SKIPPED
        )
        return SlotView(
            id=slot_id,
            slot=plan.slot,
            state=plan.state,
            layout=plan.layout,
            detail=plan.detail,
            root_ts=root and root.delivery.ts,
            root_sent_at=root and root.sent_at,
            root_revision=(root and root.told) or 0,
            dropped=dropped,
        )

    def entries(self, ids):
        self._here()
        return {one: self.entry_rows[one] for one in ids if one in self.entry_rows}

    def sent_messages(self, channel, entry_ids):
        found = {}
        for row in self.of(channel, K.ENTRY):
            entry_id = entry_of(row.delivery.subject)
            if row.delivery.state is S.SENT and entry_id in entry_ids and row.delivery.part == 0:
                found[entry_id] = SentMessage(entry_id=entry_id, ts=row.delivery.ts)
        return found

    def wordings(self, entry_id, revisions):
        return {one: self.wording_rows[entry_id, one] for one in revisions if (entry_id, one) in self.wording_rows}

    # DeskStorage, AlertStorage
    def by_key(self, key):
        found = [r.delivery for r in self.rows.values() if r.delivery.key.startswith(key)]
        return found[0] if len(found) == 1 else None

    def in_state(self, state, limit):
        return tuple(r.delivery for r in self.rows.values() if r.delivery.state is state)[:limit]

    def status(self, now):
        return Status(
            by_state=Counter(r.delivery.state.value for r in self.rows.values()),
            held=self.in_state(S.HELD, 100),
            channel_blocks={c: r.state.block for c, r in self.channels.items() if r.state.block},
            team_blocks=dict(self.teams),
        )

    def note_alert(self, alert, now, *, quiet, owed_from):
        self._here()
        known = self.alerts.get(alert.cause)
        is_due = known is None or now - known["told_at"] >= quiet
        if is_due:
            known = {"told_at": now, "owed_from": owed_from, "count": known["count"] if known else 0}
        self.alerts[alert.cause] = {**known, "alert": alert, "count": known["count"] + 1}
        return is_due

    def owed_alerts(self, now, until):
        self._here()
        owed = sorted(
            (one for one in self.alerts.values() if self._is_owed(one, now, until)), key=itemgetter("owed_from")
        )
        return tuple(replace(one["alert"], told_at=one["told_at"]) for one in owed)

    @staticmethod
    def _is_owed(one, now, until):
        return one["owed_from"] is not None and not now < one["owed_from"] <= until + (until - now)

    def claim_alert(self, cause, now, until):
        self._here()
        if cause not in self.alerts or not self._is_owed(self.alerts[cause], now, until):
            return False
        self.alerts[cause]["owed_from"] = until
        return True

    def renew_alert(self, cause, until, later):
        self._here()
        if cause not in self.alerts or self.alerts[cause]["owed_from"] != until:
            return False
        self.alerts[cause]["owed_from"] = later
        return True

    def release_alert(self, cause, at):
        self._here()
        if cause in self.alerts:
            self.alerts[cause]["owed_from"] = at

    def finish_alerts(self, causes):
        self._here()
        for cause in set(causes) & set(self.alerts):
            self.alerts[cause]["owed_from"] = None

    def clear_alert(self, cause):
        self._here()
        return self.alerts.pop(cause, None) is not None

    def alerts_with(self, beginning):
        self._here()
        return frozenset(cause for cause in self.alerts if cause.startswith(beginning))


def policy(channel=CHANNEL, times=("09:00",), zone="Asia/Shanghai", layout=Layout.CHANNEL, **more) -> ChannelPolicy:
    slots = tuple(SlotTime(at=time.fromisoformat(one)) for one in times)
    return ChannelPolicy(
        channel=channel,
        name=f"#{channel.channel_id}",
        schedule=Schedule(times=slots, zone=ZoneInfo(zone)),
        style=Style(layout=layout),
        **more,
    )


class House:
    """One ledger, one Slack, one clock, and any number of processes over them."""

    def __init__(self, *policies: ChannelPolicy, now="2026-03-02T00:59:00", alert_channel=None, **settings):
        self.clock = FakeClock(now)
        self.slack = FakeSlack(self.clock)
        self.storage = MemoryStorage()
        self.maker = FakeMaker()
        self.settings = DeliverySettings(**({"ceiling_per_minute": None} | settings))
        self.policies = {one.channel: one for one in (policies or (policy(),))}
        self.alert_channel = alert_channel
        self.stop = Event()
        self._processes = 0
        self.service = self.process()

    def process(self) -> DeliveryService:
        """Start another process on the same ledger."""
        self._processes += 1
        return DeliveryService(
            owner=f"process-{self._processes}",
            storage=self.storage,
            poster=self.slack,
            history=self.slack,
            maker=self.maker,
            clock=self.clock,
            policies=self.policies,
            settings=self.settings,
            alert_channel=self.alert_channel,
            crew=FakeCrew(self.clock),
            aside=at_once,
        )

    def restart(self) -> None:
        self.service = self.process()

    def tick(self) -> None:
        """One round of what the scheduler calls."""
        self.service.plan()
        self.service.reconcile(self.stop)
        self.service.deliver(self.stop)

    def run(self, seconds: float, every: float = 5.0) -> None:
        """Let time pass, with ticks."""
        end = self.clock.now() + timedelta(seconds=seconds)
        while self.clock.now() < end:
            self.tick()
            self.clock.advance(min(every, max(0.0, (end - self.clock.now()).total_seconds())))
        self.tick()

    def go_to(self, text: str) -> None:
        """Jump the clock."""
        self.clock.moment = at(text)

    def states(self, channel=CHANNEL) -> list[str]:
        return [r.delivery.state.value for r in self.storage.of(channel, K.ROOT, K.ENTRY, K.REPLY)]

    def delivery(self, subject: str, channel=CHANNEL, kind=None) -> Delivery:
        kinds = (kind,) if kind else (K.ROOT, K.ENTRY)
        return next(r.delivery for r in self.storage.of(channel, *kinds) if r.delivery.subject == subject)
