"""Four replicas on one PostgreSQL: each message once, and each replica did some of the work."""

from __future__ import annotations

import contextlib
import signal
import time

from tests.bench.delivery import posted_by
from tests.bench.stage import ENTRIES, Stage, clock_face, open_workspace, write_config, write_digest
from tests.conftest import PostgreSQL
from tests.e2e.support import eventually, fetch, free_port

REPLICAS, CHANNELS = 4, 40
SETTINGS = {"ceiling_per_minute": None, "tick": "300ms"}


def test_four_replicas_share_the_channels_and_post_each_message_once(tmp_path, postgresql: PostgreSQL):
    url = postgresql.url(postgresql.fresh("migrated"))
    with contextlib.ExitStack() as stack:
        workspace, pid = stack.enter_context(open_workspace(tmp_path, channels=CHANNELS, rate_limits=False))
        stage = Stage(tmp_path, workspace, url, tmp_path / "bots.log", pid)
        write_digest(tmp_path / "inbox")
        # Nothing is due for the replicas until all of them are there.
        write_config(tmp_path, stage.channels[:1], clock_face(time.time() + 7200), **SETTINGS)
        stage.ingest()
        ports = [free_port() for _ in range(REPLICAS)]
        bots = [stack.enter_context(stage.bot(port=port)) for port in ports]
        for port in ports:
            eventually(
                lambda port=port: fetch(f"http://127.0.0.1:{port}/readyz")[0] == 200, what="a replica", within=90
            )
        write_config(tmp_path, stage.channels, clock_face(time.time() - 60), **SETTINGS)
        for bot in bots:
            bot.send_signal(signal.SIGHUP)
        expected = CHANNELS * (ENTRIES + 1)
        stage.wait_for_posts(expected, within=120, alive=lambda: all(bot.poll() is None for bot in bots))
        counts = [posted_by(port) for port in ports]
        for bot in bots:
            bot.terminate()
        for bot in bots:
            bot.wait(20)
        posts = [one for one in stage.posts() if one["accepted"]]
    assert len(posts) == expected
    assert {channel: sum(one["channel"] == channel for one in posts) for channel in stage.channels} == dict.fromkeys(
        stage.channels, ENTRIES + 1
    )
    assert sum(counts) == expected
    assert all(counts), counts
