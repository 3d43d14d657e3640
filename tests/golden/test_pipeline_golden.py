"""From the bytes of a digest to what stands on the page, by the verbs that anybody can type.

digest -> `parse --json` -> `preview --format blocks` -> `preview --format html`, each as its golden file has it.
"""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import cli
from bot.model import Message
from tests.unit.render.judges import judge

ROOT = Path(__file__).parents[2]
DIGESTS = [*sorted((ROOT / "seeds").glob("*.txt")), *sorted((ROOT / "tests/data/genre").glob("*.txt"))]
# The seeds bear no date: their edition would be the day on which the test runs.
DAY = "2026-12-01"


def run(*words: str) -> str:
    answer = CliRunner().invoke(cli, [*words, "--config", "no-such-config.yaml"], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


@pytest.fixture(params=DIGESTS, ids=lambda path: path.stem)
def digest(request, tmp_path) -> Path:
    copy = tmp_path / (request.param.name if request.param.name[:2] == "20" else f"{DAY}_{request.param.name}")
    copy.write_bytes(request.param.read_bytes())
    return copy


def test_a_digest_becomes_the_entries_the_blocks_and_the_page_of_its_golden_files(digest, golden, golden_page):
    entries = json.loads(run("parse", str(digest), "--json"))
    golden(f"digests/{digest.stem}.entries", entries)
    posted = json.loads(run("preview", str(digest), "--format", "blocks"))
    golden(f"digests/{digest.stem}.blocks", posted)
    page = run("preview", str(digest), "--format", "html")
    golden_page(f"digests/{digest.stem}", page)

    for message in posted:
        judge(Message(text=message["text"], blocks=tuple(message["blocks"])))
    assert len(posted) == 1 + len(entries["entries"])
    # The three agree: each entry's words are in its message, and the message's words are on the page.
    shown = _letters(unescape(re.sub(r"<style>.*?</style>|<[^>]+>", "", page, flags=re.DOTALL)))
    for entry, message in zip(entries["entries"], posted[1:], strict=True):
        heard = _letters(unescape(message["text"]))
        assert _letters(entry["title"]) in heard
        cut = any(block["type"] == "actions" for block in message["blocks"])
        assert cut or heard in shown


def _letters(text: str) -> str:
    """Without blanks, back-ticks and the numbers of lists, which the page draws and does not write."""
    return re.sub(r"\d+[.)）](?!\d)", "", re.sub(r"[\s`]+", "", text))
