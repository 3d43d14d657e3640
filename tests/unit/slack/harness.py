"""The bot's Slack side alone: real Socket Mode and Web API against the local workspace, with a desk that does as told."""

import json
import threading
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass, field

from bot.model import Message
from bot.slack.app import build_app, close_app
from bot.slack.client import reading_client
from bot.slack.directory import Directory
from bot.slack.listeners import register
from bot.slack.manifest import manifest
from bot.slack.ports import Said
from bot.slack.services import Services
from bot.slack.socket import Socket
from bot.slack.work import Failures, Work


def eventually(check, seconds=5.0):
    """The first true value of `check()`, which is looked at until it comes."""
    deadline = time.monotonic() + seconds
    nothing = threading.Event()
    while True:
        found = check()
        if found:
            return found
        assert time.monotonic() < deadline, "it did not happen in time"
        nothing.wait(0.02)


def words(text, *more):
    elements = [{"type": "text", "text": text}]
    block = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}
    return Message(text=text, blocks=(block, *more))


def buttons(*pairs):
    return {
        "type": "actions",
        "elements": [
            {
                "type": "button",
                "action_id": action,
                "value": value,
                "text": {"type": "plain_text", "text": action},
            }
            for action, value in pairs
        ],
    }


def modal(text, *blocks, callback="entry", carried="", submit=None):
    view = {
        "type": "modal",
        "callback_id": callback,
        "title": {"type": "plain_text", "text": "t"},
        "private_metadata": carried,
        "blocks": [*words(text).blocks, *blocks],
    }
    if submit:
        view["submit"] = {"type": "plain_text", "text": submit}
    return view


def text_input(block, action):
    return {
        "type": "input",
        "block_id": block,
        "optional": True,
        "label": {"type": "plain_text", "text": "x"},
        "element": {"type": "plain_text_input", "action_id": action},
    }


@dataclass
class FakeDesk:
    """Answers at once, unless `gate` is closed or `error` is set; remembers what it was asked."""

    asked: list = field(default_factory=list)
    error: Exception | None = None
    gone: bool = False
    gate: threading.Event = field(default_factory=threading.Event)
    waiting: list = field(default_factory=list)
    saved_ids: set = field(default_factory=set)
    shares: dict = field(default_factory=dict)
    share_answer: str = "shared"
    mentions: list = field(default_factory=list)

    def __post_init__(self):
        self.gate.set()

    def _note(self, *what):
        self.asked.append(what)
        if not self.gate.is_set():
            self.waiting.append(what)
            assert self.gate.wait(10)
        if self.error:
            raise self.error

    def latest(self, reader):
        self._note("latest", reader.channel_id)
        return words("latest")

    def help(self, reader):
        self._note("help")
        return words("help")

    def saved(self, reader):
        self._note("saved")
        return words(f"saved {sorted(self.saved_ids)}", buttons(("entry_unsave", "7")))

    def search(self, reader, text):
        self._note("search", text)
        return words(f"hits for {text}", buttons(("entry_open", "7"), ("search_next", "page 2")))

    def page(self, reader, state):
        self._note("page", state)
        return words(f"shown {state}")

    def entry(self, reader, entry_id):
        self._note("entry", entry_id)
        if entry_id != 7 or self.gone:
            return None
        keep = "entry_unsave" if 7 in self.saved_ids else "entry_save"
        carried = f'{{"entry":7,"channel":"{reader.channel_id}"}}'
        return modal("entry 7", buttons((keep, "7"), ("entry_share", "7"), ("entry_thread", "x")), carried=carried)

    def search_form(self, reader, *, query="", answer=None):
        blocks = answer.blocks if answer else ()
        return modal(
            f"form {query}",
            text_input("search", "search_input"),
            *blocks,
            callback="search_modal",
            submit="Search",
        )

    def share_form(self, reader, entry_id):
        self._note("share_form", entry_id, reader.channel_id)
        carried = f'{{"entry":{entry_id},"channel":"{reader.channel_id}"}}'
        return modal(
            "share?",
            text_input("share", "share_comment"),
            callback="entry_share_form",
            carried=carried,
            submit="Share",
        )

    def home(self, reader):
        self._note("home")
        field_ = text_input("b", "home_search")
        field_["dispatch_action"] = True
        return {"type": "home", "blocks": [*words(f"home {sorted(self.saved_ids)}").blocks, field_]}

    def keep(self, reader, entry_id, *, saved):
        self._note("keep", entry_id, saved)
        (self.saved_ids.add if saved else self.saved_ids.discard)(entry_id)
        return Said(key="saved" if saved else "unsaved", values={"title": "T"})

    def keep_message(self, reader, *, channel_id, ts):
        self._note("keep_message", channel_id, ts)
        return Said(key="saved", values={"title": "T"})

    def share(self, reader, entry_id, *, channel_id, comment, request_key):
        self._note("share", entry_id, channel_id, comment)
        self.shares.setdefault(request_key, (entry_id, channel_id, comment))
        return Said(key=self.share_answer, values={})

    def answer_mention(self, reader, text, *, event_id, channel_id, thread_ts):
        self._note("mention", text, event_id)
        self.mentions.append((reader, text, event_id, channel_id, thread_ts))

    def sentence(self, reader, key, **values):
        return words(f"sentence {key}")

    def sentence_view(self, reader, key, **values):
        return modal(f"sentence {key}")


@dataclass
class FakeDiscussion:
    replies: list = field(default_factory=list)
    forgotten: list = field(default_factory=list)
    reactions: list = field(default_factory=list)

    def count_reply(self, team_id, channel_id, ts, thread_ts, user_id):
        if ts != thread_ts:
            self.replies.append((thread_ts, ts))

    def forget_reply(self, team_id, channel_id, ts):
        self.forgotten.append(ts)

    def count_reaction(self, team_id, channel_id, ts, user_id, name):
        self.reactions.append((ts, name, True))

    def forget_reaction(self, team_id, channel_id, ts, user_id, name):
        self.reactions.append((ts, name, False))


@dataclass
class FakeMembership:
    channels: list = field(default_factory=list)

    def joined(self, *, team_id, channel_id):
        self.channels.append(channel_id)


class RefusedByWorkspace(Exception):
    """The workspace shows a person an error instead."""


@dataclass
class Hand:
    """One person at the workspace's page."""

    workspace: object
    user: str = "reader"

    def _ask(self, path, body=None):
        data = None if body is None else json.dumps({"user": self.user, **body}).encode()
        separator = "&" if "?" in path else "?"
        url = f"{self.workspace.url}/_page/{path}{separator}user={urllib.parse.quote(self.user)}"
        with urllib.request.urlopen(urllib.request.Request(url, data=data), timeout=15) as answer:
            found = json.load(answer)
        if not found["ok"]:
            raise RefusedByWorkspace(found)
        return found

    def type(self, channel, text, thread_ts=None):
        """Type a message or a command; the ts of the message."""
        return self._ask("message", {"channel": channel, "text": text, "thread_ts": thread_ts}).get("ts")

    def delete(self, channel, ts):
        self._ask("delete", {"channel": channel, "ts": ts})

    def react(self, channel, ts, name, *, remove=False):
        self._ask("react", {"channel": channel, "ts": ts, "name": name, "remove": remove})

    def shortcut(self, callback_id, **where):
        self._ask("shortcut", {"callback_id": callback_id, **where})

    def submit(self, view, **values):
        state = {
            block: {action: {"type": "plain_text_input", "value": value} for action, value in inputs.items()}
            for block, inputs in values.items()
        }
        self._ask("view_submit", {"view_id": view["id"], "state": state})

    def click(self, channel, message, action_id, **value):
        container = {"type": "message", "channel": channel, "ts": message["ts"]}
        self._act(container, message["blocks"], action_id, value)

    def click_in(self, view, action_id, **value):
        self._act({"type": "view", "view_id": view["id"]}, view["blocks"], action_id, value)

    def _act(self, container, blocks, action_id, value):
        block_id = next(
            block["block_id"]
            for block in blocks
            for element in [*block.get("elements", []), block.get("element") or {}]
            if element.get("action_id") == action_id
        )
        self._ask("action", {"container": container, "block_id": block_id, "action_id": action_id, **value})

    def whispers(self, channel):
        return self.workspace.ephemerals(channel, self.user)

    def whisper(self, channel, containing):
        """The ephemeral message with these words, once it is there."""
        return eventually(lambda: next((one for one in self.whispers(channel) if containing in one["text"]), None))

    def modal(self, containing):
        """The modal on top, once it holds these words."""

        def look():
            modals = self._ask("boot")["modals"]
            return modals[-1] if modals and containing in str(modals[-1]["blocks"]) else None

        return eventually(look)

    def close_modals(self):
        for view in reversed(self._ask("boot")["modals"]):
            self._ask("view_close", {"view_id": view["id"]})

    def home(self):
        """Open the Home tab; what it showed until now."""
        return self._ask("home")["view"]

    def direct_message(self, other):
        return self._ask("open_dm", {"with": other})["channel"]


class Bot:
    """The Slack side of one bot, connected."""

    def __init__(self, workspace, *, socket=True):
        self.workspace = workspace
        self.desk, self.discussion, self.membership = FakeDesk(), FakeDiscussion(), FakeMembership()
        self.errors = 0
        client = reading_client(workspace.bot_token, api_url=workspace.api_url)
        self.directory = Directory(client)
        failures = Failures(count=self._count)
        self.work = Work(failures=failures)
        self.services = Services(
            desk=self.desk,
            sharing=self.desk,
            discussion=self.discussion,
            membership=self.membership,
            work=self.work,
            client=client,
            identity=self.directory.identity,
        )
        self.app = build_app(
            identity=self.directory.identity,
            token=workspace.bot_token,
            client=reading_client(None, api_url=workspace.api_url),
            failures=failures,
            teller=self.services.teller,
        )
        register(self.app, self.services)
        self.socket = None
        if socket:
            self.socket = Socket(app=self.app, app_token=workspace.app_token, api_url=workspace.api_url)

    def _count(self):
        self.errors += 1

    def __enter__(self):
        self.workspace.install(manifest())
        if self.socket:
            self.socket.connect()
        return self

    def __exit__(self, *_):
        self.desk.gate.set()
        if self.socket:
            self.socket.close()
        self.work.close()
        close_app(self.app)
