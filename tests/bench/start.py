"""How soon a bot that is started has its first message in Slack, beside the time in which Python imports slack_bolt.

    python -m tests.bench.start

Measured with a slot that is due already: on an empty folder (the database is made, the digest taken), and on one whose
digest was taken before. Each figure is the least of three.
"""

from __future__ import annotations

import subprocess
import sys
import time

from tests.bench.stage import ROOT, clock_face, machine, open_stage, write_config, write_digest

TIMES = 3


def seconds_of(*command: str) -> float:
    """Wall seconds of a program, the least of three."""
    found = []
    for _ in range(TIMES):
        began = time.perf_counter()
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        found.append(time.perf_counter() - began)
    return min(found)


def first_delivery(*, fresh: bool) -> float:
    """Seconds from the start of the process until the workspace has its first message."""
    with open_stage(channels=1) as stage:
        write_digest(stage.folder / "inbox")
        write_config(stage.folder, stage.channels, clock_face(time.time() - 60))
        if fresh:
            (stage.folder / "bot.db").unlink()
        else:
            stage.ingest()
        began = time.time()
        with stage.bot() as bot:
            posts = stage.wait_for_posts(1, within=60, alive=lambda: bot.poll() is None)
        return float(posts[0]["at"]) - began


def main() -> None:
    """Measure and print."""
    print(machine())
    bolt = seconds_of(sys.executable, "-c", "import slack_bolt")
    empty = seconds_of(sys.executable, "-c", "pass")
    said = seconds_of(sys.executable, "-m", "bot", "--help")
    known = min(first_delivery(fresh=False) for _ in range(TIMES))
    fresh = min(first_delivery(fresh=True) for _ in range(TIMES))
    print(
        f"start to first delivery: {known / bolt:.2f} x `import slack_bolt` ({known:.2f} s / {bolt:.2f} s); "
        f"on an empty folder {fresh / bolt:.2f} x ({fresh:.2f} s)"
    )
    print(f"digest-bot --help: {said:.2f} s ({said / empty:.1f} x an empty Python, {said / bolt:.2f} x)")
    print(machine())


if __name__ == "__main__":
    main()
