"""How the Slack clients are made: one that posts and never tries again by itself, one that reads."""

from __future__ import annotations

import logging
import os
from typing import Any
from urllib.parse import urlsplit

from slack_sdk import WebClient
from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler

from bot.slack.deadline import PunctualClient

__all__ = [
    "POST_SECONDS",
    "READ_SECONDS",
    "WebClient",
    "api_base",
    "posting_client",
    "reading_client",
    "silent_logger",
    "spare_loopback_the_proxy",
]
# WebClient is exported too: whoever wires the parts names its type without importing Slack's libraries.

SLACK_API_URL = "https://slack.com/api/"
POST_SECONDS = 10.0
"""Time-out of one post, once for connecting and once for the answer. The lease of a channel must outlast both."""
READ_SECONDS = 10.0

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def posting_client(
    token: str, *, api_url: str | None = None, timeout: float = POST_SECONDS, **more: Any
) -> PunctualClient:
    """A client whose every call sends exactly one request: a lost answer is the ledger's to settle, not the SDK's.

    `timeout` is in seconds and counts for connecting as a whole and for the answer as a whole. `more`: see
    `PunctualClient`.
    """
    return PunctualClient(**_settings(token, api_url=api_url, timeout=timeout), **more)


def reading_client(token: str | None, *, api_url: str | None = None, timeout: float = READ_SECONDS) -> WebClient:
    """A client for questions that change nothing: a dropped connection is asked again once."""
    client = WebClient(**_settings(token, api_url=api_url, timeout=timeout))
    client.retry_handlers.append(ConnectionErrorRetryHandler(max_retry_count=1))
    return client


def silent_logger(name: str) -> logging.Logger:
    """A logger for slack_sdk that says nothing: whoever makes a call tells how it ended, once and without its body.

    A level of its own also saves work: slack_sdk formats whole bodies for a logger that has none.
    """
    logger = logging.getLogger(name)
    logger.setLevel(logging.CRITICAL)
    return logger


def _settings(token: str | None, *, api_url: str | None, timeout: float) -> dict[str, Any]:
    return {
        "token": token,
        "base_url": api_base(api_url),
        "timeout": timeout,  # urllib takes fractions, slack_sdk's annotation does not
        "retry_handlers": [],
        "logger": silent_logger("slack_sdk.web"),
    }


def api_base(api_url: str | None) -> str:
    """The base URL with the slash that slack_sdk joins method names to."""
    base = api_url or SLACK_API_URL
    return base if base.endswith("/") else base + "/"


def spare_loopback_the_proxy(api_url: str | None) -> None:
    """Keep a local workspace reachable where HTTP(S)_PROXY is set, for this process.

    slack_sdk takes the proxy from the environment for every host; urllib leaves out only what `no_proxy` names.
    """
    if urlsplit(api_base(api_url)).hostname not in _LOOPBACK:
        return
    for name in ("no_proxy", "NO_PROXY"):
        known = [part for part in os.environ.get(name, "").split(",") if part]
        os.environ[name] = ",".join(dict.fromkeys([*known, *_LOOPBACK]))
