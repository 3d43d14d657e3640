"""A corpus of any size that reads like the seeds: their terms, drawn with Zipf frequencies from one seed.

python -m tests.bench.corpus --count 3
"""

from __future__ import annotations

import argparse
import random
from bisect import bisect
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from itertools import accumulate
from pathlib import Path

from bot.model import Entry, Extraction, Verdict
from bot.text.normalise import fold
from bot.text.tokens import pieces

SEEDS = Path(__file__).parent.parent.parent / "seeds"
REPOSITORIES = (
    "vllm-project/vllm",
    "example/inference-server",
    "example/build-tools",
    "example/trainer",
    "example/vector-store",
    "example/web-dashboard",
)
FIRST_DAY = date(2020, 1, 1)
LAST_DAY = date(2026, 11, 30)
_RARE_WORDS = 20_000
_SYLLABLES = ("ka", "ro", "min", "tel", "sav", "du", "pex", "lor", "wi", "zon", "bre", "fy", "qua", "hel", "tor", "gim")


@cache
def terms() -> tuple[str, ...]:
    """The terms of the seeds, Chinese clauses cut in pieces of two to four characters, the most frequent first."""
    text = "\n".join(path.read_text("utf-8") for path in sorted(SEEDS.glob("*.txt")))
    counts: dict[str, int] = {}
    for piece in pieces(fold(text)):
        parts = [piece.text]
        if piece.cjk:
            parts = [piece.text[start : start + 3] for start in range(0, len(piece.text), 3)]
        for part in parts:
            counts[part] = counts.get(part, 0) + 1
    return tuple(sorted(counts, key=lambda term: (-counts[term], term)))


@cache
def _vocabulary() -> tuple[tuple[str, ...], tuple[float, ...]]:
    """All terms with their cumulative Zipf weights: the seeds' and then a long tail of words that nobody knows."""
    source = random.Random(1)
    rare = [
        "".join(source.choices(_SYLLABLES, k=source.randint(2, 4))) + str(source.randint(0, 9))
        for _ in range(_RARE_WORDS)
    ]
    words = (*terms(), *dict.fromkeys(rare))
    return words, tuple(accumulate(1 / (rank + 3) for rank in range(len(words))))


def draw(source: random.Random) -> str:
    """One term."""
    words, weights = _vocabulary()
    return words[min(bisect(weights, source.random() * weights[-1]), len(words) - 1)]


def entries(count: int, *, seed: int = 7) -> Iterator[Entry]:
    """`count` entries numbered from 1, always the same for one seed; the last one is of `LAST_DAY`."""
    source = random.Random(seed)
    days = (LAST_DAY - FIRST_DAY).days
    verdicts = tuple(Verdict)
    for number in range(1, count + 1):
        edition = FIRST_DAY + timedelta(days=days * number // count)
        body = "".join(_sentence(source) for _ in range(source.randint(2, 5)))
        verdict = source.choices(verdicts, (6, 3, 2, 1))[0]
        pull_request = f"#{source.randint(1, 60_000)}"
        yield Entry(
            id=number,
            repo=source.choices(REPOSITORIES, (12, 4, 3, 2, 2, 1))[0],
            title=_clause(source, source.randint(4, 8)),
            body=f"{body}见 {pull_request}。",
            revision=1,
            edition=edition,
            editions=(edition,),
            extraction=Extraction(verdict=verdict, pull_requests=(pull_request,)),
        )


def queries(count: int, *, seed: int = 11) -> list[str]:
    """`count` queries of one to three terms, as frequent in queries as in the text."""
    source = random.Random(seed)
    return [" ".join(draw(source) for _ in range(source.choices((1, 2, 3), (5, 4, 1))[0])) for _ in range(count)]


def _sentence(source: random.Random) -> str:
    return "，".join(_clause(source, source.randint(3, 9)) for _ in range(source.randint(1, 4))) + "。"


def _clause(source: random.Random, length: int) -> str:
    words = [draw(source) for _ in range(length)]
    text = words[0]
    for word in words[1:]:
        text += f" {word}" if text[-1].isascii() or word[0].isascii() else word
    return text


def main() -> None:
    """Print some entries."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3)
    for entry in entries(parser.parse_args().count):
        print(f"{entry.repo}\n\n{entry.title}\n\n{entry.body}\n")


if __name__ == "__main__":
    main()
