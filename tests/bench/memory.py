"""How much memory an idle bot holds, beside a bare Bolt app in Socket Mode.

    python -m tests.bench.memory

Both are processes of their own against one local workspace. The bot has delivered a root and twelve entries to twenty
channels and has then been left alone. The bare app is slack_bolt's own first example: connected, with one listener.
"""

from __future__ import annotations

import sys
import time

from tests.bench.stage import (
    ENTRIES,
    clock_face,
    machine,
    open_stage,
    process,
    resident_mb,
    write_config,
    write_digest,
)

CHANNELS = 20
SETTLED = 20.0
BARE = """
import os, threading
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

app = App(client=WebClient(os.environ["SLACK_BOT_TOKEN"], base_url=os.environ["SLACK_API_URL"]))

@app.command("/digest")
def digest(ack):
    ack()

SocketModeHandler(app, os.environ["SLACK_APP_TOKEN"]).connect()
threading.Event().wait()
"""


def main() -> None:
    """Measure and print."""
    print(machine())
    with open_stage(channels=CHANNELS) as stage:
        write_digest(stage.folder / "inbox")
        write_config(stage.folder, stage.channels, clock_face(time.time() - 60), ceiling_per_minute=None)
        with (
            stage.bot() as bot,
            process(sys.executable, "-c", BARE, cwd=stage.folder, log=stage.log, **stage.environ()) as bare,
        ):
            stage.wait_for_posts(CHANNELS * (ENTRIES + 1), within=120, alive=lambda: bot.poll() is None)
            time.sleep(SETTLED)
            mine, theirs = resident_mb(bot.pid), resident_mb(bare.pid)
    print(f"memory: {mine / theirs:.2f} x a bare Bolt app ({mine:.0f} MB / {theirs:.0f} MB)")
    print(machine())


if __name__ == "__main__":
    main()
