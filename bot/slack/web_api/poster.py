"""Posts messages, each with at most one request, finds them again by their ids, and edits them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from structlog.contextvars import bound_contextvars
from typing_extensions import override

from bot.blocks.message import Message, Thread
from bot.kernel.bounded import Bounded
from bot.kernel.clock import Clock
from bot.slack.errors import PostInDoubt, PostPostponed, PostRefused, Refusal
from bot.slack.person import DenialReason, is_for_person, not_a_member
from bot.slack.ports import SURELY_SHOWN, ChannelPoster, PeopleDirectory, Sent
from bot.slack.web_api.channels import SlackChannels, fitted
from bot.slack.web_api.clients import Identity, served_at
from bot.slack.web_api.failures import (
    FAILURES,
    THREAD_CODES,
    field_of,
    post_error,
    read_failure,
)

METADATA_TYPE = "mqbot_delivery"

DELIVERY_BLOCK_PREFIX = "mq:"
"""Prefix of the id of a message's first block, before the delivery id."""

ASKED_AGAIN_SECONDS = 20.0
"""The wait before another edit if Slack hasn't said who reads the channel."""

CLOCK_ALLOWANCE = timedelta(hours=1)
"""How far before and after an attempt its message is searched for, by Slack's clock.

Slack's answers show how far ours is off; this covers a clock that changed before any answer.
"""

CLOCK_STEP = timedelta(minutes=1)
"""How exactly clocks are compared."""

LARGEST_CLOCK_ERROR = timedelta(days=366)
"""Larger differences are taken for errors."""

INVALID_CURSOR = "invalid_cursor"

HISTORY_PER_PAGE = 200
HISTORY_PAGES = 5
"""Pages read in one search; the next search continues. An app that Slack limits to 15 messages and
one request a minute needs many searches."""

NEXT_PAGES_SECONDS = 1.0
HISTORY_READINGS = 1000
"""A reading stays behind if another process finds the post, or for all posts before a take-over."""


class Key(NamedTuple):
    """What a reading is for."""

    channel_id: str
    thread_ts: str | None  #: None for the channel itself
    sought: str  #: the delivery; empty for all deliveries that a take-over left


class _Clocks(NamedTuple):
    """How far Slack's clock differed from ours."""

    behind: timedelta  #: the most that it was behind
    ahead: timedelta  #: the most that it was ahead


@dataclass(slots=True)
class _Reading:
    """How far a channel, or a thread, has been read."""

    thread_ts: str | None
    since: datetime
    until: datetime
    clocks: _Clocks  #: what was known of Slack's clock when it began
    began: datetime  #: by our clock
    #: the `ts` of each of our messages read so far, by its delivery's id
    seen: dict[str, str] = field(default_factory=dict)
    cursor: str | None = None
    is_over: bool = False
    is_continued: bool = False
    # Urgent and other deliveries of a channel may be searched for at the same time.
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class _Addressed(NamedTuple):
    """A message as it may be shown in the channel."""

    channel: str
    message: Message
    is_final: bool  #: False if it lacks buttons because Slack hasn't said who reads the channel


class SlackPoster(ChannelPoster):
    """The delivery id travels in the message's metadata and in its first block's id.

    https://docs.slack.dev/messaging/message-metadata
    """

    def __init__(
        self,
        client: AsyncWebClient,
        channels: SlackChannels,
        clock: Clock,
        identity: Identity,
        people: PeopleDirectory | None = None,
    ) -> None:
        """Only those of `people` who may read get direct messages; without it, everybody does."""
        self._client = client
        self._channels = channels
        self._clock = clock
        self._identity = identity
        self._people = people
        self._readings = Bounded[Key, _Reading](HISTORY_READINGS)
        self._taken_over_at: datetime | None = None
        self._clocks = _Clocks(behind=timedelta(), ahead=timedelta())

    @override
    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> Sent:
        with bound_contextvars(delivery_id=delivery_id):
            to = await self._addressed(channel_id, message)
            blocks, attachments = to.message.wire()
            if blocks:
                blocks[0]["block_id"] = f"{DELIVERY_BLOCK_PREFIX}{delivery_id}"
            try:
                answer = await self._client.chat_postMessage(
                    channel=to.channel,
                    text=to.message.text,
                    blocks=blocks or None,
                    attachments=attachments or None,
                    metadata={
                        "event_type": METADATA_TYPE,
                        "event_payload": {"delivery_id": delivery_id, "updates": message.updates},
                    },
                    unfurl_links=False,
                    unfurl_media=False,
                    thread_ts=thread.ts if thread is not None else None,
                    reply_broadcast=thread.broadcast if thread is not None else None,
                )
            except FAILURES as error:
                raise post_error(error) from error
            self._compare_clocks(answer)
        ts = answer.get("ts")
        if not isinstance(ts, str):
            raise PostInDoubt("answer_without_ts")
        is_alone = thread is not None and not is_in_thread(answer)
        return Sent(ts, to.is_final, is_alone)

    @override
    async def update(self, channel_id: str, message_ts: str, message: Message) -> None:
        """The metadata stays. Without `parse`, chat.update would link names."""
        to = await self._addressed(channel_id, message)
        if not to.is_final:
            raise PostPostponed("channel_not_known", retry_after=ASKED_AGAIN_SECONDS)
        blocks, attachments = to.message.wire()
        try:
            await self._client.chat_update(
                channel=to.channel,
                ts=message_ts,
                text=to.message.text,
                blocks=blocks,
                # Slack would keep the attachments that aren't named.
                attachments=attachments,
                parse="none",
                link_names=False,
            )
        except FAILURES as error:
            raise post_error(error, workspace_wide=True) from error

    async def _addressed(self, channel_id: str, message: Message) -> _Addressed:
        if not is_for_person(channel_id):
            fitting = await fitted(self._channels, channel_id, message)
            return _Addressed(channel_id, fitting.message, fitting.is_final)
        if self._people is not None:
            person = await self._people.person(channel_id)
            # The id is the bot's own record, so there is no claimed team to check.
            home_ids = self._identity.home_ids
            denied = not_a_member(person, min(home_ids), home_ids)
            if denied is not None and denied.reason is DenialReason.UNVERIFIABLE:
                raise PostPostponed("person_not_known")
            if denied is not None:
                raise PostRefused(denied.reason.value, Refusal.PERSON)
        # Nobody else reads a person's direct messages from the bot.
        conversation = await self._channels.conversation(channel_id)
        return _Addressed(conversation, message, is_final=True)

    # Finding

    @override
    async def find(
        self,
        channel_id: str,
        delivery_id: str,
        since: datetime,
        thread_ts: str | None = None,
        until: datetime | None = None,
    ) -> str | None:
        """Joins a public channel to read its history.

        History does not list replies, and a reply may have been posted to the channel instead.
        With `until`, channel and thread are read once for all deliveries.
        """
        channel_id = await self._channels.conversation(channel_id)
        threads = [None] if thread_ts is None else [None, thread_ts]
        if until is not None:
            self._forget_earlier(until)
        sought = delivery_id if until is None else ""
        keys = [Key(channel_id, thread, sought) for thread in threads]
        readings = [self._reading(key, since, until or since) for key in keys]
        found = await self._read_on(channel_id, delivery_id, readings)
        if until is not None:
            return found
        for key in keys:
            self._readings.pop(key, None)
        # The newest part of a reading that went on was perhaps read too soon after the attempt.
        delays = [reading.began - reading.since for reading in readings if reading.is_continued]
        was_early = any(timedelta() <= delay < SURELY_SHOWN for delay in delays)
        if found is None and was_early:
            raise PostPostponed("history_read_early", retry_after=NEXT_PAGES_SECONDS)
        return found

    def _compare_clocks(self, answer: AsyncSlackResponse) -> None:
        """Learn from an answer how far Slack's clock differs from ours."""
        now = self._clock.now()
        difference = (served_at(answer) or now) - now
        offset = round(difference / CLOCK_STEP) * CLOCK_STEP
        if abs(offset) <= LARGEST_CLOCK_ERROR:
            behind, ahead = self._clocks
            self._clocks = _Clocks(min(behind, offset), max(ahead, offset))

    def _forget_earlier(self, taken_over_at: datetime) -> None:
        """Nobody searches any more for what an earlier take-over left."""
        if taken_over_at == self._taken_over_at:
            return
        self._taken_over_at = taken_over_at
        earlier = [key for key in self._readings if not key.sought]
        for key in earlier:
            del self._readings[key]

    def _reading(self, key: Key, since: datetime, until: datetime) -> _Reading:
        known = self._readings.get(key)
        if known is not None and known.since <= since and known.clocks == self._clocks:
            known.is_continued = True
            return known
        reading = _Reading(key.thread_ts, since, until, self._clocks, began=self._clock.now())
        self._readings[key] = reading
        return reading

    async def _read_on(
        self, channel_id: str, delivery_id: str, readings: Sequence[_Reading]
    ) -> str | None:
        pages = 0
        for reading in readings:
            async with reading.lock:
                while delivery_id not in reading.seen and not reading.is_over:
                    # After an answer that shows that our clock is off, the next search looks
                    # elsewhere.
                    if pages == HISTORY_PAGES or reading.clocks != self._clocks:
                        raise PostPostponed("history_goes_on", retry_after=NEXT_PAGES_SECONDS)
                    await self._read_page(channel_id, reading)
                    pages += 1
                if delivery_id in reading.seen:
                    return reading.seen[delivery_id]
        return None

    async def _read_page(self, channel_id: str, reading: _Reading) -> None:
        page = await self._page(channel_id, reading)
        if reading.clocks != self._clocks:
            return
        for message in page.get("messages", []):
            own = self._identity
            if message.get("bot_id") == own.bot_id or message.get("user") == own.user_id:
                reading.seen |= dict.fromkeys(_carried(message), str(message["ts"]))
        reading.cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
        reading.is_over = reading.cursor is None

    async def _page(
        self, channel_id: str, reading: _Reading, *, may_join: bool = True
    ) -> Mapping[str, Any]:
        oldest = reading.since + reading.clocks.behind - CLOCK_ALLOWANCE
        latest = reading.until + reading.clocks.ahead + CLOCK_ALLOWANCE
        asked: dict[str, Any] = {
            "channel": channel_id,
            "oldest": f"{oldest.timestamp():.6f}",
            "latest": f"{latest.timestamp():.6f}",
            "inclusive": True,
            "include_all_metadata": True,
            "limit": HISTORY_PER_PAGE,
            "cursor": reading.cursor,
        }
        try:
            if reading.thread_ts is None:
                answer = await self._client.conversations_history(**asked)
            else:
                answer = await self._client.conversations_replies(ts=reading.thread_ts, **asked)
            # Without a list, nobody knows what was posted.
            field_of(answer, "messages")
        except FAILURES as error:
            code = read_failure(error).code
            if code in THREAD_CODES:
                # Nothing can have been posted there.
                return {}
            if code == "not_in_channel" and may_join:
                await self._channels.join(channel_id)
                return await self._page(channel_id, reading, may_join=False)
            if code == INVALID_CURSOR:
                reading.cursor = None
                raise PostPostponed(code) from error
            raise post_error(error) from error
        self._compare_clocks(answer)
        return answer.data if isinstance(answer.data, dict) else {}


def is_in_thread(answer: AsyncSlackResponse) -> bool:
    """Whether a reply is in its thread, by the answer to it.

    Slack posts a reply to a deleted message to the channel, without an error; only `thread_ts` is
    missing from the answer (https://github.com/slack-go/slack/issues/1571).
    """
    message = answer.get("message")
    return not isinstance(message, Mapping) or message.get("thread_ts") is not None


def _carried(message: Mapping[str, Any]) -> set[str]:
    """The delivery id, from the metadata and the first block, whichever is left."""
    found: set[str] = set()
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    in_metadata = payload.get("delivery_id")
    if in_metadata:
        found.add(str(in_metadata))
    blocks = message.get("blocks") or [{}]
    block_id = str(blocks[0].get("block_id"))
    in_block = block_id.removeprefix(DELIVERY_BLOCK_PREFIX)
    if in_block and in_block != block_id:
        found.add(in_block)
    return found
