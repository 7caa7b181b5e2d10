"""Slack's own slash commands that matter to an app: who is in a channel."""

from bot.sandbox.slack.state.workspace import Channel, User, Workspace

_ADDS = {"/invite"}
_REMOVES = {"/remove", "/kick"}
_OWN = {"/join", "/leave"}
BUILTINS = frozenset(_ADDS | _REMOVES | _OWN)


def run_builtin(workspace: Workspace, user: User, channel: Channel, text: str) -> str | None:
    """Run `/invite @name`, `/remove @name`, `/leave`, `/join #name`; give what Slackbot says."""
    command, _, rest = text.partition(" ")
    named = rest.split()
    if command in _OWN:
        return _come_or_go(workspace, user, channel, command, named)
    others = [workspace.user_named(each) for each in named]
    if not others or None in others:
        return f"No such person: {rest}" if rest else f"Say whom: {command} @name"
    for other in others:
        if other is not None and command in _ADDS:
            workspace.join(channel, other.id, inviter=user.id)
        elif other is not None:
            workspace.leave(channel, other.id)
    return None


def _come_or_go(
    workspace: Workspace, user: User, channel: Channel, command: str, named: list[str]
) -> str | None:
    if command == "/leave":
        workspace.leave(channel, user.id)
        return None
    target = workspace.channel_named(named[0]) if named else channel
    if target is None or not workspace.sees(user.id, target):
        return "No such channel"
    workspace.join(target, user.id)
    return None
