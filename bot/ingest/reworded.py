"""Which recent entry an item words anew, found without comparing each with each. Pure.

`identify.rewording` decides; here is only who has a chance. Both texts must have the same marks, so those are looked
up. Where many entries share them (texts without a number or an identifier), bodies are looked up by rare pairs of
characters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from bot.ingest.identify import Looks, looks, rewording
from bot.model import ParsedEntry

if TYPE_CHECKING:
    from bot.ingest.decide import KnownEntry

_FEW = 8
"""So many bodies are compared sooner than looked up."""
_SHARED = 0.63
"""The part of a body's pairs of characters that every nearly equal one has, too.

At least 0.9 of both bodies together is common (`NEARLY_SAME`), in one block more than there are other characters, at
most, and each block has one pair less than characters: 0.35 of both lengths together, where the other's length is at
least 9/11 of this one's. That is 0.636, less one pair.
"""

_Token = tuple[tuple[str, str], int]
"""A pair of characters, and how many of it came before in the same text."""


class _Bodies:
    """Different bodies, and which of them are near to another one."""

    def __init__(self, bodies: Iterable[str]) -> None:
        self._bodies = tuple(bodies)
        self._often = Counter(pair for body in self._bodies for pair in set(pairwise(body)))
        self._having: defaultdict[_Token, list[int]] = defaultdict(list)
        for number, body in enumerate(self._bodies):
            for token in self._rarest(body):
                self._having[token].append(number)

    def near(self, body: str) -> Iterable[str]:
        """Give every body that may be nearly the same; few others."""
        having = [self._having[token] for token in self._rarest(body) if token in self._having]
        if sum(map(len, having)) > len(self._bodies):
            return self._bodies
        return [self._bodies[number] for number in sorted({number for numbers in having for number in numbers})]

    def _rarest(self, body: str) -> list[_Token]:
        """Give so many of the body's pairs, the rarest ones, that a near body must have one of them among its own."""
        before: Counter[tuple[str, str]] = Counter()
        tokens: list[_Token] = []
        for pair in pairwise(body):
            tokens.append((pair, before[pair]))
            before[pair] += 1
        tokens.sort(key=lambda token: (self._often[token[0]], token))
        return tokens[: len(body) - int(_SHARED * len(body)) + 1]


class _Alike:
    """Entries of one repository with the same marks, by their bodies."""

    def __init__(self) -> None:
        self.by_body: defaultdict[str, list[tuple[KnownEntry, Looks]]] = defaultdict(list)

    def near(self, body: str) -> Iterator[tuple[KnownEntry, Looks]]:
        near = self.by_body if len(self.by_body) <= _FEW else self._bodies.near(body)
        return (one for each in near for one in self.by_body[each])

    @cached_property
    def _bodies(self) -> _Bodies:
        return _Bodies(self.by_body)


class Rewordings:
    """Recent entries, each looked at once."""

    def __init__(self, recent: Iterable[KnownEntry]) -> None:
        """Take the entries that an item may word anew."""
        self._groups: defaultdict[object, _Alike] = defaultdict(_Alike)
        for entry in recent:
            one = looks(entry.title, entry.body)
            self._groups[entry.repo.casefold(), one.marks].by_body[entry.body].append((entry, one))

    def nearest(self, entry: ParsedEntry, taken: Collection[int]) -> KnownEntry | None:
        """Give the nearest entry that the item words anew, none of `taken`; None where two are equally near."""
        new = looks(entry.title, entry.body)
        group = self._groups.get((entry.repo.casefold(), new.marks))
        if group is None or entry.key:
            return None
        nearest: KnownEntry | None = None
        least = 1.0
        for old, one in group.near(entry.body):
            if old.id in taken or _other_subject(old, entry) or (difference := rewording(one, new)) is None:
                continue
            if difference < least:
                nearest, least = old, difference
            elif difference == least:
                nearest = None
                if not least:  # no other can be nearer than two that differ in nothing
                    break
        return nearest


def _other_subject(old: KnownEntry, entry: ParsedEntry) -> bool:
    return bool(entry.url) and bool(old.url) and entry.url != old.url
