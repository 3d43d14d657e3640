"""Every answer that Slack or the network can give, and what it means for a message."""

import pytest

from bot.delivery.outcome import (
    CHANNEL_REFUSALS,
    DOUBTFUL,
    MESSAGE_REFUSALS,
    PASSING,
    TEAM_REFUSALS,
    THREAD_REFUSALS,
    UPDATE_GONE,
    Gone,
    Never,
    NotNow,
    Scope,
    Sent,
    Unknown,
    Unthreaded,
    of_post,
    of_update,
)
from bot.delivery.values import Answer, AnswerKind


def refused(code, **more):
    return Answer(kind=AnswerKind.SLACK_ERROR, code=code, status=200, **more)


def http(status, **more):
    return Answer(kind=AnswerKind.HTTP, status=status, **more)


def test_ok_with_a_ts_is_sent():
    assert of_post(Answer(kind=AnswerKind.OK, ts="1.2")) == Sent(ts="1.2")


def test_ok_without_a_ts_is_looked_for_because_it_was_posted():
    assert isinstance(of_post(Answer(kind=AnswerKind.OK)), Unknown)


@pytest.mark.parametrize(
    "code",
    ["not_in_channel", "channel_not_found", "is_archived", "restricted_action", *sorted(CHANNEL_REFUSALS)],
)
def test_a_refusing_channel_waits_and_says_what_to_do(code):
    outcome = of_post(refused(code))
    assert isinstance(outcome, NotNow)
    assert outcome.scope is Scope.CHANNEL
    assert outcome.advice


def test_a_channel_without_the_bot_is_told_how_to_invite_it():
    assert "/invite" in of_post(refused("not_in_channel")).advice


@pytest.mark.parametrize(
    "code",
    [
        "invalid_auth",
        "token_revoked",
        "token_expired",
        "account_inactive",
        "missing_scope",
        *sorted(TEAM_REFUSALS),
    ],
)
def test_a_refused_token_stops_the_whole_workspace(code):
    outcome = of_post(refused(code))
    assert isinstance(outcome, NotNow)
    assert outcome.scope is Scope.TEAM
    assert outcome.advice


@pytest.mark.parametrize(
    "code",
    [
        "invalid_blocks",
        "invalid_blocks_format",
        "no_text",
        "metadata_too_large",
        "msg_too_long",
        *sorted(MESSAGE_REFUSALS),
    ],
)
def test_a_message_that_is_wrong_in_itself_is_never_sent(code):
    assert of_post(refused(code)) == Never(reason=code)


@pytest.mark.parametrize("code", sorted(DOUBTFUL))
def test_an_error_on_slacks_own_side_leaves_it_open_whether_the_message_stands(code):
    assert of_post(refused(code)) == Unknown(reason=code)


@pytest.mark.parametrize("code", sorted(THREAD_REFUSALS))
def test_a_thread_that_is_gone_is_no_reason_to_lose_the_entry(code):
    assert of_post(refused(code)) == Unthreaded(reason=code)


@pytest.mark.parametrize("code", sorted(PASSING))
def test_a_passing_refusal_is_tried_again_soon(code):
    assert of_post(refused(code)).scope is Scope.CALL


@pytest.mark.parametrize(
    "answer",
    [
        http(429, retry_after=7.0),
        refused("ratelimited", retry_after=7.0),
        refused("rate_limited", retry_after=7.0),
        Answer(kind=AnswerKind.SLACK_ERROR, code="fatal_error", status=429, retry_after=7.0),
    ],
)
def test_too_fast_waits_as_long_as_slack_says(answer):
    outcome = of_post(answer)
    assert (outcome.scope, outcome.retry_after) == (Scope.PACE, 7.0)


def test_the_message_limit_is_a_matter_of_pace():
    assert of_post(refused("message_limit_exceeded")).scope is Scope.PACE


@pytest.mark.parametrize("status", [500, 502, 503, 504, 520, 408])
def test_a_server_error_leaves_it_open_whether_the_message_stands(status):
    assert of_post(http(status)) == Unknown(reason=f"http_{status}")


def test_an_unknown_word_with_a_server_error_status_is_in_doubt():
    answer = Answer(kind=AnswerKind.SLACK_ERROR, code="odd", status=503)
    assert of_post(answer) == Unknown(reason="odd")


@pytest.mark.parametrize("status", [301, 400, 403, 404])
def test_somebody_else_who_answers_in_slacks_place_did_not_take_the_message(status):
    outcome = of_post(http(status))
    assert isinstance(outcome, NotNow)
    assert outcome.scope is Scope.CALL


def test_a_body_that_is_too_large_is_never_sent():
    assert isinstance(of_post(http(413)), Never)


@pytest.mark.parametrize("kind", [AnswerKind.CONNECT_FAILED, AnswerKind.TIMEOUT_CONNECT])
def test_without_a_connection_nothing_was_sent(kind):
    outcome = of_post(Answer(kind=kind))
    assert isinstance(outcome, NotNow)
    assert outcome.scope is Scope.CALL


@pytest.mark.parametrize("kind", [AnswerKind.TIMEOUT_READ, AnswerKind.DROPPED, AnswerKind.NOT_JSON])
def test_a_lost_answer_is_in_doubt(kind):
    assert of_post(Answer(kind=kind)) == Unknown(reason=kind.value)


def test_a_refusal_in_an_unknown_word_is_not_posted_and_tried_again():
    outcome = of_post(refused("new_error_of_2031"))
    assert (outcome.scope, outcome.reason) == (Scope.MESSAGE, "new_error_of_2031")


def test_every_kind_of_answer_has_a_meaning_for_both_calls():
    for kind in AnswerKind:
        for meaning in (of_post, of_update):
            assert meaning(Answer(kind=kind, code="x", status=200)) is not None


def test_no_code_stands_in_two_tables():
    tables = [set(CHANNEL_REFUSALS), set(TEAM_REFUSALS), MESSAGE_REFUSALS, DOUBTFUL, THREAD_REFUSALS, PASSING]
    assert sum(map(len, tables)) == len(set().union(*tables))


@pytest.mark.parametrize("code", sorted(UPDATE_GONE))
def test_a_message_that_cannot_be_changed_any_more_is_left_alone(code):
    assert of_update(refused(code)) == Gone(reason=code)


def test_a_change_of_kind_is_never_accepted():
    assert of_update(refused("block_mismatch")) == Never(reason="block_mismatch")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(kind=AnswerKind.TIMEOUT_READ),
        Answer(kind=AnswerKind.DROPPED),
        http(500),
        refused("internal_error"),
    ],
)
def test_an_update_with_a_lost_answer_is_simply_made_again(answer):
    outcome = of_update(answer)
    assert isinstance(outcome, NotNow)
    assert outcome.scope is Scope.CALL


@pytest.mark.parametrize("code", ["not_in_channel", "token_revoked", "ratelimited"])
def test_an_update_meets_the_same_closed_doors(code):
    assert of_update(refused(code)) == of_post(refused(code))
