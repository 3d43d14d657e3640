"""Socket Mode, commands, response URLs and modals: what needs an open link, and mostly a person."""

from __future__ import annotations

import json
import threading
import urllib.request
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.conformance.probe import Probe, demand, expect, send

MODAL = {
    "type": "modal",
    "callback_id": "probe",
    "title": {"type": "plain_text", "text": "Probe"},
    "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "hello"}}],
}


def _link(probe: Probe) -> ClientConnection:
    return connect(probe.ok("apps.connections.open", token=probe.app_token)["url"])


def _next(link: ClientConnection, kind: str) -> Any:
    while True:
        document = json.loads(link.recv(timeout=10))
        if document["type"] == kind:
            return document


def a_bot_token_opens_no_connection(probe: Probe) -> None:
    probe.refused("apps.connections.open", "not_allowed_token_type")


def a_link_says_hello(probe: Probe) -> None:
    with _link(probe) as link:
        hello = json.loads(link.recv(timeout=10))
        expect(hello["type"], "hello", "first message")
        demand(hello["num_connections"] >= 1, "num_connections")
        demand(hello["connection_info"]["app_id"], "connection_info.app_id")
        demand(hello["debug_info"]["approximate_connection_time"] > 0, "approximate_connection_time")


def _run_command(probe: Probe, link: ClientConnection, answer: Any) -> tuple[Any, Any]:
    """Types `/digest probe`, acknowledges with `answer`; returns the command's payload and what the person is told."""
    said: list[Any] = []
    typing = threading.Thread(
        target=lambda: said.append(probe.act("message", channel=probe.channel, text="/digest probe"))
    )
    typing.start()
    envelope = _next(link, "slash_commands")
    link.send(json.dumps({"envelope_id": envelope["envelope_id"], **({"payload": answer} if answer else {})}))
    typing.join()
    return envelope, said[0]


def a_command_carries_all_fields_and_takes_an_answer(probe: Probe) -> None:
    demand(probe.site, "a page")
    with _link(probe) as link:
        envelope, said = _run_command(probe, link, {"text": "in the acknowledgement"})
        demand(envelope["accepts_response_payload"] is True, "accepts_response_payload")
        payload = envelope["payload"]
        for field in ("command", "response_url", "trigger_id", "user_id", "user_name", "team_id", "team_domain"):
            demand(payload.get(field), f"the payload has {field}")
        expect(payload["text"], "probe", "text")
        demand(said["ok"], "what the person is told")
        shown = send(urllib.request.Request(f"{probe.site}_page/channel/{probe.channel}")).body["messages"]
        demand(any(each["text"] == "in the acknowledgement" for each in shown), "the acknowledgement is shown")


def a_response_url_works_five_times(probe: Probe) -> None:
    demand(probe.site, "a page")
    with _link(probe) as link:
        envelope, _ = _run_command(probe, link, None)
        statuses = [_respond(envelope["payload"]["response_url"], {"text": f"{number}"}) for number in range(6)]
        expect(statuses[:5], [200] * 5, "five uses")
        demand(statuses[5] != 200, "the sixth is refused")


def a_trigger_opens_one_modal(probe: Probe) -> None:
    demand(probe.site, "a page")
    with _link(probe) as link:
        envelope, _ = _run_command(probe, link, None)
        trigger = envelope["payload"]["trigger_id"]
        bad = {**MODAL, "title": {"type": "plain_text", "text": "x" * 25}}
        probe.refused("views.open", "invalid_trigger_id", trigger_id="1.2.nobody", view=MODAL)
        view = probe.ok("views.open", trigger_id=trigger, view=MODAL)["view"]
        demand(view["id"].startswith("V") and view["hash"], "view ID and hash")
        probe.refused("views.open", "exchanged_trigger_id", trigger_id=trigger, view=MODAL)
        probe.refused("views.update", "invalid_arguments", view_id=view["id"], view=bad)
        probe.refused("views.update", "hash_conflict", view_id=view["id"], view=MODAL, hash="1.stale")
        probe.ok("views.update", view_id=view["id"], view=MODAL, hash=view["hash"])
        probe.refused("views.update", "not_found", view_id="V00000000", view=MODAL)


def _respond(url: str, document: Any) -> int:
    request = urllib.request.Request(
        url, data=json.dumps(document).encode(), headers={"Content-Type": "application/json"}, method="POST"
    )
    return send(request).status


CHECKS = (
    a_bot_token_opens_no_connection,
    a_link_says_hello,
    a_command_carries_all_fields_and_takes_an_answer,
    a_response_url_works_five_times,
    a_trigger_opens_one_modal,
)
