"""YAML with its lines kept, and without YAML's surprises.

PyYAML reads an unquoted `10:30` as 630, `#name` as nothing, `no` as False, and lets the second of two equal keys win
without a word. This module builds the same values from the node tree, remembers where each one stood and how it was
written, and collects every fault instead of stopping at the first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

Path = tuple[str | int, ...]

_SEXAGESIMAL = re.compile(r"^[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?$")
_DEPTH_LIMIT = 40
_NODE_LIMIT = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with the file: a 1-based line, the key path, the reason and what to write instead."""

    line: int
    path: Path
    reason: str

    def render(self, name: str) -> str:
        """The fault as one line, `config.yaml:12: channels[0].schedule.at: ...`."""
        where = key_path(self.path)
        line = f"{name}:{self.line}: {where + ': ' if where else ''}{self.reason}"
        # Keys and values come from the file: none of them may break the line or move the cursor.
        return "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A read file: plain values, the line of every path, and the faults met while reading."""

    value: Any
    lines: dict[Path, int] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    def line(self, path: Path) -> int:
        """The line of `path`, or of the nearest parent that stands in the file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def key_path(path: Path) -> str:
    """`channels[0].schedule.at` for ("channels", 0, "schedule", "at")."""
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else (f".{part}" if out else str(part))
    return out


def read(text: str) -> Source:
    """Read one YAML document. Never raises for what the text holds: faults are in the result."""
    try:
        node = yaml.compose(text.removeprefix("\ufeff"), Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        problem = getattr(error, "problem", None) or str(error)
        advice = " (put text with special characters between double quotes)"
        return Source(value=None, faults=(Fault(line=line, path=(), reason=f"not valid YAML: {problem}{advice}"),))
    except RecursionError:
        return Source(value=None, faults=(Fault(line=1, path=(), reason="nested too deeply to be a configuration"),))
    reader = _Reader(text.removeprefix("\ufeff").split("\n"))
    value = reader.build(node, ()) if node is not None else {}
    return Source(value=value, lines=reader.lines, faults=tuple(reader.faults))


class _Reader:
    def __init__(self, source_lines: list[str]) -> None:
        self.lines: dict[Path, int] = {}
        self.faults: list[Fault] = []
        self._source_lines = source_lines
        self._constructor = yaml.SafeLoader("")
        self._nodes = 0

    def build(self, node: yaml.Node, path: Path) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        self._nodes += 1
        if len(path) > _DEPTH_LIMIT or self._nodes > _NODE_LIMIT:
            if self._nodes <= _NODE_LIMIT + 1:
                self._fault(line, path[:2], "nested too deeply or grown too large (an alias that repeats itself?)")
            self._nodes = _NODE_LIMIT + 2
            return None
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path, line)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self._fault(line, path, "a key must be a plain word")
                continue
            key = str(key_node.value)
            key_at = (*path, key)
            if key in result:
                self._fault(line, key_at, f"this key stands twice (first on line {self.lines[key_at]}); keep one")
                continue
            self.lines[key_at] = line
            result[key] = self.build(value_node, key_at)
        return result

    def _scalar(self, node: yaml.Node, path: Path, line: int) -> Any:
        text = str(node.value)
        plain = isinstance(node, yaml.ScalarNode) and node.style is None
        if plain and _SEXAGESIMAL.match(text):
            self._fault(
                line,
                path,
                f'a time of day must be quoted, or YAML reads some of them as numbers: write "{text}"',
            )
            return text
        if plain and text == "" and "#" in self._source_lines[line - 1]:
            comment = self._source_lines[line - 1].partition("#")[2].strip()
            self._fault(line, path, f'everything after # is a comment; quote the name: "#{comment}"')
            return None
        try:
            value = self._constructor.construct_object(node, deep=True)
        except (yaml.YAMLError, ValueError) as error:
            self._fault(line, path, f"cannot be read: {getattr(error, 'problem', None) or error}")
            return None
        if isinstance(value, bool) and text.lower() not in ("true", "false"):
            self._fault(
                line,
                path,
                f'YAML reads {text} as {str(value).lower()}: write true or false, or "{text}" if text is meant',
            )
        return value

    def _fault(self, line: int, path: Path, reason: str) -> None:
        self.faults.append(Fault(line=line, path=path, reason=reason))
