"""Finds a post of the bot in Slack's history by its delivery id."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from typing_extensions import override

from bot.domain.deliveries import SURELY_SHOWN
from bot.domain.errors import PostInDoubt, PostPostponed
from bot.ports import ChannelPoster, Clock
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.clients import Identity
from bot.slack.web_api.failures import FAILURES, THREAD_CODES, post_error, read_failure
from bot.slack.web_api.remembered import Bounded

MARK = "mq:"
"""Prefix of the id of a message's first block, before the delivery id."""

CLOCK_ALLOWANCE = timedelta(hours=1)
"""How far before and after an attempt its message is searched for, by Slack's clock.

Slack's answers show how far ours is off; this covers a clock that changed before any answer.
"""

CLOCK_ERROR = timedelta(minutes=1)
"""Smaller differences between Slack's clock and ours are ignored."""

LARGEST_CLOCK_ERROR = timedelta(days=366)
"""Larger differences are taken for errors."""

INVALID_CURSOR = "invalid_cursor"

PAGE = 200
PAGES = 5
"""Pages read in one search; the next search continues. An app that Slack limits to 15 messages and
one request a minute needs many searches."""

NEXT_PAGES_SECONDS = 1.0
READINGS = 1000
"""A reading stays behind if another process finds the post."""

Key = tuple[str, str | None, str | None]
"""A channel, a thread in it, and the delivery if the reading is for that one only."""


@dataclass(slots=True)
class _Reading:
    """How far a channel, or a thread, has been read.

    `began` is by our clock. `seen`: the `ts` of each of our messages read so far, by its
    delivery's id.
    """

    thread_ts: str | None
    since: datetime
    until: datetime
    bounds: tuple[str, str]
    began: datetime
    seen: dict[str, str] = field(default_factory=dict)
    cursor: str | None = None
    is_over: bool = False
    is_continued: bool = False
    # Urgent and other deliveries of a channel may be searched for at the same time.
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class History(ChannelPoster):
    """The part of posting that reads `conversations.history` and `conversations.replies`."""

    def __init__(
        self,
        client: AsyncWebClient,
        channels: SlackChannels,
        clock: Clock,
        identity: Identity,
    ) -> None:
        self._client = client
        self._channels = channels
        self._clock = clock
        self._identity = identity
        self._app_id: str | None = None
        self._readings = Bounded[Key, _Reading](READINGS)
        # The most that Slack's clock was ahead of ours, and behind it.
        self._ahead = self._behind = timedelta()

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
        With `until`, each place is read once for all deliveries.
        """
        channel_id = await self._channels.conversation(channel_id)
        alone = delivery_id if until is None else None
        places = [None] if thread_ts is None else [None, thread_ts]
        keys = [(channel_id, place, alone) for place in places]
        readings = [self._reading(key, since, until or since) for key in keys]
        found = await self._read_on(channel_id, delivery_id, readings)
        if alone is None:
            return found
        for key in keys:
            self._readings.pop(key, None)
        # The newest part of a reading that went on was perhaps read too soon after the attempt.
        begun = [one.began - one.since for one in readings if one.is_continued]
        if found is None and any(timedelta() <= after < SURELY_SHOWN for after in begun):
            raise PostPostponed("history_read_early", retry_after=NEXT_PAGES_SECONDS)
        return found

    def compare_clocks(self, answer: AsyncSlackResponse) -> None:
        """Learn from an answer how far Slack's clock differs from ours."""
        theirs = served_at(answer)
        offset = theirs - self._clock.now() if theirs is not None else timedelta()
        if self._ahead + CLOCK_ERROR < offset <= LARGEST_CLOCK_ERROR:
            self._ahead = offset
        elif self._behind - CLOCK_ERROR > offset >= -LARGEST_CLOCK_ERROR:
            self._behind = offset

    def _reading(self, key: Key, since: datetime, until: datetime) -> _Reading:
        known = self._readings.get(key)
        if (
            known is not None
            and known.until == until
            and known.since <= since
            and not self._is_elsewhere(known)
        ):
            known.is_continued = True
            return known
        bounds = self._bounds(since, until)
        reading = _Reading(key[1], since, until, bounds, began=self._clock.now())
        self._readings[key] = reading
        return reading

    async def _read_on(
        self, channel_id: str, delivery_id: str, readings: Sequence[_Reading]
    ) -> str | None:
        pages = 0
        for reading in readings:
            async with reading.lock:
                while delivery_id not in reading.seen and not reading.is_over:
                    if pages == PAGES:
                        raise PostPostponed("history_goes_on", retry_after=NEXT_PAGES_SECONDS)
                    await self._read_page(channel_id, delivery_id, reading)
                    pages += 1
                if delivery_id in reading.seen:
                    return reading.seen[delivery_id]
        return None

    async def _read_page(self, channel_id: str, delivery_id: str, reading: _Reading) -> None:
        page = await self._page(channel_id, reading)
        if self._is_elsewhere(reading):
            # This answer shows that our clock is off: the next search uses other bounds.
            raise PostPostponed("history_goes_on", retry_after=NEXT_PAGES_SECONDS)
        for message in page.get("messages", []):
            carried = _carried(message)
            if carried and await self._is_ours(message):
                reading.seen |= dict.fromkeys(carried, str(message["ts"]))
        before = reading.cursor
        reading.cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
        reading.is_over = reading.cursor is None
        if reading.cursor and reading.cursor == before and delivery_id not in reading.seen:
            reading.cursor = None
            raise PostInDoubt(INVALID_CURSOR)

    def _is_elsewhere(self, reading: _Reading) -> bool:
        """Whether Slack's clock is off by more than was known when the reading began."""
        return reading.bounds != self._bounds(reading.since, reading.until)

    def _bounds(self, since: datetime, until: datetime) -> tuple[str, str]:
        oldest = since + self._behind - CLOCK_ALLOWANCE
        latest = until + self._ahead + CLOCK_ALLOWANCE
        return f"{oldest.timestamp():.6f}", f"{latest.timestamp():.6f}"

    async def _is_ours(self, message: Mapping[str, Any]) -> bool:
        own, app_id = self._identity, message.get("app_id")
        if message.get("bot_id") == own.bot_id or message.get("user") == own.user_id:
            return True
        if app_id is not None and self._app_id is None:
            try:
                answer = await self._client.bots_info(bot=own.bot_id)
            except FAILURES as error:
                raise post_error(error) from error
            self._app_id = (answer.get("bot") or {}).get("app_id")
        return app_id is not None and app_id == self._app_id

    async def _page(
        self, channel_id: str, reading: _Reading, *, may_join: bool = True
    ) -> Mapping[str, Any]:
        oldest, latest = reading.bounds
        asked: dict[str, Any] = {
            "channel": channel_id,
            "oldest": oldest,
            "latest": latest,
            "inclusive": True,
            "include_all_metadata": True,
            "limit": PAGE,
            "cursor": reading.cursor,
        }
        try:
            if reading.thread_ts is None:
                answer = await self._client.conversations_history(**asked)
            else:
                answer = await self._client.conversations_replies(ts=reading.thread_ts, **asked)
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
            raise post_error(error) from error
        self.compare_clocks(answer)
        return answer.data if isinstance(answer.data, dict) else {}


def served_at(answer: AsyncSlackResponse) -> datetime | None:
    """When Slack answered, by its own clock."""
    try:
        moment = parsedate_to_datetime(answer.headers["Date"])
    except (KeyError, TypeError, ValueError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _carried(message: Mapping[str, Any]) -> set[str]:
    """The delivery id, from the metadata and the first block, whichever is left."""
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    blocks = message.get("blocks") or [{}]
    block_id = str(blocks[0].get("block_id"))
    marked = block_id.removeprefix(MARK) if block_id.startswith(MARK) else None
    return {str(one) for one in (payload.get("delivery_id"), marked) if one}
