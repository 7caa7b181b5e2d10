"""What Slack tells of its channels and conversations, remembered."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.domain.channels import ChannelAccess
from bot.domain.deliveries import is_person
from bot.domain.errors import PostInDoubt, PostPostponed
from bot.domain.inspection import ChannelState
from bot.domain.pacing import TokenBucket
from bot.domain.permissions import Unanswered
from bot.ports import ChannelDirectory, Clock
from bot.slack.web_api.failures import CHANNEL_CODES, FAILURES, Failure, post_error, read_failure
from bot.slack.web_api.remembered import Remembered

logger = logging.getLogger(__name__)

LOOKUP_SECONDS = 2.0
"""How long a post waits to hear whether its channel is shared."""

SHARED_REMEMBERED = timedelta(hours=6)
"""Listed again every few minutes, and changed at once by the events that tell of it."""

ASKED_AT_ONCE, ASKED_PER_SECOND = 8, 0.7
"""Under the fifty a minute that Slack grants for conversations.info
(https://docs.slack.dev/apis/web-api/rate-limits)."""

CHANNELS_PER_PAGE = 999
PAGES = 20


class SlackChannels(ChannelDirectory):
    """Reads `users.conversations`, which tells of many at once, and `conversations.info`.

    Joins public channels to be able to read back what it posted.
    https://docs.slack.dev/reference/methods/conversations.info
    """

    def __init__(self, client: AsyncWebClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._access = Remembered(self._ask_access, clock, keeps=_is_open)
        self._shared = Remembered(self._ask_shared, clock, kept=SHARED_REMEMBERED)
        self._asking = TokenBucket(ASKED_AT_ONCE, ASKED_PER_SECOND)
        self._limited_until = 0.0

    @override
    async def learn(self) -> None:
        async for channel in own_channels(self._client):
            channel_id = str(channel.get("id"))
            self._shared.put(channel_id, _is_shared(channel))
            if not channel.get("is_archived"):
                self._access.put(channel_id, ChannelAccess.OPEN)

    @override
    def wait(self, channel_id: str) -> float:
        if self._access.known(channel_id) is not None:
            return 0
        limited = self._limited_until - self._clock.monotonic()
        return max(limited, self._asking.wait(self._clock.now()).total_seconds())

    @override
    async def access(self, channel_id: str) -> ChannelAccess:
        access = await self._access.get(channel_id)
        return ChannelAccess.UNKNOWN if isinstance(access, Unanswered) else access

    @override
    async def is_shared(self, channel_id: str) -> bool | None:
        # What cannot be looked at counts as shared: private channels that the bot is not in, and
        # the conversations of other people. A moment without an answer makes no channel so, or a
        # card would be without its buttons until its next edit.
        shared = await self._shared.get(channel_id)
        if isinstance(shared, Unanswered):
            if shared.code in CHANNEL_CODES:
                self._shared.forget(channel_id)
                return True
            return self._shared.last(channel_id)
        return shared

    def heard_shared(self, channel_id: str, *, is_shared: bool) -> None:
        """Slack tells by itself that a channel is shared now, or not any more."""
        logger.info(
            "a channel is shared now, or not any more",
            extra={
                "action": "channel_sharing_heard",
                "channel": channel_id,
                "is_shared": is_shared,
            },
        )
        self._shared.put(channel_id, is_shared)

    async def join(self, channel_id: str) -> bool:
        """Join a public channel; False when Slack refuses."""
        try:
            await self._client.conversations_join(channel=channel_id)
        except FAILURES as error:
            logger.warning(
                "channel not joined",
                extra={
                    "action": "channel_not_joined",
                    "channel": channel_id,
                    "error": read_failure(error).code,
                },
            )
            return False
        return True

    async def _ask_shared(self, channel_id: str) -> bool | Unanswered:
        if self._asking.wait(self._clock.now()):
            return Unanswered("asked_too_often")
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                channel = await self._ask(channel_id)
        except FAILURES as error:
            return Unanswered(self._failed(error).code)
        return _is_shared(channel)

    async def _ask_access(self, channel_id: str) -> ChannelAccess | Unanswered:
        try:
            channel = await self._ask(channel_id)
        except FAILURES as error:
            return self._refused(channel_id, self._failed(error))
        self._shared.put(channel_id, _is_shared(channel))
        match state_of(channel):
            case ChannelState.ARCHIVED:
                return ChannelAccess.CLOSED
            case ChannelState.MEMBER:
                return ChannelAccess.OPEN
            case ChannelState.PUBLIC if await self.join(channel_id):
                return ChannelAccess.OPEN
            case _:
                return ChannelAccess.INVITE

    async def _ask(self, channel_id: str) -> Mapping[str, Any]:
        self._asking.take(self._clock.now())
        answer = await self._client.conversations_info(channel=channel_id)
        return answer.get("channel") or {}

    def _failed(self, error: Exception) -> Failure:
        failure = read_failure(error)
        if failure.is_for_rate:
            self._limited_until = self._clock.monotonic() + (failure.retry_after or 0)
        return failure

    def _refused(self, channel_id: str, failure: Failure) -> ChannelAccess | Unanswered:
        if failure.code == "channel_not_found":
            # Slack hides private channels and other people's conversations from a bot outside.
            is_direct = channel_id.startswith("D")
            return ChannelAccess.DIRECT if is_direct else ChannelAccess.INVITE
        if not failure.is_for_rate:
            logger.warning(
                "channel not read",
                extra={"action": "channel_not_read", "channel": channel_id, "error": failure.code},
            )
        return Unanswered(failure.code)


async def own_channels(client: AsyncWebClient) -> AsyncIterator[Mapping[str, Any]]:
    """The channels that the bot is in, as far as Slack lists them.

    https://docs.slack.dev/reference/methods/users.conversations
    """
    cursor: str | None = None
    for _ in range(PAGES):
        try:
            page = await client.users_conversations(
                types="public_channel,private_channel", limit=CHANNELS_PER_PAGE, cursor=cursor
            )
        except FAILURES as error:
            logger.info(
                "channels not listed",
                extra={"action": "channels_not_listed", "error": read_failure(error).code},
            )
            return
        for channel in page.get("channels") or []:
            yield channel
        cursor = (page.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            return


def state_of(channel: Mapping[str, Any]) -> ChannelState:
    """How the bot stands in a channel that Slack describes."""
    if channel.get("is_archived"):
        return ChannelState.ARCHIVED
    if channel.get("is_im") or channel.get("is_member"):
        return ChannelState.MEMBER
    is_closed = channel.get("is_private") or channel.get("is_mpim")
    return ChannelState.INVITE if is_closed else ChannelState.PUBLIC


def _is_shared(channel: Mapping[str, Any]) -> bool:
    return bool(channel.get("is_ext_shared") or channel.get("is_pending_ext_shared"))


def _is_open(access: ChannelAccess) -> bool:
    """What keeps the bot out may be mended at any moment, and is asked about anew."""
    return access is ChannelAccess.OPEN


REMEMBERED_CONVERSATIONS = 10_000
OPEN_SECONDS = 5.0
"""The post itself follows, within the time that its claim lasts."""


class DirectChannels:
    """Opened once and remembered: what one person's conversation is called never changes.

    A post may be addressed to the person, but only the conversation's own id can be read back
    (https://docs.slack.dev/reference/methods/conversations.open).
    """

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._known: dict[str, str] = {}

    async def channel(self, address: str) -> str:
        """The conversation with a person; a channel's id as it is. Raises PostError."""
        if not is_person(address):
            return address
        known = self._known.get(address)
        if known is None:
            known = await self._open(address)
            if len(self._known) >= REMEMBERED_CONVERSATIONS:
                self._known.clear()
            self._known[address] = known
        return known

    async def _open(self, user_id: str) -> str:
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                answer = await self._client.conversations_open(users=user_id)
        except FAILURES as error:
            failure = post_error(error)
            if isinstance(failure, PostInDoubt):
                # Whether the conversation is open now or not: nothing was posted.
                raise PostPostponed(failure.code) from error
            if isinstance(failure, PostPostponed):
                # A limit of this method's own: Slack takes posts to everybody else.
                raise PostPostponed(failure.code, retry_after=failure.retry_after) from error
            raise failure from error
        channel_id = (answer.get("channel") or {}).get("id")
        if not isinstance(channel_id, str):
            raise PostPostponed("answer_without_channel")
        return channel_id
