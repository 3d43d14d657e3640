"""Random nasty texts in every place of every message, before every judge.

python -m tests.bench.fuzz_render --count 100000
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache

from bot.render.messages import Renderer
from bot.text import vocabulary
from tests.unit.render.nasty import render_all, text

BATCH = 500
SHOWN = 5


def main() -> int:
    """Print how many inputs failed; exit 1 if any did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000, help="how many inputs (a title with a text)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    began, done, failures = time.monotonic(), 0, []
    batches = [range(first, min(first + BATCH, options.count)) for first in range(0, options.count, BATCH)]
    with ProcessPoolExecutor(options.jobs) as pool:
        for found in pool.map(_try, batches, [options.seed] * len(batches)):
            done = min(done + BATCH, options.count)
            for failure in found[: max(0, SHOWN - len(failures))]:
                print(failure, file=sys.stderr)
            failures += found
            print(f"{done} inputs, {len(failures)} failed, {time.monotonic() - began:.0f} s", flush=True)
    return 1 if failures else 0


@lru_cache(maxsize=1)
def _renderer() -> Renderer:
    return Renderer(vocabulary=vocabulary.load())


def _try(numbers: Sequence[int], seed: int) -> list[str]:
    failures = []
    for number in numbers:
        chance = random.Random(f"{seed}/{number}")
        title, body = text(chance, 10), text(chance)
        try:
            render_all(_renderer(), vocabulary.load(), title, body, chance)
        except Exception:  # noqa: BLE001 - a fuzzer reports whatever comes
            trace = traceback.format_exc(limit=-4)
            failures.append(f"input {number}: {title[:200]!r} / {body[:200]!r}\n{trace}")
    return failures


if __name__ == "__main__":
    raise SystemExit(main())
