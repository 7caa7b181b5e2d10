"""The methods about people: users, user groups, bots and the team."""

from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.workspace import UserGroup
from bot.sandbox.slack.web_api.calls import Call
from bot.sandbox.slack.web_api.methods.channels import decode_cursor, encode_cursor
from bot.sandbox.slack.web_api.methods.method import TIER_2, TIER_3, TIER_4, Method
from bot.sandbox.slack.wire import Json, SlackRefusal

_LIST_MOST = 1000


def user_info(installation: Installation, call: Call) -> Json:
    """Describe a person (docs.slack.dev/reference/methods/users.info)."""
    user = installation.workspace.users.get(call.required("user"))
    if user is None:
        raise SlackRefusal("user_not_found")
    return {"user": installation.payloads.user(user, call.token.scopes)}


def user_profile(installation: Installation, call: Call) -> Json:
    """Give a profile with its custom fields (docs.slack.dev/reference/methods/users.profile.get).

    users.info has no custom fields.
    """
    user = installation.workspace.users.get(call.required("user"))
    if user is None:
        raise SlackRefusal("user_not_found")
    profile = installation.payloads.user(user, call.token.scopes)["profile"]
    fields = {name: {"value": value, "alt": ""} for name, value in user.profile_fields.items()}
    return {"profile": {**profile, "fields": fields or []}}


def list_users(installation: Installation, call: Call) -> Json:
    """List people (docs.slack.dev/reference/methods/users.list)."""
    start = decode_cursor(call, "user") or ""
    limit = call.whole_number("limit", _LIST_MOST, _LIST_MOST)
    users = installation.workspace.users.values()
    known = sorted((each for each in users if each.id >= start), key=lambda each: each.id)
    following = known[limit:][:1]
    cursor = encode_cursor("user", following[0].id) if following else ""
    return {
        "members": [installation.payloads.user(each, call.token.scopes) for each in known[:limit]],
        "cache_ts": 1_700_000_000,
        "response_metadata": {"next_cursor": cursor},
    }


def list_groups(installation: Installation, call: Call) -> Json:
    """List user groups (docs.slack.dev/reference/methods/usergroups.list)."""
    groups = []
    for group in installation.workspace.groups.values():
        body = _group(installation, group)
        if call.flag("include_users"):
            body["users"] = sorted(group.members)
        if group.is_enabled or call.flag("include_disabled"):
            groups.append(body)
    return {"usergroups": groups}


def _group(installation: Installation, group: UserGroup) -> Json:
    return {
        "id": group.id,
        "team_id": installation.workspace.team.id,
        "is_usergroup": True,
        "name": group.name,
        "handle": group.handle,
        "is_external": False,
        "date_create": 1_700_000_000,
        "date_delete": 0 if group.is_enabled else 1_700_000_001,
        "user_count": len(group.members),
    }


def list_group_members(installation: Installation, call: Call) -> Json:
    """List a group's people (docs.slack.dev/reference/methods/usergroups.users.list)."""
    group = installation.workspace.groups.get(call.required("usergroup"))
    if group is None or not (group.is_enabled or call.flag("include_disabled")):
        raise SlackRefusal("no_such_subteam")
    return {"users": sorted(group.members)}


def update_group_members(installation: Installation, call: Call) -> Json:
    """Replace a group's people (docs.slack.dev/reference/methods/usergroups.users.update)."""
    group = installation.workspace.groups.get(call.required("usergroup"))
    if group is None:
        raise SlackRefusal("no_such_subteam")
    people = call.listed("users")
    if not people:
        raise SlackRefusal("no_users_provided")
    if any(person not in installation.workspace.users for person in people):
        raise SlackRefusal("invalid_users")
    group.members = set(people)
    return {"usergroup": {**_group(installation, group), "users": sorted(group.members)}}


def bot_info(installation: Installation, call: Call) -> Json:
    """Describe a bot (docs.slack.dev/reference/methods/bots.info)."""
    if call.text("bot", installation.bot_id) != installation.bot_id:
        raise SlackRefusal("bot_not_found")
    return {"bot": installation.payloads.bot_profile()}


def team_info(installation: Installation, call: Call) -> Json:
    """Describe the workspace (docs.slack.dev/reference/methods/team.info)."""
    team = installation.workspace.team
    if call.text("team", team.id) != team.id:
        raise SlackRefusal("team_not_found")
    fields = {"id": team.id, "name": team.name, "domain": team.domain, "email_domain": ""}
    return {"team": {**fields, "url": installation.base_url, "icon": {}}}


METHODS = {
    "users.info": Method(user_info, TIER_4, ("users:read",)),
    "users.profile.get": Method(user_profile, TIER_4, ("users.profile:read",)),
    "users.list": Method(list_users, TIER_2, ("users:read",), needs_team=True),
    "usergroups.list": Method(list_groups, TIER_2, ("usergroups:read",), needs_team=True),
    "usergroups.users.list": Method(
        list_group_members, TIER_2, ("usergroups:read",), needs_team=True
    ),
    "usergroups.users.update": Method(
        update_group_members, TIER_2, ("usergroups:write",), needs_team=True
    ),
    "bots.info": Method(bot_info, TIER_3, ("users:read",), needs_team=True),
    "team.info": Method(team_info, TIER_3, ("team:read",)),
}
