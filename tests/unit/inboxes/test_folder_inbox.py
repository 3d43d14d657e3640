"""The folder yields complete files once, and nothing else."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.inboxes.folder import FolderInbox, InboxUnavailable, Look, printable, read_file

START = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)


@dataclass
class Clock:
    at: datetime = START

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


def write(path: Path, text: str, *, age: float = 60.0) -> None:
    path.write_text(text, "utf-8")
    changed = START.timestamp() - age
    os.utime(path, (changed, changed))


def names(inbox: FolderInbox, *, force: bool = False) -> list[str]:
    return [arrival.name for arrival in inbox.look(force=force)]


def look_twice(inbox: FolderInbox, clock: Clock) -> Look:
    assert not inbox.look().arrivals
    clock.at += timedelta(seconds=2)
    return inbox.look()


def test_files_come_once_in_the_order_of_their_names(tmp_path: Path, clock: Clock) -> None:
    for name in ("b.txt", "a.txt", "c.txt"):
        write(tmp_path / name, name)
    inbox = FolderInbox(tmp_path, clock)
    look = look_twice(inbox, clock)
    assert [(a.name, a.data, a.arrived_at) for a in look] == [
        (n, n.encode(), clock.at) for n in ("a.txt", "b.txt", "c.txt")
    ]
    assert names(inbox) == []


def test_a_file_that_is_being_written_waits_until_two_looks_agree(tmp_path: Path, clock: Clock) -> None:
    inbox = FolderInbox(tmp_path, clock)
    write(tmp_path / "a.txt", "half", age=0)
    assert inbox.look().waiting == ("a.txt",)
    clock.at += timedelta(seconds=5)
    write(tmp_path / "a.txt", "half and the rest", age=0)
    assert names(inbox) == []
    clock.at += timedelta(seconds=5)
    assert [a.data for a in inbox.look()] == [b"half and the rest"]


def test_a_file_whose_writer_pauses_is_not_taken_at_the_first_look(tmp_path: Path, clock: Clock) -> None:
    inbox = FolderInbox(tmp_path, clock)
    write(tmp_path / "a.txt", "half", age=3600)
    assert inbox.look().waiting == ("a.txt",)
    write(tmp_path / "a.txt", "half and the rest", age=0)
    clock.at += timedelta(seconds=5)
    assert names(inbox) == []
    clock.at += timedelta(seconds=5)
    assert [a.data for a in inbox.look()] == [b"half and the rest"]


def test_two_looks_at_once_are_no_two_looks(tmp_path: Path, clock: Clock) -> None:
    inbox = FolderInbox(tmp_path, clock, settle=2.0)
    write(tmp_path / "a.txt", "x")
    assert [names(inbox) for _ in range(3)] == [[], [], []]
    clock.at += timedelta(seconds=2)
    assert names(inbox) == ["a.txt"]


def test_a_clock_that_is_set_back_makes_no_file_wait_for_the_hour_to_come_again(tmp_path: Path, clock: Clock) -> None:
    inbox = FolderInbox(tmp_path, clock)
    write(tmp_path / "a.txt", "x", age=-3600)
    assert names(inbox) == []
    clock.at -= timedelta(hours=1)
    assert names(inbox) == []
    clock.at += timedelta(seconds=2)
    assert names(inbox) == ["a.txt"]


def test_unfinished_names_folders_and_loops_are_never_taken(tmp_path: Path, clock: Clock) -> None:
    for name in (".hidden.txt", "a.txt~", "~lock.txt", "a.txt.tmp", "A.PART"):
        write(tmp_path / name, "x")
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.txt")
    assert names(FolderInbox(tmp_path, clock), force=True) == []


def test_a_link_to_a_file_is_a_file(tmp_path: Path, clock: Clock) -> None:
    write(tmp_path / ".real", "x")
    (tmp_path / "a.txt").symlink_to(tmp_path / ".real")
    assert [a.name for a in look_twice(FolderInbox(tmp_path, clock), clock)] == ["a.txt"]


def test_a_file_renamed_into_place_is_taken_though_it_is_young(tmp_path: Path, clock: Clock) -> None:
    inbox = FolderInbox(tmp_path, clock)
    write(tmp_path / "a.tmp", "x", age=0)
    (tmp_path / "a.tmp").rename(tmp_path / "a.txt")
    assert names(inbox) == []
    clock.at += timedelta(seconds=5)
    assert names(inbox) == ["a.txt"]


def test_changed_bytes_come_again_and_so_does_what_could_not_be_recorded(tmp_path: Path, clock: Clock) -> None:
    write(tmp_path / "a.txt", "one")
    inbox = FolderInbox(tmp_path, clock)
    (arrival,) = look_twice(inbox, clock)
    inbox.again(arrival)
    assert names(inbox) == ["a.txt"]
    write(tmp_path / "a.txt", "two", age=30)
    assert [a.data for a in look_twice(inbox, clock)] == [b"two"]


def test_force_takes_everything_finished_now(tmp_path: Path, clock: Clock) -> None:
    write(tmp_path / "a.txt", "x", age=0)
    inbox = FolderInbox(tmp_path, clock)
    assert (names(inbox, force=True), names(inbox, force=True), names(inbox)) == (["a.txt"], ["a.txt"], [])


def test_an_unreadable_file_does_not_stop_the_others(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.txt", "x")
    write(tmp_path / "b.txt", "x")
    opened = Path.open

    def fail(path: Path, mode: str = "r") -> object:
        if path.name == "a.txt":
            raise PermissionError(13, "Permission denied")
        return opened(path, mode)

    monkeypatch.setattr(Path, "open", fail)
    look = look_twice(FolderInbox(tmp_path, clock), clock)
    assert [a.name for a in look] == ["b.txt"]
    ((name, problem),) = look.unreadable
    assert (name, problem.line) == ("a.txt", 1)
    assert "Permission denied" in problem.reason


def test_names_that_are_no_utf_8_are_taken_under_a_printable_name(tmp_path: Path, clock: Clock) -> None:
    raw = os.fsencode(tmp_path) + b"/\xd0\xde\xb8\xb4.txt"
    Path(os.fsdecode(raw)).write_bytes(b"x")
    (arrival,) = FolderInbox(tmp_path, clock).look(force=True)
    assert arrival.name == printable(arrival.path.name)
    arrival.name.encode("utf-8")


def test_a_missing_folder_says_what_to_do(tmp_path: Path, clock: Clock) -> None:
    with pytest.raises(InboxUnavailable, match=r"inbox\.path"):
        FolderInbox(tmp_path / "none", clock).look()


def test_a_named_file_is_read_whatever_its_age(tmp_path: Path, clock: Clock) -> None:
    write(tmp_path / "a.tmp", "x", age=0)
    assert read_file(tmp_path / "a.tmp", clock).data == b"x"
    with pytest.raises(InboxUnavailable, match=r"none\.txt"):
        read_file(tmp_path / "none.txt", clock)


def test_a_big_inbox_that_did_not_change_costs_no_reading(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        write(tmp_path / f"{number}.txt", "x")
    inbox = FolderInbox(tmp_path, clock)
    assert len(look_twice(inbox, clock)) == 50
    monkeypatch.setattr(Path, "open", None)
    assert names(inbox) == []
