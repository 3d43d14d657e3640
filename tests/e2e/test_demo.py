"""The main job: from a clean copy to the digest in the channel, in one command."""

from __future__ import annotations

import re

import pytest

from bot.workspace.remote import RemoteWorkspace
from tests.conftest import _fresh_url
from tests.e2e.support import (
    ALL_ITEMS,
    SHARED,
    Reading,
    assert_digest,
    clean_copy,
    plain,
    run_once,
)


@pytest.fixture(params=["sqlite", "postgresql"])
def kept_url(request, tmp_path):
    yield from _fresh_url(request, tmp_path, migrated=False)


def rows(output: str, kind: str) -> list[str]:
    return [line for line in output.splitlines() if re.match(rf"│ *\d+ +│ #\S+ +│ {kind} ", line)]


def test_the_demo_posts_the_two_seeds_once_and_nothing_when_it_is_run_again(tmp_path, kept_url):
    copy = clean_copy(tmp_path)
    once = run_once("demo", "--once", "--port", "0", cwd=copy, DATABASE_URL=kept_url)
    assert once.returncode == 0, once.stdout + once.stderr
    assert "2 documents, 16 appearances, 12 new entries" in once.stdout
    assert "1 root and 12 entry messages" in once.stdout
    assert "4 entries stand in more than one document and were posted once" in once.stdout
    assert "13 new messages" in once.stdout
    assert len(rows(once.stdout, "root")) == 1
    entries = rows(once.stdout, "entry")
    assert [item.title in row for item, row in zip(ALL_ITEMS, entries, strict=True)] == [True] * 12

    again = run_once("demo", "--once", "--port", "0", cwd=copy, DATABASE_URL=kept_url)
    assert again.returncode == 0, again.stdout + again.stderr
    assert re.search(r"^0 new messages", again.stdout, re.MULTILINE)


def test_plain_slack_sdk_reads_the_digest_back_while_the_demo_stays_up(tmp_path, start_process):
    demo = start_process("demo", "--port", "0", cwd=clean_copy(tmp_path))
    url = demo.wait_for(r"Local Slack workspace: (http://127\.0\.0\.1:\d+)/")[1]
    demo.wait_for(r"Open http://\S+ and try: /digest")
    remote = RemoteWorkspace(url)
    channel = Reading.of(remote.api_url, remote.state()["bot_token"])

    messages = channel.messages()

    assert len(messages) == 13
    assert_digest(messages, ALL_ITEMS)
    # Numbers 5 to 8 of the twelve stand in both files; the root says that they came once.
    numbers = [ALL_ITEMS.index(one) + 1 for one in SHARED]
    assert numbers == [5, 6, 7, 8]
    (line,) = [line for line in plain(messages[0]).split("\n") if "只发一次" in line]
    assert re.findall(r"\d+", line) in (["5", "8"], ["5", "6", "7", "8"])
    assert all(one["thread_ts"] == one["ts"] for one in messages if "thread_ts" in one)
    assert demo.terminate() == 0


def test_a_kept_demo_goes_on_where_it_ended(tmp_path):
    copy = clean_copy(tmp_path)
    keep = ("--keep", str(tmp_path / "kept"))
    assert "13 new messages" in run_once("demo", "--once", "--port", "0", *keep, cwd=copy).stdout
    assert re.search(
        r"^0 new messages", run_once("demo", "--once", "--port", "0", *keep, cwd=copy).stdout, re.MULTILINE
    )


def test_a_demo_whose_port_is_taken_says_what_to_do(tmp_path, workspace):
    port = workspace.url.rpartition(":")[2]
    answer = run_once("demo", "--once", "--port", port, cwd=clean_copy(tmp_path))
    assert answer.returncode == 2
    assert "--port" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_broken_file_in_the_inbox_makes_the_demo_end_with_1_and_the_others_are_posted(tmp_path):
    copy = clean_copy(tmp_path)
    (copy / "seeds" / "0005.txt").write_text("acme/widgets\n\nA title without a paragraph\n", "utf-8")
    answer = run_once("demo", "--once", "--port", "0", cwd=copy)
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert "1 root and 12 entry messages" in answer.stdout
    assert "set aside, line 3" in answer.stdout
