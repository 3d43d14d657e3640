"""When refused signatures mean a wrong secret, and when only a stranger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from queue import SimpleQueue

import pytest
import structlog

from bot.bootstrap.signatures import Signatures


class Clock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


class Heard:
    """Signatures at a clock that is moved by hand, and what people are told, as it comes."""

    def __init__(self) -> None:
        self.clock, self.told, self.counted = Clock(), SimpleQueue(), 0
        self.signatures = Signatures(alarm=self, count=self._count, clock=self.clock)

    def _count(self) -> None:
        self.counted += 1

    def raise_alert(self, cause, text, *, about=None):
        self.told.put(text)

    def clear(self, cause):
        self.told.put(None)

    def refused(self, times: int = 1, *, after: timedelta = timedelta()) -> None:
        self.clock.moment += after
        for _ in range(times):
            self.signatures.refused()

    def admitted(self) -> None:
        self.signatures.admitted()

    def next(self) -> str | None:
        return self.told.get(timeout=5)


@pytest.fixture
def heard() -> Heard:
    return Heard()


def test_a_wrong_secret_is_told_with_what_to_do_and_a_right_signature_ends_it(heard):
    heard.refused()
    assert heard.next().startswith("SLACK_SIGNING_SECRET may be wrong: a request was refused")
    heard.admitted()
    assert heard.next() is None


def test_refusals_are_all_counted_and_said_once_a_minute(heard):
    with structlog.testing.capture_logs() as lines:
        heard.refused(1000)
        heard.refused(after=timedelta(seconds=59))
        assert [(one["log_level"], one["number"]) for one in lines] == [("warning", 1)]
        heard.refused(after=timedelta(seconds=1))
    assert [one["number"] for one in lines] == [1, 1002]
    assert heard.counted == 1002
    heard.next()
    assert "1002 requests were refused" in heard.next()
    assert heard.told.empty()


def test_what_an_earlier_run_told_ends_with_the_first_right_signature_and_nothing_with_the_second(heard):
    heard.admitted()
    assert heard.next() is None
    heard.admitted()
    heard.refused(after=timedelta(hours=2))
    assert heard.next() is not None, "a second ending would have come first"


def test_a_stranger_beside_right_requests_alarms_nobody(heard):
    heard.admitted()
    assert heard.next() is None
    with structlog.testing.capture_logs() as lines:
        heard.refused(after=timedelta(minutes=59))
    assert len(lines) == 1
    heard.refused(after=timedelta(minutes=1))
    assert "2 requests were refused" in heard.next(), "after an hour the secret may have been changed"
