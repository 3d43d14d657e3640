"""Sharing an entry to the channel, in the reader's name."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from bot.render import actions
from bot.slack.requests import number, reader_of, view_metadata, view_state
from bot.slack.services import Services, tell


def register(app: App, services: Services) -> None:
    """Register the form."""

    @app.view(actions.SHARE_VIEW)
    def submitted(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        carried = view_metadata(body)
        entry_id, channel_id = number(str(carried.get("entry"))), str(carried.get("channel") or "")
        if entry_id is None or not channel_id:
            return
        comment = view_state(body, actions.SHARE_BLOCK, actions.SHARE_COMMENT)
        reader = reader_of(body)
        # The form is gone with the ack; what lies under it, the entry, is where a refusal is told. A whisper in the
        # channel would not do: mostly the reason is that the bot is not in it.
        below = body["view"].get("previous_view_id")
        back = services.view(body, str(below)) if below else services.teller(body)
        # One form is one wish: submitting it twice, or Slack delivering it twice, shares once.
        key = f"share:{reader.team_id}:{body['view']['id']}"

        def share() -> None:
            said = services.sharing.share(reader, entry_id, channel_id=channel_id, comment=comment, request_key=key)
            if said.key != "shared" and back is not None:
                tell(back, said)

        services.work.start(share, feature="share", teller=back)
