"""`users.*`, `bots.info`, `team.info`, `auth.test`, `api.test`, `apps.connections.open`."""

from __future__ import annotations

from bot.workspace.api.call import Call, Method
from bot.workspace.api.paging import page
from bot.workspace.errors import SlackError
from bot.workspace.model import Json
from bot.workspace.presenting import bot_profile, present_user

_APP_ONLY = frozenset({"app"})
_ANY = frozenset({"bot", "user", "app"})


def methods() -> dict[str, Method]:
    """The methods of this family."""
    return {
        "auth.test": Method(handler=auth_test, tier=5, tokens=_ANY),
        "users.info": Method(handler=user_info, tier=4),
        "users.list": Method(handler=user_list, tier=2),
        "bots.info": Method(handler=bot_info, tier=3),
        "team.info": Method(handler=team_info, tier=3),
        "apps.connections.open": Method(handler=open_connection, tier=3, tokens=_APP_ONLY),
    }


def auth_test(call: Call) -> Json:
    """Tell who the caller is."""
    workspace = call.workspace
    store = workspace.store
    answer: Json = {"ok": True, "url": f"{workspace.url}/", "team": store.team.name, "team_id": store.team.id}
    if call.identity.kind == "app":
        return answer | {"app_id": store.app.id, "app_name": store.app.name}
    answer |= {"user": call.user.name, "user_id": call.user.id, "is_enterprise_install": False}
    if call.identity.kind == "bot":
        answer["bot_id"] = store.app.bot_id
    return answer


def user_info(call: Call) -> Json:
    """Tell about one user."""
    call.scope("users:read")
    user = call.workspace.store.users.get(call.required("user"))
    if user is None:
        raise SlackError("user_not_found")
    return {"ok": True, "user": present_user(call.workspace.store, user)}


def user_list(call: Call) -> Json:
    """List all users."""
    call.scope("users:read")
    store = call.workspace.store
    users = list(store.users.values())
    shown, more = page(call, users, default=len(users))
    return {
        "ok": True,
        "members": [present_user(store, each) for each in shown],
        "cache_ts": int(call.workspace.clock()),
        **more,
    }


def bot_info(call: Call) -> Json:
    """Tell about the bot."""
    call.scope("users:read")
    store = call.workspace.store
    if call.required("bot") != store.app.bot_id:
        raise SlackError("bot_not_found")
    return {"ok": True, "bot": bot_profile(store)}


def team_info(call: Call) -> Json:
    """Tell about the team."""
    call.scope("team:read")
    team = call.workspace.store.team
    if call.text("team") not in (None, "", team.id):
        raise SlackError("team_not_found")
    return {
        "ok": True,
        "team": {
            "id": team.id,
            "name": team.name,
            "url": f"{call.workspace.url}/",
            "domain": team.domain,
            "email_domain": "",
            "icon": {"image_default": True},
        },
    }


def open_connection(call: Call) -> Json:
    """A WebSocket address, good for one connection."""
    workspace = call.workspace
    if workspace.store.app.request_url is not None:
        raise SlackError("internal_error")
    link = workspace.url.replace("http://", "ws://", 1)
    return {
        "ok": True,
        "url": f"{link}/link/?ticket={workspace.sockets.ticket()}&app_id={workspace.store.app.id}",
    }
