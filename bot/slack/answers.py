"""What became of one call: every way in which slack_sdk, urllib and the network end it, as an `Answer`.

The line that matters runs between "nothing was sent" and "Slack may have it". urllib wraps in `URLError` only what
went wrong before the whole request was handed over; whatever comes bare happened while waiting for the answer.
"""

from __future__ import annotations

import errno
import http.client
import socket
import ssl
from collections.abc import Callable
from urllib.error import URLError

from slack_sdk.errors import SlackApiError
from slack_sdk.web import SlackResponse

from bot.delivery.values import Answer, AnswerKind
from bot.slack.asking import error_code, retry_after

_UNREACHABLE = frozenset(
    {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL, errno.EMFILE, errno.ENFILE}
)
_NEVER_CONNECTED = (socket.gaierror, ConnectionRefusedError, ssl.SSLCertVerificationError)


def answer_of(call: Callable[[], SlackResponse]) -> Answer:
    """Make the call, once, and tell how it ended. Raises nothing."""
    try:
        response = call()
    except SlackApiError as error:
        return _refused(error)
    except URLError as error:
        return _not_handed_over(error)
    except TimeoutError:
        return Answer(kind=AnswerKind.TIMEOUT_READ, detail="no whole answer in time")
    except (OSError, http.client.HTTPException) as error:
        return Answer(kind=AnswerKind.DROPPED, detail=type(error).__name__)
    except Exception as error:  # noqa: BLE001  the request may be out: whatever this is, Slack may have the message
        return Answer(kind=AnswerKind.NOT_JSON, detail=f"unreadable answer: {type(error).__name__}")
    ts = response.get("ts")
    return Answer(kind=AnswerKind.OK, ts=None if ts is None else str(ts), status=response.status_code)


def _refused(error: SlackApiError) -> Answer:
    """Slack (or something before it) answered, and not with `ok`."""
    status = int(error.response.status_code or 0)
    code = error_code(error)
    wait = retry_after(error)
    if code != "non_json":
        return Answer(kind=AnswerKind.SLACK_ERROR, code=code, status=status, retry_after=wait, detail=code)
    if status == http.client.OK:
        return Answer(kind=AnswerKind.NOT_JSON, status=status, detail="the body is not Slack's JSON")
    return Answer(kind=AnswerKind.HTTP, status=status, retry_after=wait, detail=f"HTTP {status}")


def _not_handed_over(error: URLError) -> Answer:
    """The request never went out whole; in doubt about how far it came, it counts as dropped."""
    reason = error.reason
    name = type(reason).__name__ if isinstance(reason, BaseException) else "URLError"
    if isinstance(reason, TimeoutError):
        return Answer(kind=AnswerKind.TIMEOUT_CONNECT, detail="no connection in time")
    if isinstance(reason, _NEVER_CONNECTED) or (isinstance(reason, OSError) and reason.errno in _UNREACHABLE):
        return Answer(kind=AnswerKind.CONNECT_FAILED, detail=name)
    return Answer(kind=AnswerKind.DROPPED, detail=name)
