"""What Slack's answer means for a message. Pure: one table of codes, statuses and network faults.

The rule behind the table: posting again is right only where Slack certainly did not take the message. A clear refusal
is such a case; silence, a broken connection and an error on Slack's own side are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from bot.delivery.values import Answer, AnswerKind


class Scope(StrEnum):
    """How far a refusal reaches."""

    CALL = "call"
    """The call never got out, or Slack was busy: nothing is wrong with the channel. Tried again soon."""
    MESSAGE = "message"
    """A refusal in a word we do not know: tried again a few times, then given up."""
    CHANNEL = "channel"
    """The channel refuses: all of its deliveries wait."""
    PACE = "pace"
    """Too fast: the channel waits, nobody is alarmed."""
    TEAM = "team"
    """The token is refused: the whole workspace waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Slack has the message."""

    ts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotNow:
    """Slack does not have the message, and may take it later."""

    scope: Scope
    reason: str
    advice: str = ""
    retry_after: float | None = None
    """Seconds, where Slack named them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Never:
    """Slack does not have the message and will not take it as it is."""

    reason: str
    advice: str = ""
    """Why no message could be made; empty where Slack has refused one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unthreaded:
    """Slack does not have the message, because the thread it belongs to is gone or closed."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Slack may or may not have the message."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """The message to be changed cannot be changed any more: somebody deleted it, or Slack has closed it."""

    reason: str


Outcome: TypeAlias = Sent | NotNow | Never | Unthreaded | Unknown | Gone

_INVITE = "Invite the bot: type /invite @<the bot> in the channel."
_TOKEN = "Give the bot a valid SLACK_BOT_TOKEN (app settings, Install App) and restart it."  # noqa: S105
_SCOPES = "Reinstall the app from its manifest, so that the token has every scope."
_ADMIN = "A workspace administrator must allow the app to post."
_RIGHTS = "Allow the app to post: channel settings, posting permissions."

CHANNEL_REFUSALS = {
    "not_in_channel": _INVITE,
    "channel_not_found": "Check the channel's id; to a private channel, invite the bot: /invite @<the bot>.",
    "user_not_in_channel": _INVITE,
    "is_archived": "Unarchive the channel, or take it out of config.yaml.",
    "is_inactive": "The channel is frozen: choose another one in config.yaml.",
    "channel_is_limited_access": _RIGHTS,
    "restricted_action": _RIGHTS,
    "restricted_action_read_only_channel": _RIGHTS,
    "restricted_action_thread_only_channel": "The channel takes replies only: allow new messages in it.",
    "restricted_action_non_threadable_channel": "The channel takes no threads: use layout `channel`.",
    "messages_tab_disabled": "Turn on the Messages tab of the app's Home (app settings, App Home).",
    "cannot_dm_bot": "A bot cannot be sent direct messages: choose another channel in config.yaml.",
    "external_channel_migrating": "Slack is moving this shared channel: it goes on by itself.",
    "slack_connect_blocked_file_type": _ADMIN,
}
TEAM_REFUSALS = {
    "invalid_auth": _TOKEN,
    "not_authed": _TOKEN,
    "account_inactive": _TOKEN,
    "token_revoked": _TOKEN,
    "token_expired": "Turn token rotation off in the app's settings, then give the bot the new token.",
    "not_allowed_token_type": "SLACK_BOT_TOKEN must be a bot token (xoxb-).",
    "missing_scope": _SCOPES,
    "no_permission": _SCOPES,
    "team_access_not_granted": _ADMIN,
    "access_denied": _ADMIN,
    "enterprise_is_restricted": _ADMIN,
    "ekm_access_denied": _ADMIN,
    "org_login_required": _ADMIN,
    "two_factor_setup_required": _ADMIN,
    "accesslimited": _ADMIN,
    "team_not_found": "Install the app in this workspace itself, and use its bot token.",
}
BUSY = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
PASSING = frozenset({"team_added_to_org", "request_timeout"})
"""Refused before anything was done, and worth another try soon."""
THREAD_REFUSALS = frozenset(
    {"thread_not_found", "cannot_reply_to_message", "restricted_action_thread_locked", "message_not_found"}
)
DOUBTFUL = frozenset({"fatal_error", "internal_error", "service_unavailable"})
"""Slack's own words for `fatal_error`: some part of the operation may have succeeded before the error."""
MESSAGE_REFUSALS = frozenset(
    {
        "as_user_not_supported",
        "attachment_payload_limit_exceeded",
        "deprecated_endpoint",
        "duplicate_channel_not_found",
        "duplicate_message_not_found",
        "invalid_arg_name",
        "invalid_arguments",
        "invalid_array_arg",
        "invalid_attachments",
        "invalid_blocks",
        "invalid_blocks_format",
        "invalid_charset",
        "invalid_form_data",
        "invalid_json",
        "invalid_metadata_format",
        "invalid_metadata_schema",
        "invalid_post_type",
        "json_not_object",
        "markdown_text_conflict",
        "metadata_must_be_sent_from_app",
        "metadata_too_large",
        "method_deprecated",
        "missing_post_type",
        "msg_blocks_too_long",
        "msg_blocks_too_many",
        "msg_too_long",
        "no_text",
        "slack_connect_canvas_sharing_blocked",
        "slack_connect_clip_sharing_blocked",
        "slack_connect_file_link_sharing_blocked",
        "too_many_attachments",
        "too_many_contact_cards",
        "unknown_method",
    }
)
UPDATE_GONE = frozenset(
    {"message_not_found", "edit_window_closed", "cant_update_message", "is_inactive", "thread_not_found"}
)
UPDATE_REFUSALS = frozenset({"block_mismatch", "external_team_blocked", "file_not_found", "too_many_teams"})

_TOO_MANY_REQUESTS = 429
_TOO_LARGE = 413
_REQUEST_TIMEOUT = 408
_CLIENT_ERRORS = range(300, 500)
_SERVER_ERRORS = 500


def of_post(answer: Answer) -> Outcome:
    """Return what an answer to `chat.postMessage` means."""
    match answer.kind:
        case AnswerKind.OK:
            return Sent(ts=answer.ts) if answer.ts else Unknown(reason="ok_without_ts")
        case AnswerKind.SLACK_ERROR:
            return _of_code(answer.code or "", answer)
        case AnswerKind.HTTP:
            return _of_status(answer)
        case AnswerKind.CONNECT_FAILED | AnswerKind.TIMEOUT_CONNECT:
            return NotNow(scope=Scope.CALL, reason=answer.kind.value)
        case AnswerKind.NOT_JSON | AnswerKind.TIMEOUT_READ | AnswerKind.DROPPED:
            return Unknown(reason=answer.kind.value)


def of_update(answer: Answer) -> Outcome:
    """Return what an answer to `chat.update` means: never Unknown, for changing a message twice does no harm."""
    if answer.kind is AnswerKind.OK:
        return Sent(ts=answer.ts or "")
    if answer.kind is AnswerKind.SLACK_ERROR and answer.code in UPDATE_GONE:
        return Gone(reason=answer.code)
    if answer.kind is AnswerKind.SLACK_ERROR and answer.code in UPDATE_REFUSALS:
        return Never(reason=answer.code)
    outcome = of_post(answer)
    if isinstance(outcome, Unknown):
        return NotNow(scope=Scope.CALL, reason=outcome.reason)
    if isinstance(outcome, Unthreaded):
        return Gone(reason=outcome.reason)
    return outcome


def _of_code(code: str, answer: Answer) -> Outcome:
    if code in BUSY or answer.status == _TOO_MANY_REQUESTS:
        return NotNow(scope=Scope.PACE, reason="ratelimited", retry_after=answer.retry_after)
    if code in DOUBTFUL or (answer.status or 0) >= _SERVER_ERRORS:
        return Unknown(reason=code or "server_error")
    if code in THREAD_REFUSALS:
        return Unthreaded(reason=code)
    if code in MESSAGE_REFUSALS:
        return Never(reason=code)
    return _passing_refusal(code, answer.retry_after)


def _passing_refusal(code: str, retry_after: float | None) -> NotNow:
    if code in CHANNEL_REFUSALS:
        return NotNow(scope=Scope.CHANNEL, reason=code, advice=CHANNEL_REFUSALS[code])
    if code in TEAM_REFUSALS:
        return NotNow(scope=Scope.TEAM, reason=code, advice=TEAM_REFUSALS[code])
    if code in PASSING:
        return NotNow(scope=Scope.CALL, reason=code, retry_after=retry_after)
    # A word we do not know is still a refusal: nothing was posted. Whether it lasts is unknown: tried again, boundedly.
    return NotNow(scope=Scope.MESSAGE, reason=code or "unnamed_error", retry_after=retry_after)


def _of_status(answer: Answer) -> Outcome:
    status = answer.status or 0
    reason = f"http_{status}"
    if status == _TOO_MANY_REQUESTS:
        return NotNow(scope=Scope.PACE, reason="ratelimited", retry_after=answer.retry_after)
    if status == _TOO_LARGE:
        return Never(reason=reason)
    if status in _CLIENT_ERRORS and status != _REQUEST_TIMEOUT:
        # Whatever stood in the way (a proxy, a wrong address) answered instead of taking the message.
        return NotNow(scope=Scope.CALL, reason=reason, retry_after=answer.retry_after)
    return Unknown(reason=reason)
