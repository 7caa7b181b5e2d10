"""Asks Slack how the app stands there, and changes nothing."""

from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.inspection import BotStanding, ChannelStanding, ChannelState, InspectionFailed
from bot.ports import Clock
from bot.slack.web_api.channels import own_channels, state_of
from bot.slack.web_api.clients import granted_scopes
from bot.slack.web_api.failures import CREDENTIAL_CODES, FAILURES, read_failure
from bot.slack.web_api.history import served_at
from bot.slack.web_api.limits import DEFAULT_WAIT_SECONDS


class WebApiInspection:
    """Each method asks the Web API and raises only InspectionFailed."""

    def __init__(self, client: AsyncWebClient, app_token: SecretStr | None, clock: Clock) -> None:
        self._client = client
        self._app_token = app_token
        self._clock = clock

    async def bot(self) -> BotStanding:
        """https://docs.slack.dev/reference/methods/auth.test; the scopes come in a header."""
        try:
            answer = await self._client.auth_test()
        except FAILURES as error:
            raise _failed(error) from error
        theirs = served_at(answer)
        return BotStanding(
            bot_name=str(answer.get("user")),
            team_name=str(answer.get("team")),
            scopes=granted_scopes(answer),
            ahead=self._clock.now() - theirs if theirs is not None else None,
            reports_guests=await self._reports_guests(str(answer.get("user_id"))),
        )

    async def _reports_guests(self, user_id: str) -> bool | None:
        """https://docs.slack.dev/reference/methods/users.info, of the bot itself."""
        try:
            answer = await self._client.users_info(user=user_id)
        except FAILURES:
            return None
        user: dict[str, Any] = answer.get("user") or {}
        return user.get("is_restricted") is not None and user.get("is_ultra_restricted") is not None

    async def app_token(self) -> bool:
        """Whether the app-level token opens connections; False when none is used.

        https://docs.slack.dev/reference/methods/apps.connections.open; nothing is connected.
        """
        if self._app_token is None:
            return False
        try:
            await self._client.apps_connections_open(app_token=self._app_token.get_secret_value())
        except FAILURES as error:
            raise _failed(error) from error
        return True

    async def channel(self, channel_id: str) -> ChannelStanding:
        """https://docs.slack.dev/reference/methods/conversations.info; waits for Slack's limit."""
        while True:
            try:
                answer = await self._client.conversations_info(channel=channel_id)
            except FAILURES as error:
                failure = read_failure(error)
                if failure.code == "channel_not_found":
                    return ChannelStanding(ChannelState.HIDDEN)
                if not failure.is_for_rate:
                    raise _failed(error) from error
                await self._clock.sleep(failure.retry_after or DEFAULT_WAIT_SECONDS)
            else:
                channel: dict[str, Any] = answer.get("channel") or {}
                return ChannelStanding(state_of(channel), channel.get("name"))

    async def channels(self) -> Mapping[str, ChannelStanding]:
        """All channels that the bot is in, by id, in few calls."""
        return {
            str(one.get("id")): ChannelStanding(state_of(one), one.get("name"))
            async for one in own_channels(self._client)
        }


def _failed(error: Exception) -> InspectionFailed:
    code = read_failure(error).code
    return InspectionFailed(code, is_refusal=code in CREDENTIAL_CODES)
