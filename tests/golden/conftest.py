"""One flag for every golden file: `pytest tests/golden --update-golden` writes what came out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


@pytest.fixture
def golden(request):
    """A function that compares a JSON value with `data/<name>.json`, or writes it there."""

    def compare(name: str, value: object) -> None:
        path = DATA / f"{name}.json"
        written = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
        if request.config.getoption("--update-golden", default=False):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written, encoding="utf-8")
        assert path.is_file(), f"{path.name} is missing: pytest tests/golden --update-golden"
        assert json.loads(path.read_text(encoding="utf-8")) == json.loads(written)

    return compare
