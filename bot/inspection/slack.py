"""Checks the app in Slack: both tokens, the granted scopes, Slack's clock, and each channel."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import SecretStr

from bot.inspection import machine
from bot.inspection.results import GROUP_SECONDS, Area, CheckResult, guarded, together
from bot.ports import ChannelAccess, Clock
from bot.slack.web_api.channels import access_of, own_channels
from bot.slack.web_api.clients import (
    DEFAULT_WAIT_SECONDS,
    LOST_WITHOUT,
    Client,
    granted_scopes,
    served_at,
)
from bot.slack.web_api.failures import CREDENTIAL_CODES, FAILURES, read_failure

CHANNEL_SECONDS = 1.5
"""Additional time for each channel: Slack allows fifty such requests a minute."""

SLACK = Area.SLACK

_BOT_FIX = "Install the app and copy its bot token (OAuth & Permissions) to SLACK_BOT_TOKEN."
_APP_FIX = (
    "Make an app-level token with the scope connections:write (Basic Information), "
    "set SLACK_APP_TOKEN, and see that Socket Mode is on."
)
_SCOPES_FIX = "Bring the app up to date with `mqbot manifest`, then install it again."

_OPEN: Mapping[ChannelAccess | None, str] = {
    ChannelAccess.OPEN: "The bot is in it.",
    None: "It is public; the bot joins when it posts.",
}
_CLOSED: Mapping[ChannelAccess | None, tuple[str, str]] = {
    ChannelAccess.INVITE: (
        "It is private and the bot is not in it.",
        "Invite the bot: /invite in it.",
    ),
    ChannelAccess.CLOSED: ("It is archived.", "Unarchive it, or end its subscriptions."),
}
_HIDDEN = (
    "Slack shows no such channel: deleted, or private without the bot in it.",
    "Invite the bot to it, or end its subscriptions.",
)


async def inspect_slack(
    client: Client,
    app_token: SecretStr | None,
    clock: Clock,
    wanted_scopes: Collection[str],
    channels: Collection[str],
) -> Sequence[CheckResult]:
    """Ask Slack how the app stands there; changes nothing."""
    bot, app, seen = await asyncio.gather(
        guarded(SLACK, "bot token", _bot(client, clock, wanted_scopes)),
        guarded(SLACK, "app-level token", _app(client, app_token)),
        _channels(client, clock, sorted(channels)),
    )
    none = Area.CHANNEL.ok("subscriptions", "No channel is subscribed yet.")
    return [*bot, *app, *(seen or [none])]


async def _bot(
    client: Client, clock: Clock, wanted_scopes: Collection[str]
) -> Iterable[CheckResult]:
    """https://docs.slack.dev/reference/methods/auth.test; the scopes come in a header."""
    try:
        answer = await client.auth_test()
    except FAILURES as error:
        return [_token_failed("bot token", error, _BOT_FIX), machine.clock("Slack", None)]
    theirs = served_at(answer)
    return [
        SLACK.ok("bot token", f"It is {answer.get('user')} in {answer.get('team')}."),
        *_scopes(granted_scopes(answer), wanted_scopes),
        await _guests(client, str(answer.get("user_id"))),
        machine.clock("Slack", clock.now() - theirs if theirs is not None else None),
    ]


def _scopes(granted: Collection[str] | None, wanted: Collection[str]) -> Sequence[CheckResult]:
    """One result for all scopes, or one for each that is missing."""
    if granted is None:
        return [SLACK.unknown("scopes", "Slack did not say which scopes are granted.")]
    missing = sorted(set(wanted).difference(granted))
    if not missing:
        return [SLACK.ok("scopes", f"All {len(wanted)} scopes of the manifest are granted.")]
    return [
        SLACK.warning(one, f"Not granted. {LOST_WITHOUT[one]}", f"To have this: {_SCOPES_FIX}")
        if one in LOST_WITHOUT
        else SLACK.problem(one, "Not granted, and the bot can't work without it.", _SCOPES_FIX)
        for one in missing
    ]


async def _guests(client: Client, user_id: str) -> CheckResult:
    """https://docs.slack.dev/reference/methods/users.info, of the bot itself."""
    try:
        user: Mapping[str, Any] = (await client.users_info(user=user_id)).get("user") or {}
    except FAILURES:
        return SLACK.unknown(
            "guests",
            "Slack didn't answer, so it isn't known whether the bot can see who is a guest.",
        )
    if None not in {user.get("is_restricted"), user.get("is_ultra_restricted")}:
        return SLACK.ok("guests", "The bot can see who is a guest.")
    return SLACK.problem(
        "guests",
        "Slack doesn't say who is a guest (`is_restricted` is missing): everybody without it is "
        "refused.",
        "See that SLACK_API_URL leads to Slack itself, and ask Slack's support.",
    )


async def _app(client: Client, token: SecretStr | None) -> Iterable[CheckResult]:
    """https://docs.slack.dev/reference/methods/apps.connections.open; nothing is connected."""
    if token is None:
        return []
    try:
        await client.apps_connections_open(app_token=token.get_secret_value())
    except FAILURES as error:
        return [_token_failed("app-level token", error, _APP_FIX)]
    return [SLACK.ok("app-level token", "It opens connections.")]


def _token_failed(subject: str, error: Exception, fix: str) -> CheckResult:
    code = read_failure(error).code
    if code in CREDENTIAL_CODES:
        return SLACK.problem(subject, f"Slack refuses it ({code}).", fix)
    return SLACK.problem(
        subject,
        f"Slack doesn't answer ({code}).",
        "See that this machine reaches Slack (SLACK_API_URL), or wait until Slack is well.",
    )


async def _channels(client: Client, clock: Clock, channels: Sequence[str]) -> Sequence[CheckResult]:
    """List the channels that the bot is in, and ask Slack about each of the others."""
    listed = {str(one.get("id")): one async for one in own_channels(client)} if channels else {}
    others = [one for one in channels if one not in listed]
    allowed = GROUP_SECONDS + CHANNEL_SECONDS * len(others)

    async def ask(channel_id: str) -> Iterable[CheckResult]:
        return [await _unlisted(client, clock, channel_id)]

    asked = await together(others, Area.CHANNEL, ask, seconds=allowed, group_seconds=allowed)
    return [*(_channel(one, listed[one]) for one in channels if one in listed), *asked]


async def _unlisted(client: Client, clock: Clock, channel_id: str) -> CheckResult:
    """https://docs.slack.dev/reference/methods/conversations.info; waits for Slack's limit."""
    while True:
        try:
            answer = await client.conversations_info(channel=channel_id)
        except FAILURES as error:
            failure = read_failure(error)
            if failure.code == "channel_not_found":
                return Area.CHANNEL.problem(channel_id, *_HIDDEN)
            if not failure.is_for_rate:
                return Area.CHANNEL.unknown(
                    channel_id,
                    f"Slack doesn't say how it stands ({failure.code}).",
                    "Fix the bot token and its scopes, or check again in a minute.",
                )
            await clock.sleep(failure.retry_after or DEFAULT_WAIT_SECONDS)
        else:
            return _channel(channel_id, answer.get("channel") or {})


def _channel(channel_id: str, found: Mapping[str, Any]) -> CheckResult:
    name, access = found.get("name"), access_of(found)
    subject = f"{channel_id} #{name}" if name else channel_id
    if access in _OPEN:
        return Area.CHANNEL.ok(subject, _OPEN[access])
    return Area.CHANNEL.problem(subject, *_CLOSED[access])
