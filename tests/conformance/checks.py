"""Every check, in the order of the table, and how one is run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tests.conformance import blocks, calls, history, live, messages
from tests.conformance.probe import Check, NotTried, Probe, Unmet

ALL: tuple[Check, ...] = (*calls.CHECKS, *messages.CHECKS, *history.CHECKS, *blocks.CHECKS, *live.CHECKS)


class Verdict(StrEnum):
    PASS = "pass"
    FAIL = "FAIL"
    NOT_TRIED = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    name: str
    verdict: Verdict
    detail: str = ""


def run(probe: Probe) -> Iterator[Finding]:
    for check in ALL:
        name = check.__name__.replace("_", " ")
        try:
            check(probe)
        except NotTried as reason:
            yield Finding(name=name, verdict=Verdict.NOT_TRIED, detail=str(reason))
        except Unmet as problem:
            yield Finding(name=name, verdict=Verdict.FAIL, detail=str(problem))
        except (OSError, KeyError, IndexError, TypeError, AttributeError, TimeoutError) as problem:
            # An answer of another shape than Slack's is a failed check, not a failed run.
            yield Finding(name=name, verdict=Verdict.FAIL, detail=f"{type(problem).__name__}: {problem}")
        else:
            yield Finding(name=name, verdict=Verdict.PASS)
