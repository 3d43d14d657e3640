"""How long an entry takes from its text to checked blocks, as a multiple of `json.dumps` of those blocks; and how many
entries are parsed and understood in a second.

python -m tests.bench.render
"""

from __future__ import annotations

import argparse
import json
import timeit

from bot.render.messages import Renderer
from bot.render.views import Style
from bot.text import vocabulary
from tests.bench import extract
from tests.unit.render.seeds import seed_entries

GOAL = 20.0


def main() -> int:
    """Print the figures; exit 1 if one of them misses its goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=200, help="rounds over the twelve seed entries")
    repeat = parser.parse_args().repeat
    renderer = Renderer(vocabulary=vocabulary.load())
    style = Style()
    entries = seed_entries()
    blocks = [message.blocks for entry in entries for message in renderer.entry(entry, style)]

    def rendered() -> None:
        for entry in entries:
            renderer.entry(entry, style)

    def dumped() -> None:
        for one in blocks:
            json.dumps(one)

    def parsed() -> None:
        for entry in entries:
            renderer._kit(style).body(entry)

    # The three in turn, round by round: a busy machine then slows all of them alike.
    works = {"render": rendered, "parse": parsed, "dumps": dumped}
    rounds = [{name: timeit.timeit(work, number=1) for name, work in works.items()} for _ in range(repeat)]
    best = {name: min(one[name] for one in rounds) / len(entries) * 1e6 for name in works}
    ratio = best["render"] / best["dumps"]
    print(f"entry to checked blocks  {best['render']:8.1f} µs  (of which reading the text {best['parse']:.1f} µs)")
    print(f"json.dumps of the blocks {best['dumps']:8.1f} µs")
    print(f"ratio                    {ratio:8.1f}     goal <= {GOAL:.0f}")
    understood = extract.figures(max(1, repeat // 2))
    return 0 if ratio <= GOAL and understood else 1


if __name__ == "__main__":
    raise SystemExit(main())
