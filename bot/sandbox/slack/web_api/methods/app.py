"""The methods about the app itself and its credentials, with reactions."""

from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.web_api.calls import Call
from bot.sandbox.slack.web_api.methods.channels import visible_channel
from bot.sandbox.slack.web_api.methods.method import SPECIAL, TIER_2, TIER_3, TIER_4, Method
from bot.sandbox.slack.wire import Json, SlackRefusal


def api_test(_installation: Installation, call: Call) -> Json:
    """Give the arguments back (docs.slack.dev/reference/methods/api.test)."""
    if call.text("error"):
        raise SlackRefusal(call.text("error"), fields={"args": dict(call.arguments)})
    return {"args": {name: each for name, each in call.arguments.items() if name != "token"}}


def auth_test(installation: Installation, call: Call) -> Json:
    """Say whose token this is (docs.slack.dev/reference/methods/auth.test)."""
    if call.token.kind == "app":
        return {"app_name": installation.manifest.name, "app_id": installation.app_id}
    team = installation.workspace.team
    return {
        "url": installation.base_url,
        "team": team.name,
        "user": installation.bot.name,
        "team_id": team.enterprise_id if team.is_org_wide else team.id,
        "user_id": installation.bot_user_id,
        "bot_id": installation.bot_id,
        "is_enterprise_install": team.is_org_wide,
        **({"enterprise_id": team.enterprise_id} if team.enterprise_id is not None else {}),
    }


def list_teams(installation: Installation, _call: Call) -> Json:
    """List the workspaces of the app (docs.slack.dev/reference/methods/auth.teams.list)."""
    team = installation.workspace.team
    return {"teams": [{"id": team.id, "name": team.name}]}


def add_reaction(installation: Installation, call: Call) -> Json:
    """React to a message (docs.slack.dev/reference/methods/reactions.add)."""
    channel = visible_channel(installation, call.required("channel"))
    name = call.required("name").strip(":")
    message = channel.messages.get(call.required("timestamp"))
    if channel.is_archived:
        raise SlackRefusal("is_archived")
    if message is None:
        raise SlackRefusal("message_not_found")
    if not installation.is_member(channel):
        raise SlackRefusal("not_in_channel")
    if not installation.workspace.react(message, installation.bot_user_id, name):
        raise SlackRefusal("already_reacted")
    return {}


METHODS = {
    "api.test": Method(api_test, TIER_4, tokens=()),
    "auth.test": Method(auth_test, SPECIAL, tokens=("bot", "app")),
    "auth.teams.list": Method(list_teams, TIER_2),
    "reactions.add": Method(add_reaction, TIER_3, ("reactions:write",)),
}
