"""Messages and channels as the Web API and events show them."""

from __future__ import annotations

from bot.workspace.model import Channel, Json, Message, User
from bot.workspace.store import Store
from bot.workspace.timestamps import compact, show

MOST_REPLY_USERS = 5


def present(store: Store, message: Message, *, with_metadata: bool = False) -> Json:
    """Slack's message object. Without `with_metadata` only the type of the metadata is told, not its payload."""
    document: Json = {**message.document, "ts": show(message.ts)}
    if "metadata" in document and not with_metadata:
        document["metadata"] = {"event_type": document["metadata"]["event_type"]}
    room = store.rooms[message.channel]
    if message.thread_ts is not None:
        document["thread_ts"] = show(message.thread_ts)
        parent = room.get(message.thread_ts)
        if parent is not None:
            document["parent_user_id"] = parent.user
            if message.is_broadcast:
                document["subtype"] = "thread_broadcast"
                document["root"] = present(store, parent)
        return document
    replies = room.replies(message.ts)
    if replies:
        writers = list(dict.fromkeys(room.message(ts).user for ts in replies))
        document |= {
            "thread_ts": show(message.ts),
            "reply_count": len(replies),
            "reply_users_count": len(writers),
            "latest_reply": show(replies[-1]),
            "reply_users": writers[:MOST_REPLY_USERS],
            "is_locked": False,
            "subscribed": False,
        }
    return document


def permalink(url: str, message: Message) -> str:
    """`<url>archives/<channel>/p<ts>`; a reply also names its thread."""
    link = f"{url}/archives/{message.channel}/{compact(show(message.ts))}"
    if message.thread_ts is not None:
        link += f"?thread_ts={show(message.thread_ts)}&cid={message.channel}"
    return link


def present_channel(store: Store, channel: Channel, viewer: User, *, count_members: bool = False) -> Json:
    """Slack's conversation object as this user sees it."""
    if channel.kind == "im":
        other = next((member for member in channel.members if member != viewer.id), viewer.id)
        return {
            "id": channel.id,
            "created": channel.created,
            "is_archived": False,
            "is_im": True,
            "is_org_shared": False,
            "context_team_id": store.team.id,
            "user": other,
            "is_user_deleted": False,
            "is_open": True,
        }
    document: Json = {
        "id": channel.id,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": channel.kind == "channel",
        "is_group": channel.kind == "group",
        "is_im": False,
        "is_mpim": False,
        "is_private": channel.is_private,
        "created": channel.created,
        "creator": channel.creator,
        "is_archived": channel.is_archived,
        "is_general": channel.name == "general",
        "is_member": viewer.id in channel.members,
        "is_shared": False,
        "is_ext_shared": False,
        "is_org_shared": False,
        "is_pending_ext_shared": False,
        "pending_shared": [],
        "shared_team_ids": [store.team.id],
        "context_team_id": store.team.id,
        "unlinked": 0,
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "previous_names": [],
    }
    if count_members:
        document["num_members"] = len(channel.members)
    return document


def present_user(store: Store, user: User) -> Json:
    """Slack's user object."""
    return {
        "id": user.id,
        "team_id": store.team.id,
        "name": user.name,
        "deleted": False,
        "real_name": user.real_name,
        "tz": "Etc/UTC",
        "tz_label": "Coordinated Universal Time",
        "tz_offset": 0,
        "profile": {
            "real_name": user.real_name,
            "display_name": user.name,
            "real_name_normalized": user.real_name,
            "display_name_normalized": user.name,
            "team": store.team.id,
            **({"bot_id": store.app.bot_id, "api_app_id": store.app.id} if user.is_bot else {}),
        },
        "is_admin": False,
        "is_owner": False,
        "is_primary_owner": False,
        "is_restricted": False,
        "is_ultra_restricted": False,
        "is_bot": user.is_bot,
        "is_app_user": False,
        "updated": 0,
    }


def bot_profile(store: Store) -> Json:
    """The bot as its messages show it."""
    return {
        "id": store.app.bot_id,
        "app_id": store.app.id,
        "user_id": store.app.bot_user_id,
        "name": store.app.name,
        "icons": {},
        "deleted": False,
        "updated": 0,
        "team_id": store.team.id,
    }
