"""`digest-bot preview`: what would be posted, in three forms, without a token or a network."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from click.testing import CliRunner

from bot.bootstrap.preview import preview
from bot.cli import cli
from bot.config import Config
from bot.errors import DigestBotError
from bot.model import Layout
from bot.render.preview import LONGEST_LINK, builder_link
from bot.workspace.html import visible_text

ROOT = Path(__file__).parents[2]
SEED = ROOT / "seeds/000_382cd8b32110c293.txt"
NOWHERE = ("--config", "no-such-config.yaml")


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_args, **_more):
        raise AssertionError("preview opened a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def run(*words: object, config=NOWHERE):
    return CliRunner().invoke(cli, ["preview", *map(str, words), *config], catch_exceptions=False)


def squeezed(text: str) -> str:
    return "".join(one for one in text if one not in "│╭╮╰╯─" and not one.isspace())


def test_the_terminal_shows_every_word_of_root_and_entries():
    answer = run(SEED)
    assert answer.exit_code == 0
    shown = squeezed(answer.stdout)
    posted = json.loads(run(SEED, "--format", "blocks").stdout)
    assert len(posted) == 9
    for message in posted:
        for line in visible_text(message["blocks"]).splitlines():
            assert squeezed(line) in shown
    assert "\x1b" not in answer.stdout, "colours are for terminals"


def test_the_builder_link_goes_to_standard_error_and_holds_the_blocks(tmp_path):
    small = tmp_path / "small.txt"
    small.write_text("acme/widgets\n\n标题\n\n值得精读。正文。\n", "utf-8")
    answer = run(small, "--format", "blocks")
    address, _, payload = answer.stderr.strip().rpartition(" ")[2].partition("#")
    assert address == "https://app.slack.com/block-kit-builder"
    posted = json.loads(answer.stdout)
    assert json.loads(unquote(payload))["blocks"] == [block for message in posted for block in message["blocks"]]


def test_the_builder_link_holds_as_much_of_a_long_digest_as_browsers_take(tmp_path):
    long = tmp_path / "long.txt"
    long.write_text("acme/widgets\n\n" + "".join(f"标题{n}\n\n{'正文' * 200}\n\n" for n in range(20)), "utf-8")
    answer = run(long, "--format", "blocks")
    said, _, link = answer.stderr.strip().rpartition(" ")
    linked = json.loads(unquote(link.partition("#")[2]))["blocks"]
    blocks = [block for message in json.loads(answer.stdout) for block in message["blocks"]]
    assert linked == blocks[: len(linked)]
    assert f"(the first {len(linked)} of {len(blocks)} blocks)" in said
    following = len(quote(json.dumps(blocks[len(linked)], ensure_ascii=False, separators=(",", ":")), safe=""))
    assert len(link) <= LONGEST_LINK < len(link) + following + len("%2C")


def test_a_block_that_no_link_can_hold_has_none():
    block = {"type": "section", "text": {"type": "plain_text", "text": "文" * 4000}}
    assert builder_link([block, {"type": "divider"}]) == (None, 0)
    assert builder_link([]) == (None, 0)


@pytest.mark.parametrize(("layout", "posts", "replies"), [("channel", 9, 0), ("thread", 1, 8), ("compact", 1, 8)])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_layout_and_language_are_those_asked_for(layout, posts, replies, language):
    posted = json.loads(run(SEED, "--format", "blocks", "--layout", layout, "--language", language).stdout)
    assert len(posted) == posts
    assert sum(len(message["thread"]) for message in posted) == replies
    assert ("导读" in posted[0]["text"]) == (language == "zh")
    kinds = [block["type"] for block in posted[0]["blocks"]]
    assert kinds == (["rich_text", "actions"] if layout == "compact" else ["rich_text"])


def test_the_page_looks_like_a_channel_and_fetches_nothing(tmp_path):
    page = tmp_path / "preview.html"
    answer = run(SEED, "--format", "html", "--layout", "thread", "--output", page)
    assert answer.exit_code == 0
    assert answer.stdout == ""
    html = page.read_text("utf-8")
    assert html.startswith("<!doctype html>")
    assert html.count("<article") == 9
    assert html.count('class="preview-thread"') == 1
    assert "<script" not in html
    assert not any(place in html for place in ("src=", "@import", "url("))


def test_a_file_that_does_not_fit_is_refused_with_its_line(tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("acme/widgets\n\nA title without a paragraph\n", "utf-8")
    answer = run(bad)
    assert answer.exit_code == 1
    assert answer.stdout == ""
    assert "bad.txt, line 3: " in answer.stderr


def test_the_first_channel_of_the_configuration_gives_the_style_and_its_broken_template_is_named(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own/entry.json.j2").write_text('[\n  {{ context("我们的 · " ~ title_text) }}\n]', "utf-8")
    (tmp_path / "own/root.json.j2").write_text("[\n  {{ rich_text(head) }},\n  {{ nobody }}\n]", "utf-8")
    config = tmp_path / "config.yaml"
    config.write_text('templates: own\nchannels:\n  - channel: "#team"\n    language: en\n', "utf-8")
    answer = run(SEED, "--format", "blocks", config=("--config", str(config)))
    posted = json.loads(answer.stdout)
    assert posted[0]["text"].startswith("vllm digest")
    assert posted[1]["text"].startswith("我们的 · 修复")
    assert "root, line 3: " in answer.stderr


def test_more_entries_than_a_slot_takes_are_one_message():
    data = "acme/widgets\n\n" + "\n\n".join(f"标题 {n}\n\n值得精读。第 {n} 段。" for n in range(40))
    (post,) = preview(data.encode(), name="2026-12-01.txt", config=Config(), layout=Layout.THREAD).posts
    assert post.replies == ()
    assert "条数多" in post.message.text
    assert "还有 10 条" in post.message.text


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    nowhere = tmp_path / "none" / "page.html"
    answer = CliRunner().invoke(cli, ["preview", str(SEED), "--format", "html", "--output", str(nowhere), *NOWHERE])
    assert isinstance(answer.exception, DigestBotError)
    assert str(answer.exception).startswith(f"{nowhere}: ")


@pytest.mark.parametrize("cut_at", [600, 3000])
@pytest.mark.parametrize(
    "body",
    [
        "值得速读。" + "、".join(f"#{number}" for number in range(48000, 48300)),
        "值得速读。" + " ".join(f"`-f{number}`" for number in range(300)),
        "值得速读。" + " ".join(f"a_b{number}" for number in range(400)),
    ],
)
def test_a_text_of_nothing_but_links_or_code_is_cut_by_its_payload(tmp_path, cut_at, body):
    file, config = tmp_path / "heavy.txt", tmp_path / "config.yaml"
    file.write_text(f"acme/widgets\n\n标题\n\n{body}\n", "utf-8")
    config.write_text(f'channels: [{{channel: "#team", cut_at: {cut_at}}}]\n', "utf-8")
    answer = run(file, "--format", "blocks", config=("--config", str(config)))
    assert answer.exit_code == 0
    (_root, entry) = json.loads(answer.stdout)
    assert ("entry_open" in json.dumps(entry["blocks"])) == (len(body) > cut_at)
    assert entry["thread"], "the rest follows in the thread"
