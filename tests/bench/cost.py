"""What a delivered message costs the bot in CPU, beside a bare slack_sdk loop that posts the same blocks.

    python -m tests.bench.cost [--channels 200] [--database postgresql] [--mornings 3]

The bot process is counted from just before its slot is due until the last message stands: planning, database, rendering,
posting and the updates of roots that fall into that time; not its start. The bare loop posts what then stands in the
channels to the same workspace, one after another; it is run five times and the middle one counts. A shared machine
gives the same work very different seconds from one minute to the next, so there are several mornings, each with its own
loop, and the middle ratio counts.
"""

from __future__ import annotations

import argparse
import statistics
import time

from slack_sdk import WebClient

from tests.bench.delivery import READY, deliver, messages_of
from tests.bench.stage import ENTRIES, Stage, clock_face, machine, next_minute, open_stage, write_config, write_digest

BARE = 400


def bare_loop(stage: Stage) -> float:
    """CPU seconds of ours for a message that slack_sdk posts."""
    said = messages_of(stage, stage.channels[0])
    stage.workspace.set_rate_limits(on=False)
    client = WebClient(stage.state["bot_token"], base_url=stage.workspace.api_url)
    found = []
    for _ in range(5):
        before = time.process_time()
        for number in range(BARE):
            one = said[number % len(said)]
            client.chat_postMessage(
                channel=stage.channels[1], text=one["text"], blocks=one["blocks"], unfurl_links=False
            )
        found.append((time.process_time() - before) / BARE)
    return statistics.median(found)


def morning(database: str, channels: int) -> tuple[float, float]:
    """CPU seconds a message, of the bot and of the bare loop."""
    with open_stage(channels=channels, database=database) as stage:
        write_digest(stage.folder / "inbox")
        at = next_minute(ahead=READY)
        write_config(stage.folder, stage.channels, clock_face(at), ceiling_per_minute=None)
        stage.ingest()
        _, cpu, _ = deliver(stage, at=at, within=300)
        return cpu / (channels * (ENTRIES + 1)), bare_loop(stage)


def measure(database: str, channels: int, mornings: int) -> None:
    """Print the line of one database."""
    found = sorted((morning(database, channels) for _ in range(mornings)), key=lambda pair: pair[0] / pair[1])
    ratios = [mine / bare for mine, bare in found]
    mine, bare = found[(len(found) - 1) // 2]
    print(
        f"cost {database}: {mine / bare:.2f} x a bare slack_sdk loop ({1000 * mine:.2f} ms / {1000 * bare:.2f} ms), "
        f"the middle of {len(found)} mornings from {ratios[0]:.2f} to {ratios[-1]:.2f} x"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--channels", type=int, default=200)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), action="append")
    parser.add_argument("--mornings", type=int, default=3)
    given = parser.parse_args()
    print(machine())
    for database in given.database or ("sqlite", "postgresql"):
        measure(database, given.channels, given.mornings)
    print(machine())


if __name__ == "__main__":
    main()
