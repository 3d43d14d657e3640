"""What stands in the workspace, read through its Web API alone, and what is wrong with it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

_ROOT = "导读 ·"
_PART = re.compile(r"(.*)（续 (\d+)/(\d+)）")
"""How a message begins that continues a long entry in its thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The faults of one channel. All zero: the promise was kept."""

    posted: int
    lost: int
    doubled: int
    out_of_order: int
    roots_wrong: int
    parts_wrong: int
    """Long entries of which a part is missing, doubled or not where it belongs."""
    surprises: tuple[str, ...] = ()
    """Titles that are missing or that nobody wrote, a few of them, for whoever looks into it."""
    twice: tuple[tuple[str, ...], ...] = ()
    """For each message that stands more than once: its id, then its times."""

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.lost or self.doubled or self.out_of_order or self.roots_wrong or self.parts_wrong)


def read(client: WebClient, channel_id: str, bot_user_id: str) -> list[dict[str, object]]:
    """Every message of the bot in the channel, oldest first, each followed by what it says in its thread."""

    def pages(ask: Callable[..., SlackResponse], **more: str) -> Iterable[dict[str, object]]:
        cursor = ""
        while True:
            page = ask(channel=channel_id, limit=500, cursor=cursor or None, include_all_metadata=True, **more)
            yield from (one for one in page["messages"] if one.get("user") == bot_user_id and not one.get("subtype"))
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return

    def by_time(messages: Iterable[dict[str, object]]) -> list[dict[str, object]]:
        return sorted(messages, key=lambda message: float(str(message["ts"])))

    found: list[dict[str, object]] = []
    for message in by_time(pages(client.conversations_history)):
        found.append(message)
        if message.get("reply_count"):
            thread = pages(client.conversations_replies, ts=str(message["ts"]))
            found += by_time(one for one in thread if one["ts"] != message["ts"])
    return found


def judge(messages: Sequence[dict[str, object]], expected: Sequence[str], long: frozenset[str]) -> Verdict:
    """Compare a channel with what it must hold: each title once, in this order, each after the root that lists it.

    Those in `long` are continued in their thread: every part once, in order, under the first.
    """
    entries = [message for message in messages if not _PART.fullmatch(_first(message))]
    titles = [_first(message) for message in entries if _ROOT not in _first(message)]
    counts = Counter(titles)
    keys = Counter(map(_key, messages))
    doubled = sum(count - 1 for count in counts.values()) + sum(count - 1 for count in keys.values())
    twice = [(key, *(str(one["ts"]) for one in messages if _key(one) == key)) for key, n in keys.items() if n > 1]
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
        roots_wrong=_wrong_roots(entries),
        parts_wrong=_wrong_parts(messages, long),
        surprises=tuple(sorted(strange)[:5]),
        twice=tuple(twice),
    )


def _key(message: dict[str, Any]) -> str:
    return str(message.get("metadata", {}).get("event_payload", {}).get("id"))


def _first(message: dict[str, object]) -> str:
    return str(message["text"]).split("\n", 1)[0]


def _wrong_parts(messages: Sequence[dict[str, object]], long: frozenset[str]) -> int:
    places: dict[str, str] = {}
    parts: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    wrong: set[str] = set()
    for message in messages:
        part = _PART.fullmatch(_first(message))
        thread = str(message.get("thread_ts") or message["ts"])
        if part is None:
            places[_first(message)] = thread
            continue
        parts[part[1]].append((int(part[2]), int(part[3])))
        if places.get(part[1]) != thread:
            wrong.add(part[1])
    for title in {*(title for title in long if title in places), *parts}:
        told = parts[title]
        total = told[0][1] if told else 0
        if title not in long or told != [(number, total) for number in range(2, total + 1)] or total < 2:
            wrong.add(title)
    return len(wrong)


def _wrong_roots(messages: Sequence[dict[str, object]]) -> int:
    wrong = 0
    listed: list[str] | None = None
    following: list[str] = []
    for message in [*messages, None]:
        text = "" if message is None else str(message["text"])
        if message is not None and _ROOT not in _first(message):
            following.append(_first(message))
            continue
        if listed is not None and following[: len(listed)] != listed:
            wrong += 1
        listed, following = _listed(text), []
    return wrong


def _listed(text: str) -> list[str]:
    """The titles that a root lists: its numbered lines, without the verdict's word. At most thirty are listed."""
    lines = [line.partition(". ") for line in text.split("\n")[1:]]
    return [rest.rpartition(" · ")[2] for number, dot, rest in lines if dot and number.isdigit()]
