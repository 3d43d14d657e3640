"""Work after the ack: bounded, told when it fails, and seen when it is stuck."""

import threading

from bot.errors import SlackUnavailable, StorageUnavailable
from bot.slack.work import Failures, Work
from tests.unit.slack.harness import eventually


class Ear:
    def __init__(self, *, deaf=False):
        self.heard, self.deaf = [], deaf

    def say(self, key, **values):
        if self.deaf:
            raise SlackUnavailable("the address is too old")
        self.heard.append(key)


def failing(error):
    def task():
        raise error

    return task


def test_a_failure_is_counted_and_told_in_the_fitting_sentence():
    counted = []
    work = Work(failures=Failures(count=lambda: counted.append(1)), threads=1)
    ear = Ear()
    work.run(failing(StorageUnavailable("locked")), feature="x", teller=ear)
    work.run(failing(RuntimeError("broken")), feature="x", teller=ear)
    work.run(failing(RuntimeError("broken")), feature="x", teller=None)
    work.run(failing(RuntimeError("broken")), feature="x", teller=Ear(deaf=True))
    assert ear.heard == ["busy", "failed"]
    assert len(counted) == 4
    work.close()


def test_work_beyond_the_queue_is_refused_in_a_sentence_instead_of_waiting_for_ever():
    gate, ear = threading.Event(), Ear()
    work = Work(failures=Failures(count=lambda: None), threads=1, waiting=1)
    for _ in range(3):
        work.start(lambda: gate.wait(5), feature="slow", teller=ear)
    assert ear.heard == ["busy"]
    gate.set()
    done = threading.Event()
    eventually(lambda: work.start(done.set, feature="next", teller=Ear()) or done.wait(0.1))
    work.close()


def test_a_task_that_is_stuck_is_seen():
    now = [0.0]
    gate, begun = threading.Event(), threading.Event()
    work = Work(failures=Failures(count=lambda: None), monotonic=lambda: now[0])
    assert work.problem() is None
    work.start(lambda: (begun.set(), gate.wait(5)), feature="command digest", teller=None)
    begun.wait(5)
    now[0] = 59.0
    assert work.problem() is None
    now[0] = 73.0
    assert work.problem() == "command digest has been running for 73 seconds"
    gate.set()
    eventually(lambda: work.problem() is None)
    work.close()


def test_a_closed_pool_takes_nothing_and_does_not_complain():
    work = Work(failures=Failures(count=lambda: None))
    work.close()
    work.start(lambda: None, feature="late", teller=Ear())
