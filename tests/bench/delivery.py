"""How near a morning comes to the shortest time that Slack's pace allows, and what a plain loop would take.

    python -m tests.bench.delivery [--channels 200] [--database postgresql] [--ceiling default] [--throttle 0.05]

The workspace runs in a process of its own at Slack's pace (one message a second a channel, else 429), the bots in
theirs. All channels have one slot at the next full minute and owe a root and twelve entries. *Makespan* is the time
from the first post to the last accepted one as the workspace logged them, updates of roots left out. *Ideal* is the
greater of twelve paces and all messages under the ceiling; where the workspace answers 429 on purpose, a channel's
share of it is twelve paces and every Retry-After it was given.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import time
import urllib.request
from collections import Counter
from typing import Any

from slack_sdk import WebClient

from bot.config.models import DeliveryConfig
from bot.workspace.faults import Fault, FaultKind
from tests.bench.stage import (
    ENTRIES,
    PACE,
    Stage,
    clock_face,
    cpu_seconds,
    machine,
    next_minute,
    open_stage,
    write_config,
    write_digest,
)

READY = 12.0
"""Seconds that a bot is given to come up before its slot is due."""
CEILING = DeliveryConfig().ceiling_per_minute or 0


def ideal_seconds(posts: list[dict[str, Any]], ceiling: int | None) -> float:
    """Return the shortest makespan that pace, ceiling and the Retry-After of this log allow."""
    waits: Counter[str] = Counter()
    for one in posts:
        waits[one["channel"]] += one["retry_after"] or 0
    accepted = sum(one["accepted"] for one in posts)
    under_ceiling = (accepted - 1) * 60 / ceiling if ceiling else 0.0
    return max(ENTRIES * PACE + max(waits.values()), under_ceiling)


def plain_loop(stage: Stage, channel: str, messages: list[dict[str, Any]]) -> float:
    """Seconds in which a plain loop says one channel's messages: post, sleep a second, post."""
    client = WebClient(stage.state["bot_token"], base_url=stage.workspace.api_url)
    began = time.monotonic()
    for one in messages:
        client.chat_postMessage(channel=channel, text=one["text"], blocks=one["blocks"])
        time.sleep(1.0)
    return time.monotonic() - began


def messages_of(stage: Stage, channel: str) -> list[dict[str, Any]]:
    """What stands in a channel, oldest first, as anybody reads it."""
    client = WebClient(stage.state["bot_token"], base_url=stage.workspace.api_url)
    found = client.conversations_history(channel=channel, limit=200)["messages"]
    return sorted((one for one in found if "subtype" not in one), key=lambda one: one["ts"])


def posted_by(port: int) -> int:
    """How many posts a replica counts."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        found = re.search(r"^digest_post_seconds_count (\S+)", answer.read().decode(), re.MULTILINE)
    return int(float(found[1])) if found else 0


def deliver(
    stage: Stage, *, replicas: int = 1, ports: tuple[int, ...] = (), at: float, within: float
) -> tuple[list[dict[str, Any]], float, list[int]]:
    """Run bots over the slot at `at`; return all posts, CPU seconds of the bots since then, and the posts of each."""
    expected = len(stage.channels) * (ENTRIES + 1)
    with contextlib.ExitStack() as stack:
        bots = [stack.enter_context(stage.bot(port=ports[number] if ports else None)) for number in range(replicas)]
        time.sleep(max(0.0, at - 0.5 - time.time()))
        before = sum(cpu_seconds(one.pid) for one in bots)
        posts = stage.wait_for_posts(expected, within=within, alive=lambda: all(one.poll() is None for one in bots))
        cpu = sum(cpu_seconds(one.pid) for one in bots) - before
        counts = [posted_by(port) for port in ports]
        time.sleep(2.0)  # a double would come now
        posts += stage.posts(posts[-1]["number"])
    return posts, cpu, counts


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--channels", type=int, default=200)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--ceiling", choices=("none", "default"), default="none")
    parser.add_argument("--throttle", type=float, default=0.0, help="share of posts that is answered 429")
    parser.add_argument("--replicas", type=int, default=1)
    given = parser.parse_args()
    if given.replicas > 1 and given.database == "sqlite":
        parser.error("several replicas share a PostgreSQL: --database postgresql")
    ceiling = CEILING if given.ceiling == "default" else None
    print(machine())
    with open_stage(channels=given.channels, database=given.database) as stage:
        write_digest(stage.folder / "inbox")
        at = next_minute(ahead=READY + 4 * (given.replicas - 1))
        write_config(stage.folder, stage.channels, clock_face(at), **({} if ceiling else {"ceiling_per_minute": None}))
        stage.ingest()
        if given.throttle:
            stage.workspace.add_fault(Fault(kind=FaultKind.RATE_LIMITED, probability=given.throttle, times=None))
        messages = given.channels * (ENTRIES + 1)
        ports = tuple(_free_ports(given.replicas)) if given.replicas > 1 else ()
        within = 180 + messages * (60 / ceiling if ceiling else 0.1)
        posts, cpu, counts = deliver(stage, replicas=given.replicas, ports=ports, at=at, within=within)
        accepted = [one for one in posts if one["accepted"]]
        began, ended = posts[0]["at"], accepted[-1]["at"]
        makespan, ideal = ended - began, ideal_seconds(posts, ceiling)
        stage.workspace.clear_faults()
        said = messages_of(stage, stage.channels[0])
        plain = plain_loop(stage, stage.channels[0], said) * given.channels
        refused = [one for one in posts if one["status"] == 429]
        doubled = len(accepted) - messages
    unasked = sum(one["fault"] is None for one in refused)
    print(
        f"delivery {given.database} x{given.replicas}, {given.channels} channels x {ENTRIES + 1} messages, "
        f"ceiling {ceiling or 'off'}, throttle {given.throttle:.0%}: "
        f"makespan {makespan:.2f} s = {makespan / ideal:.3f} x ideal ({ideal:.2f} s), "
        f"{makespan / plain:.4f} x a plain loop ({plain:.0f} s); "
        f"first message {began - at:.1f} s after the slot; 429s {len(refused)} ({unasked} not asked for); "
        f"doubled {doubled}; CPU {1000 * cpu / messages:.2f} ms a message"
    )
    if counts:
        print(f"posts by replica: {', '.join(map(str, counts))}")
    print(machine())


def _free_ports(count: int) -> list[int]:
    import socket

    with contextlib.ExitStack() as stack:
        listening = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in listening:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in listening]


if __name__ == "__main__":
    main()
