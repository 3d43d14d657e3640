"""A thread pool that the program can leave behind.

The standard library's pool joins its threads when the interpreter ends, however long they take: a search that hangs in
a database would keep a stopped bot alive until the platform kills it. These threads are daemons, and stopping has a
time limit.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

Params = ParamSpec("Params")
Result = TypeVar("Result")


class DaemonPool(Executor):
    """At most `threads` threads, started when they are needed."""

    def __init__(self, threads: int, *, name: str) -> None:
        self._most = threads
        self._name = name
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads: list[threading.Thread] = []
        self._futures: set[Future[object]] = set()
        self._is_closed = False

    def submit(self, fn: Callable[Params, Result], /, *args: Params.args, **kwargs: Params.kwargs) -> Future[Result]:
        """Run the call soon. Raises RuntimeError once the pool is shut down."""
        future: Future[Result] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001  a future carries whatever was raised
                future.set_exception(error)
            else:
                future.set_result(result)

        with self._lock:
            if self._is_closed:
                raise RuntimeError("the pool is shut down")
            self._futures.add(future)  # type: ignore[arg-type]
            future.add_done_callback(self._futures.discard)
            self._queue.put(run)
            if len(self._threads) < self._most and not self._idle.acquire(blocking=False):
                name = f"{self._name}-{len(self._threads)}"
                self._threads.append(threading.Thread(target=self._work, name=name, daemon=True))
                self._threads[-1].start()
        return future

    def shutdown(
        self,
        wait: bool = True,  # noqa: FBT001, FBT002  Executor's signature
        *,
        cancel_futures: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Take nothing new. With `wait`, let what runs end, for at most `timeout` seconds. Idempotent."""
        with self._lock:
            self._is_closed = True
            waiting = list(self._futures) if cancel_futures else []
            threads = list(self._threads)
            for _ in threads:
                self._queue.put(None)
        for future in waiting:
            future.cancel()
        deadline = None if timeout is None else time.monotonic() + timeout
        for thread in threads if wait else ():
            if thread is not threading.current_thread():
                thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while True:
            try:
                run = self._queue.get_nowait()
            except queue.Empty:
                self._idle.release()
                run = self._queue.get()
            if run is None:
                return
            run()
