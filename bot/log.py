"""Structured logs: for people on a terminal, JSON everywhere else, and no token in either.

Our own lines and those of the libraries (Bolt, APScheduler, uvicorn) take one way out. The libraries' debug lines
are never let through, because slack_sdk and Bolt print whole bodies there: what people wrote, and the tokens it
was sent with.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

TOKEN = re.compile(r"x(?:ox[a-z]|app)(?:\.xox[a-z])?-[A-Za-z0-9-]+")
"""Bot, user, refresh and app-level tokens of Slack, wherever they stand."""

LINK_SECRET = re.compile(
    r"(/(?:commands|actions|services|workflows|link)/)[^\s\"'<>]*/[^\s\"'<>]+|(ticket=)[^\s\"'&<>]+"
)
"""What follows in a response_url or a Socket Mode address: whoever holds it can speak for the app."""

HIDDEN = "***"

NOISY = ("slack_sdk", "slack_bolt", "urllib3", "asyncio", "websockets", "httpx", "httpcore")
"""Libraries whose debug lines hold bodies, or nothing of use."""


CHATTY = ("apscheduler", "alembic")
"""Libraries that tell at INFO what they do every few seconds, or at every start."""


def redact(value: Any) -> Any:
    """Return `value` with every Slack token in it replaced by `***`, however deep it lies."""
    if isinstance(value, str):
        return LINK_SECRET.sub(lambda found: (found[1] or found[2]) + HIDDEN, TOKEN.sub(HIDDEN, value))
    if isinstance(value, bytes):
        return redact(value.decode("utf-8", "replace"))
    if isinstance(value, Mapping):
        return {redact(key): redact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [redact(item) for item in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return redact(str(value))


def _redact_event(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Redact every field; exceptions have been turned into text before."""
    return {key: item if key.startswith("_") else redact(item) for key, item in event.items()}


def _shared_processors() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]


def _final_processors(*, as_json: bool, colours: bool) -> list[Processor]:
    if as_json:
        last: list[Processor] = [structlog.processors.JSONRenderer(ensure_ascii=False)]
    else:
        last = [structlog.dev.ConsoleRenderer(colors=colours, pad_event_to=0, sort_keys=False)]
    return [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        # The trace becomes text before the redaction, so that a token in an exception's message goes too.
        structlog.processors.format_exc_info,
        _redact_event,
        *last,
    ]


def configure(
    *,
    stream: TextIO | None = None,
    as_json: bool | None = None,
    level: str | int = "INFO",
    quiet: Sequence[str] = NOISY,
) -> None:
    """Send all logs of the process to `stream` (default: standard error), replacing what was set before.

    `as_json` None means: JSON unless the stream is a terminal. `level` counts for our own lines; the `quiet`
    libraries never go below INFO.
    """
    out = stream if stream is not None else sys.stderr
    on_terminal = bool(getattr(out, "isatty", lambda: False)())
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_shared_processors(),
        processors=_final_processors(as_json=not on_terminal if as_json is None else as_json, colours=on_terminal),
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    for name in quiet:
        # An explicit level also saves work: slack_sdk formats its debug line first when its logger has none.
        logging.getLogger(name).setLevel(max(logging.INFO, root.level))
    for name in CHATTY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    logging.captureWarnings(capture=True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared_processors(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger whose lines are events with fields: `log.info("delivery_sent", delivery=7, channel="C1")`."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger
