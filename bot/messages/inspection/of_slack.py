"""What the report says of the app in Slack and of its channels."""

from collections.abc import Collection, Mapping, Sequence

from bot.domain.inspection import (
    BotStanding,
    ChannelStanding,
    ChannelState,
    CheckResult,
    InspectionFailed,
)
from bot.messages.inspection.findings import CHANNEL, SLACK


def bot_token(found: BotStanding) -> CheckResult:
    return SLACK.ok("bot token", f"It is {found.bot_name} in {found.team_name}.")


_MAY_BE_MISSING = "a post may be missing if Slack's answer to it was lost."

LOST_WITHOUT: Mapping[str, str] = {
    "app_mentions:read": "Commands in messages that mention the bot aren't answered.",
    "channels:history": f"In public channels, {_MAY_BE_MISSING}",
    "channels:join": "The bot has to be invited to public channels.",
    "chat:write.public": "Posts in a public channel wait until the bot is in it.",
    "groups:history": f"In private channels, {_MAY_BE_MISSING}",
    "groups:read": "Posts in private channels have no buttons.",
    "im:history": f"Commands in direct messages aren't answered. In those, {_MAY_BE_MISSING}",
    "im:read": "Answers in direct messages have no buttons.",
    "im:write": "Nobody gets reminders and notifications as direct messages.",
    "usergroups:read": "Members of user groups in MQBOT_WHO_MAY_PAUSE are refused.",
}
"""What the bot can't do without each optional scope of the manifest."""

_SCOPES_FIX = "Bring the app up to date with `mqbot manifest`, then install it again."


def scopes(found: BotStanding, wanted: Collection[str]) -> Sequence[CheckResult]:
    """One result for all scopes, or one for each that is missing."""
    if found.scopes is None:
        return [SLACK.unknown("scopes", "Slack did not say which scopes are granted.")]
    missing = sorted(set(wanted) - found.scopes)
    if not missing:
        return [SLACK.ok("scopes", f"All {len(wanted)} scopes of the manifest are granted.")]
    return [
        SLACK.warning(one, f"Not granted. {LOST_WITHOUT[one]}", f"To have this: {_SCOPES_FIX}")
        if one in LOST_WITHOUT
        else SLACK.problem(one, "Not granted, and the bot can't work without it.", _SCOPES_FIX)
        for one in missing
    ]


def guests(found: BotStanding) -> CheckResult:
    if found.reports_guests is None:
        return SLACK.unknown(
            "guests",
            "Slack didn't answer, so it isn't known whether the bot can see who is a guest.",
        )
    if found.reports_guests:
        return SLACK.ok("guests", "The bot can see who is a guest.")
    return SLACK.problem(
        "guests",
        "Slack doesn't say who is a guest (`is_restricted` is missing): everybody without it is "
        "refused.",
        "See that SLACK_API_URL leads to Slack itself, and ask Slack's support.",
    )


def app_token() -> CheckResult:
    return SLACK.ok("app-level token", "It opens connections.")


_TOKEN_FIXES: Mapping[str, str] = {
    "bot token": (
        "Install the app and copy its bot token (OAuth & Permissions) to SLACK_BOT_TOKEN."
    ),
    "app-level token": (
        "Make an app-level token with the scope connections:write (Basic Information), "
        "set SLACK_APP_TOKEN, and see that Socket Mode is on."
    ),
}


def token_failed(subject: str, error: InspectionFailed) -> CheckResult:
    if error.is_refusal:
        return SLACK.problem(subject, f"Slack refuses it ({error.code}).", _TOKEN_FIXES[subject])
    return SLACK.problem(
        subject,
        f"Slack does not answer ({error.code}).",
        "See that this machine reaches Slack (SLACK_API_URL), or wait until Slack is well.",
    )


_OPEN: Mapping[ChannelState, str] = {
    ChannelState.MEMBER: "The bot is in it.",
    ChannelState.PUBLIC: "It is public; the bot joins when it posts.",
}
_CLOSED: Mapping[ChannelState, tuple[str, str]] = {
    ChannelState.INVITE: (
        "It is private and the bot is not in it.",
        "Invite the bot: /invite in it.",
    ),
    ChannelState.ARCHIVED: ("It is archived.", "Unarchive it, or end its subscriptions."),
    ChannelState.HIDDEN: (
        "Slack shows no such channel: deleted, or private without the bot in it.",
        "Invite the bot to it, or end its subscriptions.",
    ),
}


def channel(channel_id: str, found: ChannelStanding) -> CheckResult:
    subject = f"{channel_id} #{found.name}" if found.name else channel_id
    if found.state in _OPEN:
        return CHANNEL.ok(subject, _OPEN[found.state])
    return CHANNEL.problem(subject, *_CLOSED[found.state])


def channel_failed(channel_id: str, error: InspectionFailed) -> CheckResult:
    return CHANNEL.unknown(
        channel_id,
        f"Slack does not say how it stands ({error.code}).",
        "Fix the bot token and its scopes, or check again in a minute.",
    )


def no_channels() -> CheckResult:
    return CHANNEL.ok("subscriptions", "No channel is subscribed yet.")
