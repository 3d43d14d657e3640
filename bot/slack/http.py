"""Bolt as a plain function, for whatever serves HTTP. Whose a request is, its bytes tell before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus

from slack_bolt import App, BoltRequest
from slack_sdk.signature import SignatureVerifier

from bot.log import get_logger

log = get_logger(__name__)

_FINAL = {"X-Slack-No-Retry": "1"}
"""A refusal that would come out the same a second time tells Slack not to deliver the request again."""
_CERTIFICATE_CHECK = b"ssl_check=1"


def dispatcher(
    app: App, signing_secret: str, *, admitted: Callable[[], None], refused: Callable[[], None]
) -> Callable[[bytes, Mapping[str, str]], tuple[int, Mapping[str, str], str]]:
    """A function from body and headers to status, headers and body. It blocks until the listener acked (at most 3 s).

    The body must be as it came, and the headers' names in small letters. `admitted` is called for each request that is
    Slack's by its signature, `refused` for each that has one which is not right: a stranger's mostly have none.
    Raises ValueError where there is no secret.
    """
    verifier = SignatureVerifier(signing_secret)

    def dispatch(body: bytes, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], str]:
        if _CERTIFICATE_CHECK in body.split(b"&"):
            return 200, {}, ""  # Slack tries the address of a command now and then, without a signature
        if not _is_signed(verifier, body, headers):
            if "x-slack-signature" in headers:
                refused()
            return 401, _FINAL, "not signed with the secret of this app\n"
        admitted()
        try:
            response = app.dispatch(BoltRequest(body=body.decode(), headers=dict(headers), mode="http"))
        except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
            # Bolt found no sense in it. What a listener raises does not come here.
            log.warning("request_not_understood", error=type(error).__name__)
            return 400, _FINAL, "not a request of Slack's\n"
        final = _FINAL if response.status == HTTPStatus.NOT_FOUND else {}
        return response.status, {**response.first_headers_without_set_cookie(), **final}, response.body or ""

    return dispatch


def _is_signed(verifier: SignatureVerifier, body: bytes, headers: Mapping[str, str]) -> bool:
    try:
        return verifier.is_valid_request(body, headers)
    except (ValueError, TypeError, OverflowError):
        # A time that is no number, a signature that is no ASCII, a body that is no UTF-8: none of them is Slack's.
        return False
