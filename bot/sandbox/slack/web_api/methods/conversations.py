"""The conversations methods: what channels there are, who is in them and what was said."""

from itertools import islice, takewhile

from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.workspace import Channel, ChannelKind, Message
from bot.sandbox.slack.web_api.calls import Call
from bot.sandbox.slack.web_api.methods.channels import (
    channel_for,
    decode_cursor,
    encode_cursor,
    kind_scope,
    scopes_for,
    timestamp,
)
from bot.sandbox.slack.web_api.methods.method import TIER_2, TIER_3, TIER_4, Method
from bot.sandbox.slack.wire import Json, SlackRefusal

_HISTORY_MOST = 999
_REPLIES_MOST = 1000
_LIST_MOST = 1000
_KIND_OF_TYPE: dict[str, ChannelKind] = {
    "public_channel": "public",
    "private_channel": "private",
    "im": "im",
    "mpim": "mpim",
}
_MOST_PEOPLE = 8


def info(installation: Installation, call: Call) -> Json:
    """Describe a channel (docs.slack.dev/reference/methods/conversations.info)."""
    channel = channel_for(installation, call, "read")
    body = installation.payloads.channel(channel)
    if call.flag("include_num_members"):
        body["num_members"] = len(channel.members)
    return {"channel": body}


def history(installation: Installation, call: Call) -> Json:
    """List messages, newest first (docs.slack.dev/reference/methods/conversations.history)."""
    channel = _read_channel(installation, call)
    limit = min(call.whole_number("limit", 100, _HISTORY_MOST), installation.history_most)
    oldest = timestamp(call, "oldest", "invalid_ts_oldest")
    latest = timestamp(call, "latest", "invalid_ts_latest")
    before = decode_cursor(call, "next_ts")
    inclusive = call.flag("inclusive")
    recent = takewhile(
        lambda each: each.ts >= (oldest or ""), channel.messages.newest_first(before or latest)
    )
    found = (
        each
        for each in recent
        if each.is_listed and _is_within(each, oldest, latest, inclusive=inclusive)
    )
    page = list(islice(found, limit + 1))
    shown = page[:limit]
    all_metadata = call.flag("include_all_metadata")
    payloads = installation.payloads
    answer: Json = {
        "messages": [payloads.listed_message(e, all_metadata=all_metadata) for e in shown],
        "has_more": len(page) > limit,
        "pin_count": 0,
        "channel_actions_ts": None,
        "channel_actions_count": 0,
    }
    if len(page) > limit:
        next_cursor = encode_cursor("next_ts", page[limit].ts)
        answer["response_metadata"] = {"next_cursor": next_cursor}
    return answer


def _read_channel(installation: Installation, call: Call) -> Channel:
    channel = channel_for(installation, call, "history")
    if not installation.is_member(channel):
        raise SlackRefusal("not_in_channel")
    return channel


def _is_within(
    message: Message, oldest: str | None, latest: str | None, *, inclusive: bool
) -> bool:
    # Seconds have the same number of digits for every time after 2001, so text compares.
    if message.ts in {oldest, latest}:
        return inclusive
    return (oldest or "") < message.ts and (latest is None or message.ts < latest)


def replies(installation: Installation, call: Call) -> Json:
    """List a thread, parent first (docs.slack.dev/reference/methods/conversations.replies)."""
    channel = _read_channel(installation, call)
    parent = channel.messages.get(call.required("ts"))
    if parent is None:
        raise SlackRefusal("thread_not_found")
    if parent.is_reply:
        parent = channel.messages.get(parent.thread_ts or "") or parent
    limit = min(call.whole_number("limit", _REPLIES_MOST, _REPLIES_MOST), installation.history_most)
    oldest = timestamp(call, "oldest", "invalid_ts_oldest")
    latest = timestamp(call, "latest", "invalid_ts_latest")
    after = decode_cursor(call, "next_ts") or ""
    found = [
        each
        for each in channel.thread(parent.ts)
        if each.ts >= after and _is_within(each, oldest, latest, inclusive=call.flag("inclusive"))
    ]
    shown = found[:limit]
    rest = found[limit:]
    all_metadata = call.flag("include_all_metadata")
    payloads = installation.payloads
    answer: Json = {
        "messages": [
            payloads.listed_message(each, all_metadata=all_metadata) for each in [parent, *shown]
        ],
        "has_more": bool(rest),
    }
    if rest:
        answer["response_metadata"] = {"next_cursor": encode_cursor("next_ts", rest[0].ts)}
    return answer


def list_channels(installation: Installation, call: Call) -> Json:
    """List the channels the app may know (docs.slack.dev/reference/methods/conversations.list)."""
    return _page_of_channels(installation, call, only_own=False)


def list_own_channels(installation: Installation, call: Call) -> Json:
    """List the channels the app is in (docs.slack.dev/reference/methods/users.conversations)."""
    return _page_of_channels(installation, call, only_own=True)


def _page_of_channels(installation: Installation, call: Call, *, only_own: bool) -> Json:
    kinds = []
    for name in call.listed("types") or ["public_channel"]:
        kind = _KIND_OF_TYPE.get(name)
        if kind is None:
            raise SlackRefusal("invalid_types")
        call.token.require_any((kind_scope(kind, "read"),))
        kinds.append(kind)
    start = decode_cursor(call, "channel") or ""
    limit = call.whole_number("limit", 100, _LIST_MOST)
    known = [
        each
        for each in sorted(installation.workspace.channels.values(), key=lambda each: each.id)
        if each.kind in kinds
        and each.id >= start
        and not (each.is_archived and call.flag("exclude_archived"))
        and (installation.is_member(each) or (each.kind == "public" and not only_own))
    ]
    following = known[limit:][:1]
    cursor = encode_cursor("channel", following[0].id) if following else ""
    return {
        "channels": [installation.payloads.channel(each) for each in known[:limit]],
        "response_metadata": {"next_cursor": cursor},
    }


def join(installation: Installation, call: Call) -> Json:
    """Join a public channel (docs.slack.dev/reference/methods/conversations.join)."""
    channel = installation.workspace.channels.get(call.required("channel"))
    if channel is None or (channel.is_private and not installation.is_member(channel)):
        raise SlackRefusal("channel_not_found")
    if channel.kind != "public":
        raise SlackRefusal("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise SlackRefusal("is_archived")
    body = installation.payloads.channel
    if installation.is_member(channel):
        call.warnings.append("already_in_channel")
        return {"channel": body(channel)}
    installation.workspace.join(channel, installation.bot_user_id)
    return {"channel": body(channel)}


def members(installation: Installation, call: Call) -> Json:
    """List who is in a channel (docs.slack.dev/reference/methods/conversations.members)."""
    channel = channel_for(installation, call, "read")
    limit = call.whole_number("limit", 100, _LIST_MOST)
    start = decode_cursor(call, "user") or ""
    found = sorted(each for each in channel.members if each >= start)
    following = found[limit:][:1]
    cursor = encode_cursor("user", following[0]) if following else ""
    return {"members": found[:limit], "response_metadata": {"next_cursor": cursor}}


def open_conversation(installation: Installation, call: Call) -> Json:
    """Open direct messages (docs.slack.dev/reference/methods/conversations.open)."""
    if call.has("channel"):
        channel = channel_for(installation, call, "read")
        return {"channel": {"id": channel.id}, "no_op": True, "already_open": True}
    users = call.listed("users")
    if not users:
        raise SlackRefusal("users_list_not_supplied")
    if len(users) > _MOST_PEOPLE:
        raise SlackRefusal("too_many_users")
    call.token.require_any(("im:write",) if len(users) == 1 else ("mpim:write",))
    known = installation.workspace.users
    if not all(each in known for each in users):
        raise SlackRefusal("user_not_found")
    if any(known[each].deleted for each in users):
        raise SlackRefusal("user_disabled")
    channel = installation.workspace.direct_channel(installation.bot_user_id, *users)
    if call.flag("return_im"):
        return {"channel": installation.payloads.channel(channel)}
    return {"channel": {"id": channel.id}}


METHODS = {
    "conversations.info": Method(info, TIER_3, scopes_for("read")),
    "conversations.history": Method(history, TIER_3, scopes_for("history")),
    "conversations.replies": Method(replies, TIER_3, scopes_for("history")),
    "conversations.list": Method(list_channels, TIER_2, scopes_for("read"), needs_team=True),
    "conversations.join": Method(join, TIER_3, ("channels:join",)),
    "conversations.members": Method(members, TIER_4, scopes_for("read")),
    "conversations.open": Method(open_conversation, TIER_3, ("im:write", "mpim:write")),
    "users.conversations": Method(list_own_channels, TIER_3, scopes_for("read"), needs_team=True),
}
