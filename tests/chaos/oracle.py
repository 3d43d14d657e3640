"""What stands in the workspace, read through its Web API alone, and what is wrong with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from slack_sdk import WebClient

_ROOT = "导读 ·"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The faults of one channel. All zero: the promise was kept."""

    posted: int
    lost: int
    doubled: int
    out_of_order: int
    roots_wrong: int
    surprises: tuple[str, ...] = ()
    """Titles that are missing or that nobody wrote, a few of them, for whoever looks into it."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.lost or self.doubled or self.out_of_order or self.roots_wrong)


def read(client: WebClient, channel_id: str, bot_user_id: str) -> list[dict[str, object]]:
    """Every message of the bot in the channel, oldest first."""
    messages: list[dict[str, object]] = []
    cursor = ""
    while True:
        page = client.conversations_history(
            channel=channel_id, limit=500, cursor=cursor or None, include_all_metadata=True
        )
        messages += [
            message for message in page["messages"] if message.get("user") == bot_user_id and not message.get("subtype")
        ]
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor:
            return sorted(messages, key=lambda message: float(str(message["ts"])))


def judge(messages: Sequence[dict[str, object]], expected: Sequence[str]) -> Verdict:
    """Compare a channel with what it must hold: each title once, in this order, each after the root that lists it."""
    firsts = [str(message["text"]).split("\n", 1)[0] for message in messages]
    titles = [first for first in firsts if _ROOT not in first]
    counts = Counter(titles)
    keys = Counter(str(message.get("metadata", {}).get("event_payload", {}).get("id")) for message in messages)
    doubled = sum(count - 1 for count in counts.values()) + sum(count - 1 for count in keys.values())
    once = list(dict.fromkeys(titles))
    position = {title: index for index, title in enumerate(expected)}
    places = [position[title] for title in once if title in position]
    out_of_order = sum(later < earlier for earlier, later in pairwise(places))
    strange = [*(set(expected) - set(titles)), *(set(titles) - set(expected))]
    return Verdict(
        posted=len(titles),
        lost=len(strange),
        doubled=doubled,
        out_of_order=out_of_order,
        roots_wrong=_wrong_roots(messages),
        surprises=tuple(sorted(strange)[:5]),
    )


def _wrong_roots(messages: Sequence[dict[str, object]]) -> int:
    wrong = 0
    listed: list[str] | None = None
    following: list[str] = []
    for message in [*messages, None]:
        text = "" if message is None else str(message["text"])
        first = text.split("\n", 1)[0]
        if message is not None and _ROOT not in first:
            following.append(first)
            continue
        if listed is not None and following[: len(listed)] != listed:
            wrong += 1
        listed, following = _listed(text), []
    return wrong


def _listed(text: str) -> list[str]:
    """The titles that a root lists: its numbered lines, without the verdict's word. At most thirty are listed."""
    lines = [line.partition(". ") for line in text.split("\n")[1:]]
    return [rest.rpartition(" · ")[2] for number, dot, rest in lines if dot and number.isdigit()]
