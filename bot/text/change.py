"""How much of a text has changed. Pure, and quick for whatever length."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from itertools import pairwise

_EXACT_COMPARISON = 400


def change(old_body: str, new_body: str) -> float:
    """Give the fraction of the text that differs: 0.0 for equal texts, 1.0 for nothing in common; symmetric.

    Exact for small changes; where the differing middles are long it compares pairs of characters instead, so that the
    time stays linear.
    """
    if old_body == new_body:
        return 0.0
    old, new = sorted((old_body, new_body))
    longest = min(len(old), len(new))
    head = 0
    while head < longest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < longest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    common = head + tail + _common(old_middle, new_middle)
    return 1.0 - 2.0 * common / (len(old) + len(new))


def _common(old: str, new: str) -> float:
    if not old or not new:
        return 0.0
    if max(len(old), len(new)) <= _EXACT_COMPARISON:
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        return float(sum(block.size for block in matcher.get_matching_blocks()))
    pairs = Counter(pairwise(old)) & Counter(pairwise(new))
    return float(min(pairs.total(), len(old), len(new)))
