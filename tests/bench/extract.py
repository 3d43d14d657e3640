"""How many seed entries are parsed and understood in a second, on one core.

python -m tests.bench.extract
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from bot.ingest.extract import extract
from bot.ingest.parse import parse
from bot.text import spans
from bot.text.vocabulary import load

GOAL = 2000
SEEDS = sorted((Path(__file__).parents[2] / "seeds").glob("*.txt"))


def main() -> int:
    """Print the figures; exit 1 if parsing and extracting misses its goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=100, help="rounds over the two seed digests")
    return 0 if figures(parser.parse_args().repeat) else 1


def figures(repeat: int) -> bool:
    """Print the figures; return whether parsing and extracting reaches its goal."""
    vocabulary = load()
    digests = [(path.name, path.read_bytes()) for path in SEEDS]
    entries = [entry for name, data in digests for entry in parse(data, name=name).entries]

    def parsed() -> None:
        for name, data in digests:
            parse(data, name=name)

    def understood() -> None:
        for name, data in digests:
            for entry in parse(data, name=name).entries:
                extract(entry.title, entry.body, vocabulary=vocabulary)

    def spanned() -> None:
        for entry in entries:
            spans.parse(entry.body, repo=entry.repo, vocabulary=vocabulary)

    rate = _rate(understood, len(entries), repeat)
    print(f"parse            {_rate(parsed, len(entries), repeat):10,.0f} entries/s")
    print(f"parse + extract  {rate:10,.0f} entries/s     goal >= {GOAL:,}")
    print(f"spans of a body  {_rate(spanned, len(entries), repeat):10,.0f} entries/s")
    return rate >= GOAL


def _rate(work: Callable[[], None], entries: int, repeat: int) -> float:
    """Give the best round's rate in processor time: what else the machine does is not ours."""
    best = float("inf")
    for _ in range(repeat):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return entries / best


if __name__ == "__main__":
    raise SystemExit(main())
