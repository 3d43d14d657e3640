"""The long form: `python -m tests.chaos` runs all four set-ups; `--kills` and `--faults` are over all of them."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from pathlib import Path

from bot.storage.engine import open_database
from bot.storage.migrate import migrate
from tests.chaos.harness import Plan, run
from tests.chaos.mutations import MUTATIONS
from tests.conftest import PostgreSQL

SETUPS = (("sqlite", 1), ("sqlite", 4), ("postgresql", 1), ("postgresql", 4))


def main() -> None:
    """Parse the arguments, run, print a line a set-up, and end with 1 if the promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--kills", type=int, default=1000, help="over all set-ups")
    parser.add_argument("--faults", type=int, default=1000, help="over all set-ups")
    parser.add_argument("--stops", type=int, default=20, help="SIGSTOP past the lease, over all set-ups")
    parser.add_argument("--seconds", type=float, default=1800.0, help="a set-up breaks things at most so long")
    parser.add_argument("--only", help="one set-up, such as postgresql:4")
    parser.add_argument("--mutation", choices=sorted(MUTATIONS))
    parser.add_argument("--talk", action="store_true", help="tell the progress")
    parser.add_argument("--folder", type=Path, help="keep logs and databases here")
    arguments = parser.parse_args()
    setups = [(kind, n) for kind, n in SETUPS if arguments.only in (None, f"{kind}:{n}")]
    print(f"seed {arguments.seed}", flush=True)
    clean = True
    with contextlib.ExitStack() as stack:
        folder = arguments.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="digest-bot-chaos-")))
        server = None
        if any(kind == "postgresql" for kind, _n in setups):
            server = PostgreSQL(Path(tempfile.mkdtemp(prefix="digest-bot-pg-")))
            stack.callback(server.server.cleanup)
        for number, (kind, replicas) in enumerate(setups):
            place = folder / f"{kind}-{replicas}"
            place.mkdir(parents=True, exist_ok=True)
            url = server.url(server.fresh("migrated")) if kind == "postgresql" and server else f"sqlite:///{place}.db"
            if kind == "sqlite":
                for old in folder.glob(f"{place.name}.db*"):
                    old.unlink()
                with contextlib.closing(open_database(url)) as database:
                    migrate(database)
            plan = Plan(
                seed=arguments.seed + number,
                database_url=url,
                replicas=replicas,
                kills=-(-arguments.kills // len(setups)),
                faults=-(-arguments.faults // len(setups)),
                stops=-(-arguments.stops // len(setups)),
                mutation=arguments.mutation,
                seconds=arguments.seconds,
                talk=arguments.talk,
            )
            report = run(plan, place)
            clean = clean and report.is_clean
            print(report.line(), *report.evidence, sep="\n  ", flush=True)
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
