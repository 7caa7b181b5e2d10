"""Checks the app in Slack: both tokens, the granted scopes, Slack's clock, and each channel."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import SecretStr

from bot.blocks.text import listed, plural
from bot.inspection import machine
from bot.inspection.results import (
    GROUP_SECONDS,
    Area,
    CheckResult,
    guarded,
    patiently,
    together,
)
from bot.kernel.clock import Clock
from bot.kernel.transport import NO_CONNECTION, why_lost
from bot.slack.errors import CREDENTIAL_CODES
from bot.slack.ports import ChannelAccess
from bot.slack.web_api.channels import access_of, own_channels
from bot.slack.web_api.clients import (
    LOST_WITHOUT,
    Client,
    granted_scopes,
    served_at,
)
from bot.slack.web_api.failures import FAILURES, read_failure

CHANNELS_NAMED = 5

NOT_FOUND = 404
"""Slack's own answers for unknown methods are JSON with status 200."""

CHANNEL_SECONDS = 1.5
"""Additional time for each channel: Slack allows fifty such requests a minute."""

SLACK = Area.SLACK

_BOT_FIX = "Install the app and copy its bot token (OAuth & Permissions) to SLACK_BOT_TOKEN."
_APP_FIX = (
    "Make an app-level token with the scope connections:write (Basic Information), "
    "set SLACK_APP_TOKEN, and turn Socket Mode on."
)
_SCOPES_FIX = "Update the app with `mqbot manifest`, then install it again."

_END_THEM = "end its subscriptions: mqbot unsubscribe with its id, or a change of MQBOT_CHANNELS."

_HOW_OPEN: Mapping[ChannelAccess | None, str] = {
    ChannelAccess.OPEN: "The bot is in it.",
    None: "It is public; the bot joins when it posts.",
}
_CLOSED: Mapping[ChannelAccess | None, tuple[str, str]] = {
    ChannelAccess.INVITE: (
        "It is private, and the bot isn't in it.",
        "Type /invite in it.",
    ),
    ChannelAccess.CLOSED: (
        "It is archived.",
        f"Unarchive it, or {_END_THEM}",
    ),
}
_HIDDEN = (
    "Slack doesn't show this channel: it was deleted, or is private without the bot.",
    f"Invite the bot to it, or {_END_THEM}",
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
    return [*bot, *app, *_total(seen), *seen]


def _total(seen: Sequence[CheckResult]) -> Iterable[CheckResult]:
    if not seen:
        yield Area.CHANNEL.ok("subscriptions", "No channel is subscribed yet.")
    names = [
        result.subject.partition(" ")[2] or result.subject for result in seen if result.is_detail
    ]
    if names:
        sentence = f"{len(names):,} of {plural(len(seen), 'channel')} can be posted to: "
        yield Area.CHANNEL.ok("subscriptions", f"{sentence}{listed(names, most=CHANNELS_NAMED)}.")


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
        SLACK.ok("bot token", f"Belongs to {answer.get('user')} in {answer.get('team')}."),
        *_scopes(granted_scopes(answer), wanted_scopes),
        await _guests(client, str(answer.get("user_id"))),
        machine.clock("Slack", clock.now() - theirs if theirs is not None else None),
    ]


def _scopes(granted: Collection[str] | None, wanted: Collection[str]) -> Sequence[CheckResult]:
    """One result for all scopes, or one for each that is missing."""
    if granted is None:
        return [SLACK.unknown("scopes", "Slack didn't say which scopes are granted.")]
    missing = sorted(set(wanted).difference(granted))
    if not missing:
        return [SLACK.ok("scopes", f"All {len(wanted)} scopes of the manifest are granted.")]
    return [
        SLACK.warning(scope, f"Not granted. {LOST_WITHOUT[scope]}", f"To have this: {_SCOPES_FIX}")
        if scope in LOST_WITHOUT
        else SLACK.problem(scope, "Not granted, and the bot can't work without it.", _SCOPES_FIX)
        for scope in missing
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
    fields = (user.get("is_restricted"), user.get("is_ultra_restricted"))
    if all(value is not None for value in fields):
        return SLACK.ok("guests", "The bot can see who is a guest.")
    return SLACK.problem(
        "guests",
        "Slack doesn't say who is a guest (`is_restricted` is missing): everybody without it is "
        "refused.",
        "Make sure SLACK_API_URL points to Slack itself, and ask Slack's support.",
    )


async def _app(client: Client, token: SecretStr | None) -> Iterable[CheckResult]:
    """https://docs.slack.dev/reference/methods/apps.connections.open; nothing is connected."""
    if token is None:
        return []
    try:
        await client.apps_connections_open(app_token=token.get_secret_value())
    except FAILURES as error:
        return [_token_failed("app-level token", error, _APP_FIX)]
    return [SLACK.ok("app-level token", "Connection OK.")]


def _token_failed(subject: str, error: Exception, fix: str) -> CheckResult:
    failure = read_failure(error)
    if failure.code in CREDENTIAL_CODES:
        return SLACK.problem(subject, f"Slack refuses it ({failure.code}).", fix)
    if failure.status == NOT_FOUND:
        return SLACK.problem(
            subject,
            "Another web server answered at SLACK_API_URL (status 404).",
            "Leave SLACK_API_URL out: Slack's own is the default.",
        )
    fix = "Make sure this machine can reach Slack (SLACK_API_URL), or wait until Slack is back."
    return SLACK.problem(subject, f"Slack doesn't answer: {_why_no_answer(error)}.", fix)


def _why_no_answer(error: Exception) -> str:
    """Why there was no answer, or which code it had."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    failure = read_failure(error)
    if failure.status is not None:
        return failure.code.replace("http_", "status ")
    return why_lost(error) or NO_CONNECTION


async def _channels(client: Client, clock: Clock, channels: Sequence[str]) -> Sequence[CheckResult]:
    """List the channels that the bot is in, and ask Slack about each of the others."""
    listed = (
        {str(channel.get("id")): channel async for channel in own_channels(client)}
        if channels
        else {}
    )
    others = [channel for channel in channels if channel not in listed]
    allowed = GROUP_SECONDS + CHANNEL_SECONDS * len(others)

    async def ask(channel_id: str) -> Iterable[CheckResult]:
        return [await _unlisted(client, clock, channel_id)]

    asked = await together(others, Area.CHANNEL, ask, seconds=allowed, group_seconds=allowed)
    return [
        *(_channel(channel, listed[channel]) for channel in channels if channel in listed),
        *asked,
    ]


async def _unlisted(client: Client, clock: Clock, channel_id: str) -> CheckResult:
    """https://docs.slack.dev/reference/methods/conversations.info."""
    try:
        answer = await patiently(clock, lambda: client.conversations_info(channel=channel_id))
    except FAILURES as error:
        if read_failure(error).code == "channel_not_found":
            return Area.CHANNEL.problem(channel_id, *_HIDDEN)
        return Area.CHANNEL.unknown(
            channel_id,
            f"Slack doesn't say whether it works: {_why_no_answer(error)}.",
            "Fix the bot token and its scopes, or check again in a minute.",
        )
    return _channel(channel_id, answer.get("channel") or {})


def _channel(channel_id: str, found: Mapping[str, Any]) -> CheckResult:
    name = found.get("name")
    access = access_of(found)
    subject = f"{channel_id} #{name}" if name else channel_id
    if access in _HOW_OPEN:
        return Area.CHANNEL.detail(subject, _HOW_OPEN[access])
    return Area.CHANNEL.problem(subject, *_CLOSED[access])
