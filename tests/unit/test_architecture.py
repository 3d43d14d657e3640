"""`bot/ARCHITECTURE.md` names what is there, and nothing at the top level surprises."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "bot" / "ARCHITECTURE.md").read_text(encoding="utf-8")
TOP = {"pyproject.toml", "README.md", "bot", "seeds", "config.yaml", "tests", "Procfile"}
NAMED = sorted(set(re.findall(r"`((?:bot/|tests/|\.ci/)[\w./-]+)`", PAGE)))
SEED_SHA256 = {
    "000_382cd8b32110c293.txt": "e22937f596cee8bca3e7052e14a78892be2f6effecdc98661ca4159eba4eb144",
    "001_4f63b06047f4c719.txt": "f3ab219ec49b05a7a3d835ea20c27fa496cfdd0d85f8e46d845a34d952d380f0",
}
ROOMS = sorted({name for name in re.findall(r"^\| (.+?) \|", PAGE, flags=re.MULTILINE) if name.startswith("`")})


@pytest.mark.parametrize("name", NAMED)
def test_a_path_on_the_page_is_there(name: str) -> None:
    assert (ROOT / name).exists()


def test_every_room_is_there_and_on_the_page() -> None:
    on_page = {part.strip("`").rstrip("/") for room in ROOMS for part in room.split(", ")}
    there = {
        path.name
        for path in (ROOT / "bot").iterdir()
        if (path.is_dir() and (path / "__init__.py").exists()) or (path.suffix == ".py" and path.name != "__init__.py")
    }
    assert on_page == there


def test_the_top_level_is_the_one_that_was_agreed() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--cached", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    tops = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert {top for top in tops if not top.startswith(".")} == TOP


def test_the_seeds_are_the_two_digests_byte_for_byte() -> None:
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (ROOT / "seeds").iterdir()}
    assert digests == SEED_SHA256
