"""Real threads, for the little that they do."""

import threading

import pytest

from bot.delivery.crew import ThreadCrew


def gather(crew, count):
    found = []
    while len(found) < count:
        found.extend(crew.collect(5))
    return found


def test_calls_run_at_the_same_time_and_their_results_arrive():
    crew = ThreadCrew(4)
    together = threading.Barrier(4, timeout=5)
    for _ in range(4):
        crew.submit(together.wait)
    assert sorted(gather(crew, 4)) == [0, 1, 2, 3]


def test_no_more_run_at_once_than_there_are_hands():
    crew = ThreadCrew(2)
    gate = threading.Event()
    for _ in range(2):
        crew.submit(gate.wait)
    assert crew.free == 0
    assert crew.collect(0) == []
    gate.set()
    assert gather(crew, 2) == [True, True]
    assert crew.free == 2


def test_a_thread_that_cannot_be_had_is_missed_by_nobody_and_one_hand_does_the_work(monkeypatch):
    start, left = threading.Thread.start, ["yes", "no", "no"]

    def begin(thread):
        if left and left.pop(0) == "no":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", begin)
    crew = ThreadCrew(3)
    for number in range(3):
        crew.submit(lambda number=number: number)
    assert sorted(gather(crew, 3)) == [0, 1, 2]
    assert crew.free == 3


def test_where_no_thread_can_be_had_the_call_is_refused_and_the_next_one_is_tried(monkeypatch):
    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", lambda _thread: (_ for _ in ()).throw(RuntimeError("no thread")))
        crew = ThreadCrew(1)
        with pytest.raises(RuntimeError):
            crew.submit(lambda: 1)
    assert crew.free == 1
    crew.submit(lambda: 2)
    assert gather(crew, 1) == [2]


def test_threads_are_used_again():
    crew = ThreadCrew(3)
    names = set()
    for _ in range(20):
        crew.submit(lambda: threading.current_thread().name)
        names.update(gather(crew, 1))
    assert len(names) <= 3
