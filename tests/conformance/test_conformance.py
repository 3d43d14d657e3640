"""The local workspace passes its own probe, check by check."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.workspace.server import LocalWorkspace
from tests.conformance.checks import ALL
from tests.conformance.probe import Check, Probe


@pytest.fixture(scope="module")
def probe() -> Iterator[Probe]:
    with LocalWorkspace() as workspace:
        yield Probe(
            workspace.api_url,
            workspace.bot_token,
            user_token=workspace.user_token("reader"),
            app_token=workspace.app_token,
            page=True,
        )


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.__name__)
def test_the_local_workspace_answers_as_slack_does(probe: Probe, check: Check) -> None:
    check(probe)
