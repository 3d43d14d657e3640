"""Ways to break the bot that the oracle must notice. Each is installed in a forked bot, never in the suite itself."""

from __future__ import annotations


def default_retries() -> None:
    """Post with slack_sdk's default handlers: a connection that drops after acceptance is posted again."""
    from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler
    from slack_sdk.http_retry.builtin_interval_calculators import FixedValueRetryIntervalCalculator

    from bot.slack import deadline, poster

    # The client would not let the second request leave: it knows that it comes too late.
    deadline.PunctualClient._in_time = lambda _self: True
    original = poster.SlackPoster.post

    def post(self, *arguments, **named):
        # Without the default pause of a second: here a bot seldom lives that long.
        at_once = FixedValueRetryIntervalCalculator(fixed_internal=0.01)
        self._client.retry_handlers = [ConnectionErrorRetryHandler(max_retry_count=1, interval_calculator=at_once)]
        return original(self, *arguments, **named)

    poster.SlackPoster.post = post


def sent_first() -> None:
    """Mark a message as sent when it is claimed: what is lost on the way stays lost."""
    from sqlalchemy import update

    from bot.storage import outbox
    from bot.storage.schema import deliveries

    original = outbox.Outbox.claim

    def claim(self, owner, delivery_ids, now, until, *shown):
        won = original(self, owner, delivery_ids, now, until, *shown)
        with self._database.transaction() as connection:
            connection.execute(update(deliveries).where(deliveries.c.id.in_(won)).values(state="sent", ts="0"))
        return won

    outbox.Outbox.claim = claim


def blind_retry() -> None:
    """Send an uncertain message again without looking for it."""
    from bot.delivery.values import Absent
    from bot.slack import history

    history.SlackHistory.find = lambda *_arguments, **_named: Absent()


MUTATIONS = {"default_retries": default_retries, "sent_first": sent_first, "blind_retry": blind_retry}
