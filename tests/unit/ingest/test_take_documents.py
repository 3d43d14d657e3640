"""Files come in once, in any order, and give the same entries."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import permutations
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import StorageUnavailable
from bot.ingest.decide import EntryIntent, NewDocument, window
from bot.ingest.service import Ingest, Taken
from bot.model import Document, DocumentState
from bot.text.vocabulary import load
from tests.ingest_support import FixedClock, MemoryStorage

SEEDS = sorted((Path(__file__).parents[3] / "seeds").glob("*.txt"))
ARRIVED = datetime(2026, 11, 29, 22, 0, tzinfo=UTC)
LONG = "这一处改动把心跳线程与抢锁事务合并到同一条语句里，避免了进程在两步之间被杀时任务被重复领取，评审中的讨论同样有参考意义，建议对照自己的实现检查一遍。"


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


def take(storage: MemoryStorage, name: str, text: str | bytes, *, arrived: datetime = ARRIVED) -> Taken:
    ingest = Ingest(storage=storage, vocabulary=load(), zone=ZoneInfo("Asia/Shanghai"), clock=FixedClock())
    data = text if isinstance(text, bytes) else text.encode()
    return ingest.take(source="folder", name=name, data=data, arrived_at=arrived)


def digest(*pairs: tuple[str, str], repo: str = "a/b") -> str:
    return "\n\n".join([repo, *(text for pair in pairs for text in pair)]) + "\n"


@pytest.mark.parametrize("order", list(permutations(SEEDS)))
def test_the_seeds_give_sixteen_appearances_and_twelve_entries_in_any_order(
    storage: MemoryStorage, order: tuple[Path, ...]
) -> None:
    taken = [take(storage, path.name, path.read_bytes()) for path in order]
    assert [t.new_entries for t in taken] == [8, 4]
    assert (len(storage.appearances), len(storage.entries)) == (16, 12)
    assert all(entry.revision == 1 for entry in storage.entries.values())


def test_the_same_bytes_again_change_nothing(storage: MemoryStorage) -> None:
    first = take(storage, "one.txt", SEEDS[0].read_bytes())
    again = take(storage, "copy.txt", SEEDS[0].read_bytes())
    assert (again.known, again.document, len(storage.appearances)) == (True, first.document, 8)


@pytest.mark.parametrize(
    ("name", "text", "edition"),
    [
        ("2026-11-20.txt", "2026-11-28\n\n" + digest(("t", "b")), date(2026, 11, 28)),
        ("2026-11-20.txt", digest(("t", "b")), date(2026, 11, 20)),
        # A name that far ahead is mistyped; a week is not.
        ("2062-11-30.txt", digest(("t", "b")), date(2026, 11, 30)),
        ("2026-12-08.txt", digest(("t", "b")), date(2026, 11, 30)),
        ("2026-12-07.txt", digest(("t", "b")), date(2026, 12, 7)),
        ("a.txt", "2026-12-07\n\n" + digest(("t", "b")), date(2026, 12, 7)),
        # 22:00 in UTC is the next morning in Shanghai.
        ("today.txt", digest(("t", "b")), date(2026, 11, 30)),
    ],
)
def test_the_edition_is_the_text_s_else_the_name_s_else_the_day_of_arrival(
    storage: MemoryStorage, name: str, text: str, edition: date
) -> None:
    assert take(storage, name, text).document.edition == edition


def test_a_changed_body_is_a_new_revision_of_the_same_entry(storage: MemoryStorage) -> None:
    take(storage, "2026-11-28.txt", digest(("标题", "旧正文")))
    taken = take(storage, "2026-11-29.txt", digest(("标题", "新正文")))
    assert (taken.new_entries, taken.revised) == (0, 1)
    assert (storage.entries[1].revision, storage.entries[1].body) == (2, "新正文")


def test_an_older_edition_that_comes_late_does_not_undo_the_newer_wording(storage: MemoryStorage) -> None:
    take(storage, "2026-11-29.txt", digest(("标题", "新正文")))
    taken = take(storage, "2026-11-28.txt", digest(("标题", "旧正文")))
    assert (taken.appearances, taken.new_entries, taken.revised) == (1, 0, 0)
    assert (storage.entries[1].revision, storage.entries[1].body) == (1, "新正文")
    assert storage.entries[1].current_edition == date(2026, 11, 29)


def test_a_reworded_title_is_the_same_entry_also_the_next_time(storage: MemoryStorage) -> None:
    take(storage, "2026-11-20.txt", digest(("修复任务重复执行", LONG)))
    assert take(storage, "2026-11-21.txt", digest(("修复任务被重复执行的竞态", LONG))).revised == 1
    later = datetime(2027, 3, 1, 1, 0, tzinfo=UTC)
    assert take(storage, "2027-03-01.txt", digest(("修复任务重复执行", LONG)), arrived=later).new_entries == 0
    assert len(storage.entries) == 1


def test_a_reworded_title_after_more_than_two_weeks_is_a_new_entry(storage: MemoryStorage) -> None:
    take(storage, "2026-11-01.txt", digest(("修复任务重复执行", LONG)))
    assert take(storage, "2026-11-16.txt", digest(("修复任务被重复执行的竞态", LONG))).new_entries == 1


def test_an_entry_that_stands_under_its_own_name_is_not_another_reworded(storage: MemoryStorage) -> None:
    take(storage, "2026-11-20.txt", digest(("甲标题", LONG)))
    taken = take(storage, "2026-11-21.txt", digest(("乙标题", LONG), ("甲标题", LONG)))
    assert (taken.new_entries, len(storage.entries)) == (1, 2)


def test_where_two_entries_are_equally_near_it_is_a_new_one(storage: MemoryStorage) -> None:
    take(storage, "2026-11-20.txt", digest(("甲标题", LONG), ("乙标题", LONG)))
    assert take(storage, "2026-11-21.txt", digest(("丙标题", LONG))).new_entries == 1


def test_the_same_title_twice_in_a_file_is_one_entry_with_two_appearances(storage: MemoryStorage) -> None:
    taken = take(storage, "a.txt", digest(("标题", "一"), ("标题。", "一")))
    assert (taken.appearances, taken.new_entries, len(storage.entries)) == (2, 1, 1)
    assert storage.entries[1].body == "一"


def test_a_broken_file_is_set_aside_whole_and_tried_again_when_its_bytes_change(storage: MemoryStorage) -> None:
    broken = take(storage, "a.txt", digest(("标题", "正文")) + "\n孤立\n")
    assert broken.document.state is DocumentState.QUARANTINED
    assert [problem.line for problem in broken.problems] == [7]
    assert (storage.entries, storage.appearances) == ({}, [])
    assert take(storage, "a.txt", digest(("标题", "正文")) + "\n孤立\n").known
    mended = take(storage, "a.txt", digest(("标题", "正文"), ("孤立", "不再")))
    assert (mended.document.state, mended.new_entries) == (DocumentState.ACCEPTED, 2)
    assert storage.superseded == {broken.document.id}


def test_a_corrected_file_supersedes_its_edition_and_tomorrow_s_file_of_that_name_does_not(
    storage: MemoryStorage,
) -> None:
    first = take(storage, "latest.txt", "2026-11-28\n\n" + digest(("标题", "正文")))
    take(storage, "latest.txt", "2026-11-28\n\n" + digest(("标题", "正文，更正")))
    take(storage, "latest.txt", "2026-11-29\n\n" + digest(("另一条", "正文")))
    assert storage.superseded == {first.document.id}


class Rival(MemoryStorage):
    """Another replica takes the same file, or the same entries, just before we record ours."""

    def __init__(self, *, wins: int, text: str) -> None:
        super().__init__()
        self.wins = wins
        self.text = text

    def record(self, document: NewDocument, intents: tuple[EntryIntent, ...], now: datetime) -> Document | None:  # type: ignore[override]
        if self.wins:
            self.wins -= 1
            wins, self.wins = self.wins, 0
            take(self, "rival.txt", self.text)
            self.wins = wins
        return super().record(document, intents, now)


def test_of_two_replicas_that_take_the_same_file_one_records_it() -> None:
    text = digest(("标题", "正文"))
    storage = Rival(wins=1, text=text)
    assert take(storage, "a.txt", text).known
    assert (len(storage.documents), len(storage.entries)) == (1, 1)


def test_a_decision_that_another_replica_overtook_is_made_again() -> None:
    storage = Rival(wins=1, text=digest(("标题", "正文"), ("另一条", "正文二")))
    taken = take(storage, "a.txt", digest(("标题", "正文")))
    assert (taken.known, taken.new_entries, len(storage.entries)) == (False, 0, 2)


def test_a_storage_that_never_settles_is_left_for_the_next_look() -> None:
    class Restless(MemoryStorage):
        def record(self, document: NewDocument, intents: object, now: datetime) -> None:  # type: ignore[override]
            del document, intents, now

    with pytest.raises(StorageUnavailable, match="next look"):
        take(Restless(), "a.txt", digest(("标题", "正文")))


DAYS = st.lists(
    st.tuples(st.integers(1, 28), st.lists(st.sampled_from("甲乙丙丁戊"), min_size=1, max_size=4)), min_size=1, max_size=5,
    unique_by=lambda day: day[0],
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(DAYS, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(days: list[tuple[int, list[str]]], random: object) -> None:
    files = [
        (f"2026-11-{day:02}.txt", digest(*((title, f"正文{day}{title}") for title in titles))) for day, titles in days
    ]
    shuffled = list(files)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = MemoryStorage(), MemoryStorage()
    for name, text in sorted(files):
        take(one, name, text)
    for name, text in shuffled:
        take(other, name, text)
    assert {e.title: e.body for e in one.entries.values()} == {e.title: e.body for e in other.entries.values()}
    assert set(one.names) == set(other.names)


def test_the_window_ends_where_the_calendar_does() -> None:
    assert window(date.min)[0] == date.min
    assert window(date.max)[1] == date.max
