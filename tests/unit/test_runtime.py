"""Parts start in order and stop backwards, whatever one of them does."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from bot.runtime import DRAIN_SECONDS, Part, Runtime


def part(name: str, events: list[str], *, fails_to_start: bool = False, fails_to_stop: bool = False) -> Part:
    def start() -> None:
        if fails_to_start:
            raise RuntimeError(name)
        events.append(f"start {name}")

    def stop(left: float) -> None:
        assert 0 <= left <= DRAIN_SECONDS
        events.append(f"stop {name}")
        if fails_to_stop:
            raise RuntimeError(name)

    return Part(name=name, start=start, stop=stop)


def test_parts_stop_in_the_reverse_of_the_order_in_which_they_started() -> None:
    events: list[str] = []
    runtime = Runtime((part("a", events), part("b", events)), stopping=threading.Event(), reload=lambda: None)
    runtime.start()
    runtime.stop()
    assert events == ["start a", "start b", "stop b", "stop a"]
    assert runtime.stopping.is_set()


def test_a_part_that_cannot_start_leaves_nothing_running() -> None:
    events: list[str] = []
    runtime = Runtime(
        (part("a", events), part("b", events, fails_to_start=True)), stopping=threading.Event(), reload=lambda: None
    )
    with pytest.raises(RuntimeError, match="b"):
        runtime.start()
    assert events == ["start a", "stop a"]


def test_a_part_that_cannot_stop_does_not_keep_the_others_running() -> None:
    events: list[str] = []
    runtime = Runtime(
        (part("a", events), part("b", events, fails_to_stop=True)), stopping=threading.Event(), reload=lambda: None
    )
    runtime.start()
    runtime.stop()
    assert events[-1] == "stop a"


def test_sigterm_stops_and_sighup_reloads() -> None:
    events: list[str] = []
    stopping = threading.Event()

    def reload() -> None:
        events.append("reload")
        os.kill(os.getpid(), signal.SIGTERM)

    starter = Part(name="hangup", start=lambda: os.kill(os.getpid(), signal.SIGHUP), stop=lambda _left: None)
    Runtime((part("a", events), starter), stopping=stopping, reload=reload).run()
    assert events == ["start a", "reload", "stop a"]


def test_a_stop_does_not_wait_for_a_reload_that_hangs() -> None:
    events: list[str] = []
    release = threading.Event()

    def reload() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        release.wait(60)
        events.append("reload")

    starter = Part(name="hangup", start=lambda: os.kill(os.getpid(), signal.SIGHUP), stop=lambda _left: None)
    Runtime((part("a", events), starter), stopping=threading.Event(), reload=reload).run()
    assert events == ["start a", "stop a"]
    release.set()
