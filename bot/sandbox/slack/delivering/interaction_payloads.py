"""The payloads of commands, actions, shortcuts and views, field for field as Slack sends them."""

from bot.sandbox.slack.block_kit.form_state import Values
from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.manifest import Shortcut, SlashCommand
from bot.sandbox.slack.state.mrkdwn import command_text
from bot.sandbox.slack.state.views import View
from bot.sandbox.slack.state.workspace import Channel, ChannelKind, Message, User
from bot.sandbox.slack.wire import Json

VERIFICATION_TOKEN = "sandbox-verification"  # noqa: S105 - Slack's retired field, no secret
_SENT_NAMES: dict[ChannelKind, str] = {
    "private": "privategroup",
    "im": "directmessage",
    "mpim": "privategroup",
}


def sent_channel_name(channel: Channel) -> str:
    """Give a channel's name as payloads carry it: private ones are not named."""
    return _SENT_NAMES.get(channel.kind, channel.name)


def _actor(installation: Installation, user: User) -> Json:
    """Write who acted and where; `user.team_id` is the team of the person, maybe another one."""
    team = installation.workspace.team
    grid = team.enterprise_id
    return {
        "user": {
            "id": user.id,
            "username": user.name,
            "name": user.name,
            "team_id": user.acting_team_id,
        },
        "api_app_id": installation.app_id,
        "token": VERIFICATION_TOKEN,
        "team": {"id": team.id, "domain": team.domain},
        "enterprise": None if grid is None else {"id": grid, "name": team.name},
        "is_enterprise_install": team.is_org_wide,
    }


def command_payload(
    installation: Installation,
    user: User,
    channel: Channel,
    command: SlashCommand,
    typed: str,
) -> Json:
    """Write a slash command but for its `response_url`."""
    workspace = installation.workspace
    text = command_text(typed, workspace, should_escape=command.should_escape)
    grid = workspace.team.enterprise_id
    of_grid = {} if grid is None else {"enterprise_id": grid, "enterprise_name": ""}
    return {
        **of_grid,
        "token": VERIFICATION_TOKEN,
        "team_id": workspace.team.id,
        "team_domain": workspace.team.domain,
        "channel_id": channel.id,
        "channel_name": sent_channel_name(channel),
        "user_id": user.id,
        "user_name": user.name,
        "command": command.command,
        "text": text,
        "api_app_id": installation.app_id,
        "is_enterprise_install": str(workspace.team.is_org_wide).lower(),
        "trigger_id": installation.triggers.mint(user.id),
    }


def message_action_payload(
    installation: Installation, user: User, message: Message, values: Values
) -> Json:
    """Write block_actions of a message but for `actions` and `response_url`."""
    channel = installation.workspace.channels[message.channel]
    container = _container(message)
    if message.thread_ts is not None:
        container["thread_ts"] = message.thread_ts
    payload = {
        "type": "block_actions",
        **_actor(installation, user),
        "container": container,
        "trigger_id": installation.triggers.mint(user.id),
        "channel": {"id": channel.id, "name": sent_channel_name(channel)},
        "state": {"values": values},
    }
    # An ephemeral message is not kept, so Slack cannot send it along.
    if message.ephemeral_to is not None:
        return payload
    return {**payload, "message": installation.payloads.message(message)}


def _container(message: Message) -> Json:
    return {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel,
        "is_ephemeral": message.ephemeral_to is not None,
    }


def view_action_payload(installation: Installation, user: User, view: View) -> Json:
    """Write block_actions of a view but for `actions`."""
    return {
        "type": "block_actions",
        **_actor(installation, user),
        "container": {"type": "view", "view_id": view.id},
        "trigger_id": installation.triggers.mint(user.id, view.id),
        "view": installation.view_json(view),
    }


def submission_payload(
    installation: Installation, user: User, view: View, response_urls: list[Json]
) -> Json:
    return {
        "type": "view_submission",
        **_actor(installation, user),
        "trigger_id": installation.triggers.mint(user.id, view.id),
        "view": installation.view_json(view),
        "response_urls": response_urls,
    }


def closed_payload(installation: Installation, user: User, view: View, *, is_cleared: bool) -> Json:
    return {
        "type": "view_closed",
        **_actor(installation, user),
        "view": installation.view_json(view),
        "is_cleared": is_cleared,
    }


def shortcut_payload(installation: Installation, user: User, shortcut: Shortcut) -> Json:
    return {
        "type": "shortcut",
        **_actor(installation, user),
        "action_ts": installation.workspace.new_ts(),
        "callback_id": shortcut.callback_id,
        "trigger_id": installation.triggers.mint(user.id),
    }


def message_shortcut_payload(
    installation: Installation, user: User, shortcut: Shortcut, message: Message
) -> Json:
    """Write a message shortcut but for its `response_url`."""
    channel = installation.workspace.channels[message.channel]
    return {
        "type": "message_action",
        **_actor(installation, user),
        "action_ts": installation.workspace.new_ts(),
        "callback_id": shortcut.callback_id,
        "trigger_id": installation.triggers.mint(user.id),
        "message_ts": message.ts,
        "channel": {"id": channel.id, "name": sent_channel_name(channel)},
        "message": installation.payloads.message(message),
    }


def suggestion_payload(
    installation: Installation, user: User, source: Message | View, element: Json
) -> Json:
    """Write block_suggestion; `element` holds `block_id`, `action_id` and the typed `value`."""
    payload: Json = {"type": "block_suggestion", **_actor(installation, user), **element}
    if isinstance(source, View):
        payload["container"] = {"type": "view", "view_id": source.id}
        payload["view"] = installation.view_json(source)
        return payload
    channel = installation.workspace.channels[source.channel]
    payload["container"] = _container(source)
    payload["channel"] = {"id": channel.id, "name": sent_channel_name(channel)}
    return payload


def action_json(installation: Installation, block_id: str, element: Json, entry: Json) -> Json:
    """Write one action: the element's own words, and `entry`, what the person chose."""
    shown = ("text", "value", "style", "placeholder")
    own = {name: element[name] for name in shown if name in element}
    if element["type"] not in {"button", "icon_button"}:
        own = {name: each for name, each in own.items() if name == "placeholder"}
    return {
        "type": element["type"],
        "action_id": element["action_id"],
        "block_id": block_id,
        **own,
        **entry,
        "action_ts": installation.workspace.new_ts(),
    }
