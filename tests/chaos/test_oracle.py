"""The oracle itself: what it must notice, message by message."""

from __future__ import annotations

import pytest

from tests.chaos.oracle import judge

EXPECTED = ["一", "二", "三"]
LONG = frozenset({"二"})


def said(text: str, ts: int, thread: int | None = None) -> dict[str, object]:
    found: dict[str, object] = {"text": text, "ts": f"{ts}.0", "metadata": {"event_payload": {"id": f"{ts}"}}}
    return found if thread is None else found | {"thread_ts": f"{thread}.0"}


def kept() -> list[dict[str, object]]:
    return [
        said("vllm 导读 · 周一\n3 条\n1. 精读 · 一\n2. 二\n3. 三", 1),
        said("一\n正文", 2),
        said("二\n正文", 3, 3),
        said("二（续 2/3）\n正文", 5, 3),
        said("二（续 3/3）\n正文", 6, 3),
        said("三\n正文", 4),
    ]


def without(index: int) -> list[dict[str, object]]:
    return [message for number, message in enumerate(kept()) if number != index]


def test_a_channel_that_keeps_the_promise_is_clean():
    assert judge(kept(), EXPECTED, LONG).is_clean


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        (without(1), "lost"),
        ([*kept(), said("四\n正文", 9)], "lost"),
        ([*kept(), said("一\n正文", 9)], "doubled"),
        ([*kept(), kept()[3]], "doubled"),
        ([kept()[0], kept()[5], *kept()[1:5]], "out_of_order"),
        ([kept()[1], kept()[0], *kept()[2:]], "roots_wrong"),
        (without(3), "parts_wrong"),
        (without(4), "parts_wrong"),
        ([*kept()[:3], kept()[4], kept()[3], kept()[5]], "parts_wrong"),
        ([*kept()[:3], said("二（续 2/3）\n正文", 5, 2), *kept()[4:]], "parts_wrong"),
        ([message for message in kept() if "续" not in str(message["text"])], "parts_wrong"),
    ],
)
def test_every_fault_is_noticed(messages, fault):
    verdict = judge(messages, EXPECTED, LONG)
    assert getattr(verdict, fault) > 0
    assert not verdict.is_clean
