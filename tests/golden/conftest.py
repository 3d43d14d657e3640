"""One flag for every golden file: `pytest tests/golden --update-golden` writes what came out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


@pytest.fixture
def golden(request):
    """A function that compares a JSON value with `data/<name>.json`, or writes it there."""

    def compare(name: str, value: object) -> None:
        written = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
        assert json.loads(_kept(request, f"{name}.json", written)) == json.loads(written)

    return compare


@pytest.fixture
def golden_page(request):
    """A function that compares a page with `data/<name>.html`, or writes it there. The style sheet is left out."""

    def compare(name: str, page: str) -> None:
        written = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL).replace("</article>", "</article>\n")
        assert _kept(request, f"{name}.html", written) == written

    return compare


def _kept(request, name: str, written: str) -> str:
    path = DATA / name
    if request.config.getoption("--update-golden", default=False):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written, encoding="utf-8")
    assert path.is_file(), f"{name} is missing: pytest tests/golden --update-golden"
    return path.read_text(encoding="utf-8")
