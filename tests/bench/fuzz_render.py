# ruff: noqa: T201 - a command that prints its figures
"""Random nasty texts in every place of every message, before every judge.

python -m tests.bench.fuzz_render --count 100000
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback

from bot.render.messages import Renderer
from bot.text import vocabulary
from tests.unit.render.nasty import render_all, text


def main() -> int:
    """Print how many inputs failed; exit 1 if any did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000, help="how many inputs (a title with a text)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    words = vocabulary.load()
    renderer = Renderer(vocabulary=words)
    began, failed = time.monotonic(), 0
    for number in range(options.count):
        chance = random.Random(f"{options.seed}/{number}")
        title, body = text(chance, 10), text(chance)
        try:
            render_all(renderer, words, title, body, chance)
        except Exception:  # noqa: BLE001 - a fuzzer reports whatever comes
            failed += 1
            print(f"input {number}: {title!r} / {body[:200]!r}", file=sys.stderr)
            traceback.print_exc(limit=-4)
            if failed >= 5:
                break
        if (number + 1) % 10_000 == 0:
            print(f"{number + 1} inputs, {failed} failed, {time.monotonic() - began:.0f} s", flush=True)
    print(f"{number + 1} inputs, {failed} failed, {time.monotonic() - began:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
