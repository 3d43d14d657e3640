"""A pool that can be left behind."""

import subprocess
import sys
import threading
import time

import pytest

from bot.slack.pool import DaemonPool


def test_work_runs_side_by_side_up_to_the_limit_and_idle_threads_are_used_again():
    pool = DaemonPool(3, name="t")
    together = threading.Barrier(3, timeout=5)
    for future in [pool.submit(together.wait) for _ in range(3)]:
        future.result(5)
    names = {pool.submit(lambda: threading.current_thread().name).result(5) for _ in range(20)}
    assert len(names) <= 3
    pool.shutdown()


def test_a_result_and_an_error_come_back():
    pool = DaemonPool(1, name="t")
    assert pool.submit(lambda a, *, b: a + b, 1, b=2).result(5) == 3
    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda: 1 / 0).result(5)
    pool.shutdown()


def test_what_waits_is_cancelled_and_what_hangs_is_left_behind():
    pool = DaemonPool(1, name="t")
    gate, begun = threading.Event(), threading.Event()
    pool.submit(lambda: (begun.set(), gate.wait(10)))
    waiting = pool.submit(lambda: None)
    begun.wait(5)
    start = time.perf_counter()
    pool.shutdown(cancel_futures=True, timeout=0.1)
    assert time.perf_counter() - start < 2
    assert waiting.cancelled()
    with pytest.raises(RuntimeError):
        pool.submit(lambda: None)
    gate.set()


def test_a_program_ends_although_its_work_hangs():
    program = (
        "import threading; from bot.slack.pool import DaemonPool; p = DaemonPool(1, name='t'); "
        "p.submit(threading.Event().wait); p.shutdown(timeout=0.1); print('over')"
    )
    ended = subprocess.run([sys.executable, "-c", program], timeout=20, capture_output=True, check=True)
    assert b"over" in ended.stdout
