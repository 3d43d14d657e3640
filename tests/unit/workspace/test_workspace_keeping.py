"""A workspace that is killed comes back as the same workspace, with everything it accepted."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.workspace.errors import WorkspaceError
from bot.workspace.server import LocalWorkspace

PROGRAM = """
import sys
import threading
from pathlib import Path
from bot.workspace.server import LocalWorkspace
workspace = LocalWorkspace(keep=Path(sys.argv[1])).start()
print(workspace.api_url, workspace.bot_token, workspace.create_channel("kept"), flush=True)
workspace.run_forever()
"""
HOME = {"type": "home", "blocks": [{"type": "divider"}]}


def run(folder: Path) -> tuple[subprocess.Popen[str], WebClient, str]:
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    url, token, channel = process.stdout.readline().split()
    return process, WebClient(token=token, base_url=url, retry_handlers=[]), channel


def test_what_was_accepted_survives_a_kill(tmp_path):
    process, client, channel = run(tmp_path)
    metadata = {"event_type": "kept", "event_payload": {"id": "1"}}
    parent = client.chat_postMessage(channel=channel, text="parent", metadata=metadata)["ts"]
    reply = client.chat_postMessage(channel=channel, text="reply", thread_ts=parent)["ts"]
    gone = client.chat_postMessage(channel=channel, text="gone")["ts"]
    client.chat_update(channel=channel, ts=parent, text="changed")
    client.reactions_add(channel=channel, timestamp=parent, name="eyes")
    client.chat_delete(channel=channel, ts=gone)
    person = next(each["id"] for each in client.users_list()["members"] if not each["is_bot"])
    view = client.views_publish(user_id=person, view=HOME)["view"]["id"]
    process.send_signal(signal.SIGKILL)
    process.wait()

    process, again, same = run(tmp_path)
    try:
        assert same == channel
        thread = again.conversations_replies(channel=channel, ts=parent, include_all_metadata=True)["messages"]
        assert [each["ts"] for each in thread] == [parent, reply]
        assert thread[0]["text"] == "changed"
        assert thread[0]["metadata"] == metadata
        assert thread[0]["reactions"][0]["name"] == "eyes"
        assert again.views_publish(user_id=person, view=HOME)["view"]["id"] == view
        with pytest.raises(SlackApiError, match="message_not_found"):
            again.chat_getPermalink(channel=channel, message_ts=gone)
        assert again.chat_postMessage(channel=channel, text="next")["ts"] > gone
    finally:
        process.terminate()
        assert process.wait(10) == 0


def test_a_line_torn_by_a_kill_is_left_out(tmp_path):
    with LocalWorkspace(keep=tmp_path) as workspace:
        channel = workspace.create_channel("kept")
        client = WebClient(token=workspace.bot_token, base_url=workspace.api_url)
        client.chat_postMessage(channel=channel, text="whole")
    with (tmp_path / "workspace.jsonl").open("ab") as file:
        file.write(b'["message","C1/1",{"chan')
    with LocalWorkspace(keep=tmp_path) as workspace:
        assert workspace.messages(channel)[-1]["text"] == "whole"
    for line in (tmp_path / "workspace.jsonl").read_text().splitlines():
        json.loads(line)


def test_two_workspaces_never_share_a_folder(tmp_path):
    with LocalWorkspace(keep=tmp_path), pytest.raises(WorkspaceError, match="another workspace"):
        LocalWorkspace(keep=tmp_path).start()


def test_a_clock_that_goes_back_still_gives_rising_timestamps(clock, tmp_path):
    with LocalWorkspace(clock=clock, keep=tmp_path) as workspace:
        channel = workspace.create_channel("kept")
        client = WebClient(token=workspace.bot_token, base_url=workspace.api_url)
        stamps = [client.chat_postMessage(channel=channel, text="x")["ts"] for _ in range(2)]
        clock.now -= 3600
        stamps.append(client.chat_postMessage(channel=channel, text="x")["ts"])
        client.chat_delete(channel=channel, ts=stamps[-1])
    with LocalWorkspace(clock=clock, keep=tmp_path) as workspace:
        client = WebClient(token=workspace.bot_token, base_url=workspace.api_url)
        stamps.append(client.chat_postMessage(channel=channel, text="x")["ts"])
    assert stamps == sorted(set(stamps))


def test_every_answered_post_survives_a_kill_in_the_middle_of_many(tmp_path):
    process, client, channel = run(tmp_path)
    answered: list[str] = []
    enough = threading.Event()

    def post(number: int) -> None:
        own = WebClient(token=client.token, base_url=client.base_url, retry_handlers=[], timeout=5)
        for turn in range(200):
            try:
                answered.append(own.chat_postMessage(channel=channel, text=f"{number}.{turn}")["ts"])
            except (OSError, http.client.HTTPException):
                return
            if len(answered) > 60:
                enough.set()

    writers = [threading.Thread(target=post, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    assert enough.wait(20)
    process.send_signal(signal.SIGKILL)
    for writer in writers:
        writer.join()
    process.wait()
    with LocalWorkspace(keep=tmp_path) as workspace:
        kept = [each["ts"] for each in workspace.messages(channel) if "subtype" not in each]
        texts = [each["text"] for each in workspace.messages(channel) if "subtype" not in each]
    assert set(answered) <= set(kept)
    assert len(kept) <= len(answered) + len(writers)
    assert len(texts) == len(set(texts))
