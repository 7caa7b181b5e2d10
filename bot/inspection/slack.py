"""Checks the app in Slack: both tokens, the granted scopes, Slack's clock, and each channel."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence

from bot.domain.inspection import (
    LOST_WITHOUT,
    BotStanding,
    ChannelStanding,
    ChannelState,
    InspectionFailed,
)
from bot.inspection import machine
from bot.inspection.results import GROUP_SECONDS, Area, CheckResult, guarded, together
from bot.slack.web_api.inspection import WebApiInspection

CHANNEL_SECONDS = 1.5
"""Additional time for each channel: Slack allows fifty such requests a minute."""

SLACK = Area.SLACK

_BOT_FIX = "Install the app and copy its bot token (OAuth & Permissions) to SLACK_BOT_TOKEN."
_APP_FIX = (
    "Make an app-level token with the scope connections:write (Basic Information), "
    "set SLACK_APP_TOKEN, and see that Socket Mode is on."
)
_SCOPES_FIX = "Bring the app up to date with `mqbot manifest`, then install it again."

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


async def inspect_slack(
    slack: WebApiInspection, wanted_scopes: Collection[str], channels: Collection[str]
) -> Sequence[CheckResult]:
    bot, app, seen = await asyncio.gather(
        guarded(SLACK, "bot token", _bot(slack, wanted_scopes)),
        guarded(SLACK, "app-level token", _app(slack)),
        _channels(slack, sorted(channels)),
    )
    none = Area.CHANNEL.ok("subscriptions", "No channel is subscribed yet.")
    return [*bot, *app, *(seen or [none])]


async def _bot(slack: WebApiInspection, wanted_scopes: Collection[str]) -> Iterable[CheckResult]:
    try:
        found = await slack.bot()
    except InspectionFailed as error:
        return [_token_failed("bot token", error, _BOT_FIX), machine.clock("Slack", None)]
    return [
        SLACK.ok("bot token", f"It is {found.bot_name} in {found.team_name}."),
        *_scopes(found, wanted_scopes),
        _guests(found),
        machine.clock("Slack", found.ahead),
    ]


def _scopes(found: BotStanding, wanted: Collection[str]) -> Sequence[CheckResult]:
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


def _guests(found: BotStanding) -> CheckResult:
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


async def _app(slack: WebApiInspection) -> Iterable[CheckResult]:
    try:
        is_used = await slack.app_token()
    except InspectionFailed as error:
        return [_token_failed("app-level token", error, _APP_FIX)]
    return [SLACK.ok("app-level token", "It opens connections.")] if is_used else []


def _token_failed(subject: str, error: InspectionFailed, fix: str) -> CheckResult:
    if error.is_refusal:
        return SLACK.problem(subject, f"Slack refuses it ({error.code}).", fix)
    return SLACK.problem(
        subject,
        f"Slack does not answer ({error.code}).",
        "See that this machine reaches Slack (SLACK_API_URL), or wait until Slack is well.",
    )


async def _channels(slack: WebApiInspection, channels: Sequence[str]) -> Sequence[CheckResult]:
    """List the channels that the bot is in, and ask Slack about each of the others."""
    listed = await slack.channels() if channels else {}
    others = [one for one in channels if one not in listed]
    allowed = GROUP_SECONDS + CHANNEL_SECONDS * len(others)

    async def ask(channel_id: str) -> Iterable[CheckResult]:
        try:
            return [_channel(channel_id, await slack.channel(channel_id))]
        except InspectionFailed as error:
            return [
                Area.CHANNEL.unknown(
                    channel_id,
                    f"Slack does not say how it stands ({error.code}).",
                    "Fix the bot token and its scopes, or check again in a minute.",
                )
            ]

    asked = await together(others, Area.CHANNEL, ask, seconds=allowed, group_seconds=allowed)
    return [*(_channel(one, listed[one]) for one in channels if one in listed), *asked]


def _channel(channel_id: str, found: ChannelStanding) -> CheckResult:
    subject = f"{channel_id} #{found.name}" if found.name else channel_id
    if found.state in _OPEN:
        return Area.CHANNEL.ok(subject, _OPEN[found.state])
    return Area.CHANNEL.problem(subject, *_CLOSED[found.state])
