"""Questions to Slack that change nothing, with one kind of error for every way in which they fail."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web import SlackResponse

from bot.errors import SlackUnavailable

PAGE = 200
"""Objects asked for at once; Slack recommends no more."""
PAGES = 200
"""A bound, so that a cursor that never ends does not hold a thread for ever."""


LONGEST_WAIT = 3600.0
"""Seconds; a `Retry-After` beyond it is not believed."""


class Refused(SlackUnavailable):
    """Slack answered, and the answer is no: `code` is its word, `retry_after` its seconds where it is a "not now"."""

    def __init__(self, method: str, code: str, *, status: int, retry_after: float | None = None) -> None:
        super().__init__(f"Slack refused {method}: {code}")
        self.method = method
        self.code = code
        self.status = status
        self.retry_after = retry_after


def ask(method: str, call: Callable[..., SlackResponse], **arguments: Any) -> Mapping[str, Any]:
    """Slack's answer to one read. Raises `Refused`, or `SlackUnavailable` where there was no usable answer."""
    try:
        return cast("Mapping[str, Any]", call(**arguments).data)
    except SlackApiError as error:
        raise refusal(method, error) from error
    except (SlackClientError, OSError, http.client.HTTPException, ValueError) as error:
        raise SlackUnavailable(f"Slack did not answer {method}: {type(error).__name__}") from error


def pages(method: str, call: Callable[..., SlackResponse], **arguments: Any) -> Iterator[Mapping[str, Any]]:
    """Every page of a listing, in Slack's order. Raises like `ask`."""
    cursor = ""
    for _ in range(PAGES):
        page = ask(method, call, **arguments, **({"cursor": cursor} if cursor else {}))
        yield page
        cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return
    raise SlackUnavailable(f"Slack has more than {PAGES} pages of {method}: the rest was not read")


def refusal(method: str, error: SlackApiError) -> Refused:
    """The refusal that slack_sdk wrapped, with status and the seconds of `Retry-After`."""
    status = int(getattr(error.response, "status_code", 0) or 0)
    return Refused(method, error_code(error), status=status, retry_after=retry_after(error))


def error_code(error: SlackApiError) -> str:
    """Slack's error word, or `non_json` where the body was no answer of Slack's at all."""
    data = getattr(error.response, "data", None)
    code = str(data.get("error") or "") if isinstance(data, Mapping) else ""
    return "non_json" if not code or " " in code else code


def retry_after(error: SlackApiError) -> float | None:
    """Seconds that Slack asks to wait, where it names them."""
    headers = {str(name).lower(): value for name, value in dict(error.response.headers or {}).items()}
    try:
        return min(LONGEST_WAIT, max(0.0, float(headers["retry-after"])))
    except (KeyError, TypeError, ValueError):
        return None
