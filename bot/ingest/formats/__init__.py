"""The formats of digest files, one module each. To add one: write `<name>.py` with a `Format`, and list it here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.ingest.formats import plain
from bot.model import ParsedDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How files of one kind are recognised by their name and read."""

    name: str
    endings: tuple[str, ...]
    """Lower case, with the dot; a format without endings takes what no other takes."""
    read: Callable[[str], ParsedDocument]
    """Decoded text with line feeds in, entries and problems out. Never raises for bad content."""


PLAIN = Format(name="plain", endings=(), read=plain.read)
FORMATS = (PLAIN,)


def format_of(name: str) -> Format:
    """Give the format that reads a file of this name."""
    lowered = name.lower()
    return next((one for one in FORMATS if one.endings and lowered.endswith(one.endings)), PLAIN)
