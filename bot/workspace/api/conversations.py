"""`conversations.*` about channels and their members."""

from __future__ import annotations

from dataclasses import replace

from bot.workspace.api.call import Call, Method
from bot.workspace.api.paging import page
from bot.workspace.errors import SlackError
from bot.workspace.model import Channel, Json, User
from bot.workspace.presenting import present_channel

_TYPES = {"public_channel": "channel", "private_channel": "group", "im": "im", "mpim": "mpim"}
_READ = {"channel": "channels:read", "group": "groups:read", "im": "im:read", "mpim": "mpim:read"}


def methods() -> dict[str, Method]:
    """The methods of this family."""
    return {
        "conversations.list": Method(handler=list_all, tier=2),
        "conversations.info": Method(handler=info, tier=3),
        "conversations.join": Method(handler=join, tier=3),
        "conversations.leave": Method(handler=leave, tier=3),
        "conversations.create": Method(handler=create, tier=2),
        "conversations.archive": Method(handler=archive, tier=2),
        "conversations.invite": Method(handler=invite, tier=3),
        "conversations.members": Method(handler=members, tier=4),
        "conversations.open": Method(handler=open_direct, tier=3),
        "users.conversations": Method(handler=of_user, tier=3),
    }


def list_all(call: Call) -> Json:
    """List the channels that the caller may see."""
    return _listed(call, [each for each in _of_types(call) if call.workspace.visible(each, call.user)])


def of_user(call: Call) -> Json:
    """The channels that a user (by default the caller) is a member of."""
    user_id = call.text("user") or call.user.id
    if user_id not in call.workspace.store.users:
        raise SlackError("user_not_found")
    return _listed(
        call,
        [each for each in _of_types(call) if user_id in each.members and call.workspace.visible(each, call.user)],
    )


def _of_types(call: Call) -> list[Channel]:
    names = [each.strip() for each in (call.text("types") or "public_channel").split(",")]
    if not set(names) <= _TYPES.keys():
        raise SlackError("invalid_types")
    kinds = {_TYPES[name] for name in names}
    for kind in sorted(kinds):
        call.scope(_READ[kind])
    hides_archived = call.flag("exclude_archived")
    return [
        each
        for each in call.workspace.store.channels.values()
        if each.kind in kinds and not (hides_archived and each.is_archived)
    ]


def _listed(call: Call, channels: list[Channel]) -> Json:
    shown, more = page(call, channels, default=100)
    store = call.workspace.store
    return {
        "ok": True,
        "channels": [present_channel(store, each, call.user, count_members=True) for each in shown],
        **more,
    }


def info(call: Call) -> Json:
    """Tell about one channel."""
    channel = _channel(call)
    call.scope(_READ[channel.kind])
    counts = call.flag("include_num_members")
    return {
        "ok": True,
        "channel": present_channel(call.workspace.store, channel, call.user, count_members=counts),
    }


def join(call: Call) -> Json:
    """Join a public channel; joining twice is a warning, not an error."""
    call.scope("channels:join")
    channel = _channel(call)
    if channel.kind != "channel":
        raise SlackError("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise SlackError("is_archived")
    answer: Json = {"ok": True}
    if call.user.id in channel.members:
        answer |= {
            "warning": "already_in_channel",
            "response_metadata": {"warnings": ["already_in_channel"]},
        }
    joined = call.workspace.join(channel, call.user)
    return {**answer, "channel": present_channel(call.workspace.store, joined, call.user)}


def leave(call: Call) -> Json:
    """Leave a channel."""
    channel = _channel(call)
    if call.user.id not in channel.members:
        return {"ok": False, "not_in_channel": True}
    call.workspace.leave(channel, call.user)
    return {"ok": True}


def create(call: Call) -> Json:
    """Make a channel with the caller in it."""
    private = call.flag("is_private")
    call.scope("groups:write" if private else "channels:manage")
    name = call.text("name") or ""
    workspace = call.workspace
    channel = workspace.store.create_channel(
        name.removeprefix("#"), private=private, creator=call.user, now=workspace.clock()
    )
    workspace.news.channels()
    return {"ok": True, "channel": present_channel(workspace.store, channel, call.user)}


def archive(call: Call) -> Json:
    """Archive a channel."""
    channel = _channel(call)
    if channel.is_archived:
        raise SlackError("already_archived")
    if channel.name == "general":
        raise SlackError("cant_archive_general")
    if call.user.id not in channel.members:
        raise SlackError("not_in_channel")
    call.workspace.store.put_channel(replace(channel, is_archived=True))
    call.workspace.news.channels()
    return {"ok": True}


def invite(call: Call) -> Json:
    """Make others members, as a member may."""
    channel = _channel(call)
    workspace = call.workspace
    if channel.kind == "im":
        raise SlackError("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise SlackError("is_archived")
    if call.user.id not in channel.members:
        raise SlackError("not_in_channel")
    people = _people(call, "no_user")
    if call.user in people:
        raise SlackError("cant_invite_self")
    for person in people:
        if person.id in channel.members:
            raise SlackError("already_in_channel")
        channel = workspace.join(channel, person, inviter=call.user)
    return {"ok": True, "channel": present_channel(workspace.store, channel, call.user)}


def members(call: Call) -> Json:
    """List the members of a channel."""
    channel = _channel(call)
    call.scope(_READ[channel.kind])
    shown, more = page(call, channel.members, default=100)
    return {"ok": True, "members": list(shown), **more}


def open_direct(call: Call) -> Json:
    """The direct conversation with one user. Group conversations are not part of this workspace."""
    workspace = call.workspace
    reference = call.text("channel")
    if reference:
        channel = workspace.channel(reference, call.user)
        if channel.kind != "im":
            raise SlackError("method_not_supported_for_channel_type")
    else:
        people = _people(call, "users_list_not_supplied")
        if len(people) != 1:
            raise SlackError("too_many_users")
        channel = workspace.store.open_im(call.user, people[0], workspace.clock())
    shown = present_channel(workspace.store, channel, call.user) if call.flag("return_im") else {"id": channel.id}
    return {"ok": True, "no_op": False, "already_open": False, "channel": shown}


def _people(call: Call, missing: str) -> list[User]:
    names = [each.strip() for each in (call.text("users") or "").split(",") if each.strip()]
    if not names:
        raise SlackError(missing)
    users = call.workspace.store.users
    if not all(name in users for name in names):
        raise SlackError("user_not_found")
    return [users[name] for name in names]


def _channel(call: Call) -> Channel:
    return call.workspace.channel(call.required("channel"), call.user)
