"""Pull requests that a text names by their address on GitHub."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_LINK = re.compile(
    r"(?<![A-Za-z0-9_.@/-])(?i:(?:https?://)?(?:www\.)?github\.com)/"
    r"(?P<repo>[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9_.-]{1,100})/pull/(?P<number>[1-9]\d{0,7})(?![A-Za-z0-9_-])",
    re.ASCII,
)


class LinkedPull(NamedTuple):
    """A link to the pull request `number` of `repo`, at `start` in the text."""

    start: int
    repo: str
    number: str


def linked_pulls(text: str) -> Iterator[LinkedPull]:
    """Give the links in order, whatever follows the number (`/files`, `#discussion_r1`) and with or without a scheme.

    Linear in the text, never raises.
    """
    if "/pull/" not in text:
        return
    for found in _LINK.finditer(text):
        yield LinkedPull(found.start(), found["repo"], found["number"])
