"""Makes the README's tables from the code: `python -m tests.readme.tables --update` writes them."""

from __future__ import annotations

import re
import sys
from datetime import timedelta
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from bot.config import Config
from bot.config.values import DAYS
from bot.slack.manifest import SCOPES

README = Path(__file__).parents[2] / "README.md"


def configuration() -> str:
    """Every key of config.yaml with its default and meaning."""
    rows = ["| key | default | meaning |", "|---|---|---|"]
    rows += [f"| `{path}` | {default} | {meaning} |" for path, default, meaning in _keys(Config, "")]
    return "\n".join(rows)


def scopes() -> str:
    """Every scope the app asks for, with its reason."""
    return "\n".join(
        ["| scope | why |", "|---|---|", *(f"| `{scope}` | {reason} |" for scope, reason in SCOPES.items())]
    )


TABLES = {"configuration": configuration, "scopes": scopes}


def filled(text: str) -> str:
    """The README with each table made anew between its begin and end marks."""
    for name, make in TABLES.items():
        pattern = re.compile(rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
        assert pattern.search(text), f"README.md has no {name} marks"
        text = pattern.sub(partial(_around, make()), text)
    return text


def _around(table: str, match: re.Match[str]) -> str:
    return f"{match[1]}{table}\n{match[2]}"


def _keys(model: type[BaseModel], prefix: str) -> list[tuple[str, str, str]]:
    rows = []
    for name, field in model.model_fields.items():
        if field.exclude:
            continue
        path = f"{prefix}{name}"
        inner = _model_in(field.annotation)
        if inner is None:
            rows.append((path, _default(field), field.description or ""))
        elif inner is field.annotation:
            rows += _keys(inner, f"{path}.")
        else:
            rows += _keys(inner, f"{path}[].")
    return rows


def _model_in(annotation: Any) -> type[BaseModel] | None:
    for candidate in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _default(field: Any) -> str:
    if field.is_required():
        return "(needed)"
    value = field.get_default(call_default_factory=True)
    return "" if value in (PydanticUndefined, None, (), {}) else f"`{_written(value)}`"


def _written(value: Any) -> str:
    match value:
        case timedelta():
            return _duration(value.total_seconds())
        case frozenset():
            return "mon-fri" if value == frozenset(range(5)) else ", ".join(DAYS[day] for day in sorted(value))
        case ZoneInfo():
            return value.key
        case tuple():
            return ", ".join(f'"{item}"' for item in value)
    return str(value.value if isinstance(value, Enum) else value)


def _duration(seconds: float) -> str:
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{int(seconds // size)}{unit}"
    return f"{seconds:g}s"


if __name__ == "__main__":
    current = README.read_text(encoding="utf-8")
    if "--update" in sys.argv:
        README.write_text(filled(current), encoding="utf-8")
    elif filled(current) != current:
        sys.exit("README.md is behind the code: run python -m tests.readme.tables --update")
