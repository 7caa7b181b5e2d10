"""Slack's data on channels and direct messages."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, NamedTuple

from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.blocks.blocks import has_controls, without_controls
from bot.blocks.message import Message
from bot.kernel.bounded import Bounded
from bot.kernel.clock import Clock
from bot.kernel.pacing import TokenBucket
from bot.kernel.sharing import ChannelSharing
from bot.slack.errors import PostError, PostPostponed, PostRefused, Refusal
from bot.slack.person import PersonUnknown, is_for_person
from bot.slack.ports import Audience, ChannelAccess, ChannelDirectory
from bot.slack.web_api.failures import FAILURES, field_of, post_error, read_failure
from bot.slack.web_api.remembered import REMEMBERED_FOR, REMEMBERED_MOST, Remembered

logger = logging.getLogger(__name__)

LOOKUP_SECONDS = 2.0
"""How long a post waits to find out whether its channel is shared."""

SHARED_REMEMBERED = timedelta(hours=6)
"""All channels are listed again every few minutes, and events report changes."""

ASKED_AT_ONCE = 8
ASKED_PER_SECOND = 0.7
"""Below the fifty a minute that Slack grants for conversations.info
(https://docs.slack.dev/apis/web-api/rate-limits)."""

OPEN_SECONDS = 5.0
"""For opening a direct conversation; the post itself follows, before its claim expires."""

NOT_GRANTED = "missing_scope"
CHANNELS_PER_PAGE = 999
CHANNEL_PAGES = 20


@dataclass(frozen=True, slots=True)
class _Channel:
    """What Slack says of a channel."""

    access: ChannelAccess | None  #: None for a public channel, which the bot joins to post
    is_shared: bool  #: with another organisation, or about to be
    name: str | None = None  #: empty for a private channel, whose name isn't for everybody

    @property
    def audience(self) -> Audience:
        return Audience.SHARED if self.is_shared else Audience.OWN


HIDDEN = PersonUnknown("channel_not_found")
"""Slack hides private channels and other people's conversations from a bot outside."""

UNREADABLE_CHANNEL = _Channel(ChannelAccess.OPEN, is_shared=True)
"""A channel of a kind that the bot has no scope to look at: posts go there, without buttons."""


class SlackChannels(ChannelDirectory):
    """Reads `users.conversations`, which lists many channels, and `conversations.info`.

    Joins public channels, to be able to read its posts back.
    https://docs.slack.dev/reference/methods/conversations.info
    """

    def __init__(self, client: AsyncWebClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._channels = Remembered(self._ask, clock, lifetime=SHARED_REMEMBERED)
        self._directs = Bounded[str, str](REMEMBERED_MOST)
        self._events: Mapping[str, ChannelSharing] = {}
        self._asking = TokenBucket(ASKED_AT_ONCE, ASKED_PER_SECOND)

    @override
    async def learn(self) -> None:
        asked_at = self._clock.now()
        async for channel in own_channels(self._client):
            self._channels.put(str(channel.get("id")), _described(channel), asked_at)

    @override
    def wait(self, channel_id: str) -> float:
        if self._is_open(channel_id):
            return 0
        return self._asking.wait(self._clock.now()).total_seconds()

    @override
    async def access(self, channel_id: str) -> ChannelAccess:
        if self._is_open(channel_id):
            return ChannelAccess.OPEN
        channel = await self._channels.ask(channel_id)
        if channel == HIDDEN:
            is_direct = channel_id.startswith("D")
            return ChannelAccess.DIRECT if is_direct else ChannelAccess.INVITE
        if isinstance(channel, PersonUnknown):
            return ChannelAccess.UNKNOWN
        if channel.access is not None:
            return channel.access
        if not await self.join(channel_id):
            return ChannelAccess.INVITE
        self._channels.put(channel_id, replace(channel, access=ChannelAccess.OPEN))
        return ChannelAccess.OPEN

    @override
    async def audience(self, channel_id: str) -> Audience:
        channel = self._channels.known(channel_id)
        if channel is not None:
            return channel.audience
        asked: _Channel | PersonUnknown | None = None
        if not self._asking.wait(self._clock.now()):
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOKUP_SECONDS):
                    asked = await self._channels.ask(channel_id)
        if asked == HIDDEN:
            # It may be visible at any moment.
            self._channels.forget(channel_id)
            return Audience.SHARED
        # Without an answer, the last one counts: a card would otherwise lose its buttons until its
        # next edit.
        channel = asked if isinstance(asked, _Channel) else self._channels.last(channel_id)
        return channel.audience if channel is not None else Audience.UNKNOWN

    async def name(self, channel_id: str) -> str | None:
        """The name of a public channel, empty for a private one; None if Slack doesn't say."""
        found: _Channel | PersonUnknown | None = None
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOKUP_SECONDS):
                found = await self._channels.get(channel_id)
        if found == HIDDEN:
            self._channels.forget(channel_id)
            return ""
        return found.name if isinstance(found, _Channel) else None

    @override
    def learn_sharing(self, events: Mapping[str, ChannelSharing]) -> Collection[str]:
        before = self._events
        changed = [
            channel_id for channel_id, event in events.items() if before.get(channel_id) != event
        ]
        self._events = dict(events)
        for channel_id in changed:
            is_shared = events[channel_id].is_shared
            extra = {
                "action": "channel_sharing_changed",
                "channel": channel_id,
                "is_shared": is_shared,
            }
            logger.info("a channel was shared or unshared", extra=extra)
            if is_shared:
                self._remember_shared(channel_id)
            else:
                # It may have been shared again meanwhile: Slack is asked when it matters.
                self._channels.forget(channel_id)
        return changed

    def _remember_shared(self, channel_id: str) -> None:
        last = self._channels.last(channel_id) or _Channel(ChannelAccess.INVITE, is_shared=True)
        self._channels.put(channel_id, replace(last, is_shared=True))

    async def conversation(self, address: str) -> str:
        """The conversation with a person; a channel's id stays as it is. Raises PostError.

        A post can be addressed to a person, but only the conversation's id, which never changes,
        can be read back (https://docs.slack.dev/reference/methods/conversations.open).
        """
        if not is_for_person(address):
            return address
        if address not in self._directs:
            try:
                async with asyncio.timeout(OPEN_SECONDS):
                    answer = await self._client.conversations_open(users=address)
                found = str(field_of(answer, "channel", "id"))
            except FAILURES as error:
                raise _unopened(error) from error
            self._directs[address] = found
        return self._directs[address]

    async def join(self, channel_id: str) -> bool:
        """Join a public channel; False when Slack refuses."""
        try:
            await self._client.conversations_join(channel=channel_id)
        except FAILURES as error:
            code = read_failure(error).code
            extra = {"action": "channel_not_joined", "channel": channel_id, "error": code}
            logger.warning("channel not joined", extra=extra)
            return False
        return True

    def _is_open(self, channel_id: str) -> bool:
        """An obstacle may be removed at any moment, so only membership is believed for a while."""
        channel = self._channels.known(channel_id, within=REMEMBERED_FOR)
        return channel is not None and channel.access is ChannelAccess.OPEN

    async def _ask(self, channel_id: str) -> _Channel | PersonUnknown:
        self._asking.take(self._clock.now())
        try:
            answer = await self._client.conversations_info(channel=channel_id)
            return _described(field_of(answer, "channel"))
        except FAILURES as error:
            failure = read_failure(error)
        if failure.code == NOT_GRANTED:
            return UNREADABLE_CHANNEL
        if failure.is_for_rate:
            wait = timedelta(seconds=failure.retry_after or 0)
            self._asking.pause_for(self._clock.now(), wait)
        elif failure.code != HIDDEN.code:
            extra = {"action": "channel_not_read", "channel": channel_id, "error": failure.code}
            logger.warning("channel not read", extra=extra)
        return PersonUnknown(failure.code)


def _unopened(error: Exception) -> PostError:
    failure = read_failure(error)
    refused = post_error(error)
    if failure.code == NOT_GRANTED:
        # Without the scope im:write, nobody gets direct messages.
        return PostRefused(NOT_GRANTED, Refusal.PERSON)
    if isinstance(refused, PostRefused):
        if refused.refusal is Refusal.MESSAGE:
            return PostRefused(refused.code, Refusal.PERSON)
        return refused
    # Nothing was posted, and a limit of this method doesn't concern posts.
    return PostPostponed(failure.code, retry_after=failure.retry_after)


class FittedMessage(NamedTuple):
    """A message as a channel may see it."""

    message: Message
    is_final: bool  #: False while Slack doesn't say who reads the channel


async def fitted(
    channels: ChannelDirectory, channel_id: str | None, message: Message
) -> FittedMessage:
    """The message as the channel may see it.

    It has no buttons in an externally shared channel (https://docs.slack.dev/apis/slack-connect),
    and none while Slack doesn't say who reads the channel.
    """
    if not has_controls(message.blocks):
        return FittedMessage(message, is_final=True)
    audience = Audience.SHARED
    if channel_id is not None:
        audience = await channels.audience(channel_id)
    if audience is Audience.OWN:
        return FittedMessage(message, is_final=True)
    is_known = audience is Audience.SHARED
    return FittedMessage(without_controls(message), is_final=is_known)


async def own_channels(client: AsyncWebClient) -> AsyncIterator[Mapping[str, Any]]:
    """The channels that the bot is in, until Slack doesn't answer.

    https://docs.slack.dev/reference/methods/users.conversations
    """
    cursor: str | None = None
    types = ["public_channel", "private_channel"]
    for _ in range(CHANNEL_PAGES):
        try:
            page = await client.users_conversations(
                types=types, limit=CHANNELS_PER_PAGE, cursor=cursor
            )
        except FAILURES as error:
            if read_failure(error).code == NOT_GRANTED and len(types) > 1:
                # Without the scope groups:read.
                types.remove("private_channel")
                continue
            extra = {"action": "channels_not_listed", "error": read_failure(error).code}
            logger.info("channels not listed", extra=extra)
            return
        for channel in page.get("channels") or []:
            # Slack doesn't say so of each.
            yield {**channel, "is_member": True}
        cursor = (page.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            return


def access_of(channel: Mapping[str, Any]) -> ChannelAccess | None:
    """How the bot can post in a channel that Slack describes; None if it has to join first."""
    if channel.get("is_archived"):
        return ChannelAccess.CLOSED
    if channel.get("is_im") or channel.get("is_member"):
        return ChannelAccess.OPEN
    if channel.get("is_private") or channel.get("is_mpim"):
        return ChannelAccess.INVITE
    return None


def _described(channel: Mapping[str, Any]) -> _Channel:
    is_shared = bool(channel.get("is_ext_shared") or channel.get("is_pending_ext_shared"))
    is_private = channel.get("is_private") or channel.get("is_im") or channel.get("is_mpim")
    name = "" if is_private else channel.get("name")
    if not isinstance(name, str):
        name = None
    return _Channel(access_of(channel), is_shared, name)
