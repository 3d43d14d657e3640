"""The little language in which the shapes of Block Kit are written down: a check looks at one value at one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Surface = Literal["message", "modal", "home"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault. `pointer` is a JSON pointer into the array of blocks or the view."""

    pointer: str
    message: str

    def line(self, prefix: str) -> str:
        """As Slack writes it: `[ERROR] must be less than 151 characters [json-pointer:/blocks/0/text/text]`."""
        return f"[ERROR] {self.message} [json-pointer:{prefix}{self.pointer}]"


@dataclass(slots=True, kw_only=True)
class Findings:
    """What a check has found so far, and on which surface it looks."""

    surface: Surface
    problems: list[Problem] = field(default_factory=list)

    def add(self, pointer: str, message: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(pointer=pointer, message=message))


Check = Callable[[Findings, str, Any], None]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a shape, and whether it must be there."""

    check: Check
    required: bool = False


def need(check: Check) -> Field:
    """A field that must be there."""
    return Field(check, required=True)


def may(check: Check) -> Field:
    """A field that may be there."""
    return Field(check)


def shape(fields: Mapping[str, Field], *, also: Check | None = None) -> Check:
    """An object with these fields and no others; `also` looks at the whole once its fields are right."""

    def check(found: Findings, at: str, value: Any) -> None:
        if not isinstance(value, dict):
            found.add(at, "must provide an object")
            return
        before = len(found.problems)
        for name in value.keys() - fields.keys():
            found.add(at, f"invalid additional property: {name}")
        for name, entry in fields.items():
            if value.get(name) is None:
                if entry.required:
                    found.add(at, f"missing required field: {name}")
            else:
                entry.check(found, f"{at}/{name}", value[name])
        if also is not None and len(found.problems) == before:
            also(found, at, value)

    return check


def by_type(shapes: Mapping[str, Check]) -> Check:
    """An object whose `type` says which shape it has."""

    def check(found: Findings, at: str, value: Any) -> None:
        if not isinstance(value, dict):
            found.add(at, "must provide an object")
        elif "type" not in value:
            found.add(at, "missing required field: type")
        elif not isinstance(value["type"], str) or value["type"] not in shapes:
            found.add(f"{at}/type", f"unsupported type: {value['type']}")
        else:
            shapes[value["type"]](found, at, value)

    return check


def string(most: int | None = None, least: int = 1) -> Check:
    """Text of `least` to `most` characters (code points: what the server counts is not documented)."""

    def check(found: Findings, at: str, value: Any) -> None:
        if not isinstance(value, str):
            found.add(at, "must provide a string")
        elif len(value) < least:
            found.add(at, f"must be more than {least - 1} characters")
        elif most is not None and len(value) > most:
            found.add(at, f"must be less than {most + 1} characters")

    return check


def boolean(found: Findings, at: str, value: Any) -> None:
    """True or false, and no word for it."""
    if not isinstance(value, bool):
        found.add(at, "must provide a boolean")


def integer(least: int | None = None, most: int | None = None) -> Check:
    """A whole number within bounds."""

    def check(found: Findings, at: str, value: Any) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            found.add(at, "must provide an integer")
        elif least is not None and value < least:
            found.add(at, f"must be greater than {least - 1}")
        elif most is not None and value > most:
            found.add(at, f"must be less than {most + 1}")

    return check


def one_of(*allowed: str) -> Check:
    """One of a few words."""

    def check(found: Findings, at: str, value: Any) -> None:
        if value not in allowed:
            found.add(at, f"must be a valid enum value: {', '.join(allowed)}")

    return check


def items(check_item: Check, *, least: int = 0, most: int | None = None) -> Check:
    """A list of `least` to `most` items."""

    def check(found: Findings, at: str, value: Any) -> None:
        if not isinstance(value, list):
            found.add(at, "must provide an array")
            return
        if len(value) < least:
            found.add(at, f"no less than {least} items allowed" if value else "must have at least 1 item")
        if most is not None and len(value) > most:
            found.add(at, f"no more than {most} items allowed")
            return
        for index, item in enumerate(value):
            check_item(found, f"{at}/{index}", item)

    return check


def anything(found: Findings, at: str, value: Any) -> None:
    """Shapes that this project does not judge (work objects, charts): present, and no more is said."""


def either(first: str, second: str) -> Check:
    """Exactly one of two fields."""

    def check(found: Findings, at: str, value: Any) -> None:
        if (value.get(first) is None) == (value.get(second) is None):
            found.add(at, f"must define either `{first}` or `{second}`")

    return check
