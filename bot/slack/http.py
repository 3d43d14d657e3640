"""Bolt as a plain function, for whatever serves HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from slack_bolt import App, BoltRequest


def dispatcher(app: App) -> Callable[[str, Mapping[str, str]], tuple[int, Mapping[str, str], str]]:
    """A function from body and headers to status, headers and body. It blocks until the listener acked (at most 3 s).

    Bolt checks the signature over the body, so the body must be as it came. A refusal that would come out the same
    a second time (a bad signature, an event without listener) tells Slack not to deliver it again.
    """

    def dispatch(body: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], str]:
        try:
            request = BoltRequest(body=body, headers=dict(headers), mode="http")
        except (ValueError, TypeError, AttributeError, RecursionError):
            # Bolt reads the body before it checks the signature, and anybody can send one.
            return 400, {}, "not a request of Slack's\n"
        response = app.dispatch(request)
        answer = dict(response.first_headers_without_set_cookie())
        if response.status in (401, 404):
            answer["X-Slack-No-Retry"] = "1"
        return response.status, answer, response.body or ""

    return dispatch
