"""Addresses on GitHub: the pull requests that a text links to, and what one address stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_REPO = r"(?i:(?:https?://)?(?:www\.)?github\.com)/(?P<repo>[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9_.-]{1,100})"
_IN_TEXT = re.compile(rf"(?<![A-Za-z0-9_.@/-]){_REPO}/pull/(?P<number>[1-9]\d{{0,7}})(?![A-Za-z0-9_-])", re.ASCII)
_ALONE = re.compile(rf"{_REPO}(?:/(?:pull|issues)/(?P<number>\d+)(?:/[\w./-]*)?)?/?(?:[#?].*)?", re.ASCII)


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
    for found in _IN_TEXT.finditer(text):
        yield LinkedPull(found.start(), found["repo"], found["number"])


class Address(NamedTuple):
    """A repository, or one pull request or issue of it."""

    repo: str
    number: str | None


def address(written: str) -> Address | None:
    """Give what an address that stands alone means; None where it is no such address on GitHub."""
    found = _ALONE.fullmatch(written)
    return Address(found["repo"], found["number"]) if found else None
