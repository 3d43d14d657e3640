"""A process that has imported the bot once and forks one for each line it reads: a real bot, 1.5 s of imports sooner.

Reads JSON lines `{"environ": {...}, "cwd": ..., "log": ..., "mutation": ...}` and answers each with the child's pid.
It must not start a thread itself: a fork copies only the thread that forks.
"""

from __future__ import annotations

import json
import os
import signal
import sys

import bot.bootstrap.assemble
import bot.cli.run
from tests.chaos.mutations import MUTATIONS


def main() -> None:
    """Fork bots until the input ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        wish = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(wish)
        print(pid, flush=True)


def _become(wish: dict[str, object]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(str(wish["cwd"]))
    os.environ.update(wish["environ"])  # type: ignore[arg-type]
    log = os.open(str(wish["log"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    if wish.get("mutation"):
        MUTATIONS[str(wish["mutation"])]()
    sys.argv = ["digest-bot", "run", "--now"]
    try:
        bot.cli.main()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
