"""Posts to channels, at most one request a post, and finds a post again by its delivery id."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from structlog.contextvars import bound_contextvars
from typing_extensions import override

from bot.domain.deliveries import SURELY_SHOWN, is_person
from bot.domain.errors import PostError, PostInDoubt, PostPostponed
from bot.domain.message import Message, Thread
from bot.messages.blocks import has_controls, without_controls
from bot.ports import ChannelPoster, Clock
from bot.slack.web_api.channels import DirectChannels, SlackChannels
from bot.slack.web_api.failures import FAILURES, THREAD_CODES, post_error, read_failure
from bot.slack.web_api.people import Recipients

METADATA_TYPE = "mqbot_delivery"
MARK = "mq:"
"""What the id of a message's first block begins with; the delivery's id follows."""

CLOCK_ALLOWANCE = timedelta(hours=1)
"""How far around the time of an attempt its message is looked for, by Slack's clock.

Slack's clock gives a message its `ts`. How far ours is off is learned from Slack's answers; what
is left is a clock that was changed before any answer showed that it was off.
"""

CLOCK_ERROR = timedelta(minutes=1)
"""A smaller difference between Slack's clock and ours does not count."""

LARGEST_CLOCK_ERROR = timedelta(days=366)
"""A larger one is not believed."""

INVALID_CURSOR = "invalid_cursor"

PAGE = 200
PAGES = 5
"""So many are read in one look; the next look continues. An app that Slack limits to 15 messages
and one request a minute needs many."""

NEXT_PAGES_SECONDS = 1.0
SEARCHES = 1000
"""So many are remembered. A search whose post was found by another process stays behind."""


@dataclass(slots=True)
class _Search:
    """How far the search for a post has come: the first of `places` is read next, from `cursor`.

    None stands for the channel itself. `began` is by our clock. `seen`: the `ts` of each of our
    messages read so far, by its delivery's id.
    """

    places: list[str | None]
    oldest: str
    latest: str
    began: datetime
    since: datetime
    until: datetime
    seen: dict[str, str] = field(default_factory=dict)
    cursor: str | None = None
    is_continued: bool = False
    # The urgent deliveries of a channel and the others may be looked for at the same time.
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    def go_on(self, page: Mapping[str, Any]) -> None:
        """To the page after this one."""
        before = self.cursor
        self.cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
        if self.cursor is None:
            self.places.pop(0)
        elif self.cursor == before:
            raise PostInDoubt(INVALID_CURSOR)


ASKED_AGAIN_SECONDS = 20.0
"""How soon an edit is tried again when Slack has not said who reads the channel."""


class SlackPoster(ChannelPoster):
    """The delivery id travels in the message's metadata and in its first block's id.

    https://docs.slack.dev/messaging/message-metadata
    """

    def __init__(
        self,
        client: AsyncWebClient,
        channels: SlackChannels,
        clock: Clock,
        bot_id: str,
        user_id: str,
        recipients: Recipients | None = None,
    ) -> None:
        """`recipients` decides on direct messages; without it everybody is written to.

        `bot_id` and `user_id` are the bot's own, by which it knows its messages.
        """
        self._recipients = recipients
        self._client = client
        self._channels = channels
        self._clock = clock
        self._directs = DirectChannels(client)
        self._bot_id = bot_id
        self._user_id = user_id
        self._without_buttons: set[tuple[str, str]] = set()
        self._app_id: str | None = None
        self._searches: dict[tuple[str, str, datetime, str | None], _Search] = {}
        self._read_before: dict[tuple[str, str | None], _Search] = {}
        # How far Slack's clock was ahead of ours, and behind it, at most.
        self._ahead = self._behind = timedelta()

    @override
    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> str:
        with bound_contextvars(delivery_id=delivery_id):
            channel, message, is_whole = await self._addressed(channel_id, message)
            try:
                answer = await self._client.chat_postMessage(
                    channel=channel,
                    text=message.text,
                    blocks=_marked(message, delivery_id),
                    metadata={
                        "event_type": METADATA_TYPE,
                        "event_payload": {"delivery_id": delivery_id, "told": message.told},
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
        if not is_whole:
            self._without_buttons.add((channel_id, ts))
        return ts

    @override
    def lacks_buttons(self, channel_id: str, message_ts: str) -> bool:
        lacking = (channel_id, message_ts) in self._without_buttons
        self._without_buttons.discard((channel_id, message_ts))
        return lacking

    @override
    async def find(
        self,
        channel_id: str,
        delivery_id: str,
        since: datetime,
        thread_ts: str | None = None,
        until: datetime | None = None,
    ) -> str | None:
        """Raises PostError when the history cannot be read; joins a public channel for that.

        History does not list replies, and a reply may have been posted to the channel instead.
        """
        channel_id = await self._directs.channel(channel_id)
        if until is not None:
            return await self._find_until(channel_id, delivery_id, since, thread_ts, until)
        key = (channel_id, delivery_id, since, thread_ts)
        search = self._searches.pop(key, None)
        if search is None or self._is_elsewhere(search):
            search = self._search(since, since, *_places(thread_ts))
        try:
            found = await self._read_on(channel_id, delivery_id, search)
        except PostError as error:
            if str(error) != INVALID_CURSOR:
                self._remember(key, search)
            raise
        if found is not None:
            return found
        if search.places:
            self._remember(key, search)
            raise PostPostponed("history_goes_on", retry_after=NEXT_PAGES_SECONDS)
        if search.is_continued and timedelta() <= search.began - since < SURELY_SHOWN:
            # Its newest part was read too soon after the attempt to be sure.
            raise PostPostponed("history_read_early", retry_after=NEXT_PAGES_SECONDS)
        return None

    async def _find_until(
        self,
        channel_id: str,
        delivery_id: str,
        since: datetime,
        thread_ts: str | None,
        until: datetime,
    ) -> str | None:
        """Each place is read once, whichever deliveries are looked for in it."""
        for place in _places(thread_ts):
            key = (channel_id, place)
            search = self._read_before.get(key)
            if (
                search is None
                or search.until != until
                or search.since > since
                or self._is_elsewhere(search)
            ):
                if len(self._read_before) >= SEARCHES:
                    self._read_before.clear()
                search = self._read_before[key] = self._search(since, until, place)
            try:
                async with search.reading:
                    await self._read_on(channel_id, None, search)
            except PostError:
                if search.cursor is not None:
                    # The cursor may be what Slack refuses.
                    self._read_before.pop(key, None)
                raise
            if search.places:
                raise PostPostponed("history_goes_on", retry_after=NEXT_PAGES_SECONDS)
            if delivery_id in search.seen:
                return search.seen[delivery_id]
        return None

    async def _read_on(
        self, channel_id: str, delivery_id: str | None, search: _Search
    ) -> str | None:
        """Read until the message is found; without `delivery_id`, all there is."""
        for _ in range(PAGES if search.places else 0):
            page = await self._history(channel_id, search)
            if self._is_elsewhere(search):
                # This answer shows that our clock is off: the message is elsewhere.
                return None
            await self._collect(page, search.seen)
            if delivery_id in search.seen:
                return search.seen[delivery_id]
            search.go_on(page)
            if not search.places:
                break
        return None

    def _is_elsewhere(self, search: _Search) -> bool:
        """Whether Slack's clock is off by more than was known when the search began."""
        return (search.oldest, search.latest) != self._bounds(search.since, search.until)

    def _bounds(self, since: datetime, until: datetime) -> tuple[str, str]:
        oldest = since + self._behind - CLOCK_ALLOWANCE
        latest = until + self._ahead + CLOCK_ALLOWANCE
        return f"{oldest.timestamp():.6f}", f"{latest.timestamp():.6f}"

    def _search(self, since: datetime, until: datetime, *places: str | None) -> _Search:
        bounds = self._bounds(since, until)
        return _Search([*places], *bounds, began=self._clock.now(), since=since, until=until)

    def _remember(self, key: tuple[str, str, datetime, str | None], search: _Search) -> None:
        if len(self._searches) >= SEARCHES:
            self._searches.clear()
        search.is_continued = True
        self._searches[key] = search

    async def _collect(self, page: Mapping[str, Any], seen: dict[str, str]) -> None:
        for message in page.get("messages", []):
            carried = _carried(message)
            if carried and await self._is_ours(message):
                seen |= dict.fromkeys(carried, str(message["ts"]))

    async def _is_ours(self, message: Mapping[str, Any]) -> bool:
        if message.get("bot_id") == self._bot_id or message.get("user") == self._user_id:
            return True
        app_id = message.get("app_id")
        return app_id is not None and app_id == await self._own_app_id()

    async def _own_app_id(self) -> str | None:
        if self._app_id is None:
            try:
                answer = await self._client.bots_info(bot=self._bot_id)
            except FAILURES as error:
                raise post_error(error) from error
            self._app_id = (answer.get("bot") or {}).get("app_id")
        return self._app_id

    def _compare_clocks(self, answer: AsyncSlackResponse) -> None:
        try:
            offset = parsedate_to_datetime(answer.headers["Date"]) - self._clock.now()
        except (KeyError, TypeError, ValueError):
            return
        if abs(offset) > LARGEST_CLOCK_ERROR:
            return
        if offset > self._ahead + CLOCK_ERROR:
            self._ahead = offset
        elif offset < self._behind - CLOCK_ERROR:
            self._behind = offset

    @override
    async def update(self, channel_id: str, message_ts: str, message: Message) -> None:
        """The metadata stays; `parse` has to be said, chat.update would link names by itself."""
        channel, message, is_whole = await self._addressed(channel_id, message)
        if not is_whole:
            raise PostPostponed("channel_not_known", retry_after=ASKED_AGAIN_SECONDS)
        try:
            await self._client.chat_update(
                channel=channel,
                ts=message_ts,
                text=message.text,
                blocks=[dict(block) for block in message.blocks],
                parse="none",
                link_names=False,
            )
        except FAILURES as error:
            raise post_error(error, workspace_wide=True) from error

    async def _addressed(self, channel_id: str, message: Message) -> tuple[str, Message, bool]:
        """The channel to post to, with what is fit for it.

        The last is False where that leaves buttons out because nobody knows yet who reads them.
        """
        if is_person(channel_id):
            if self._recipients is not None:
                await self._recipients.require(channel_id)
            # Nobody but the person themselves reads the bot's messages to them.
            return await self._directs.channel(channel_id), message, True
        if not has_controls(message.blocks):
            return channel_id, message, True
        is_shared = await self._channels.is_shared(channel_id)
        if is_shared is False:
            return channel_id, message, True
        return channel_id, without_controls(message), is_shared is not None

    async def _history(self, channel_id: str, search: _Search) -> Mapping[str, Any]:
        try:
            return await self._read(channel_id, search)
        except FAILURES as error:
            if read_failure(error).code in THREAD_CODES:
                # Nothing can have been posted there.
                return {}
            if read_failure(error).code != "not_in_channel":
                raise post_error(error) from error
        await self._channels.join(channel_id)
        try:
            return await self._read(channel_id, search)
        except FAILURES as error:
            raise post_error(error) from error

    async def _read(self, channel_id: str, search: _Search) -> Mapping[str, Any]:
        asked: dict[str, Any] = {
            "channel": channel_id,
            "oldest": search.oldest,
            "latest": search.latest,
            "inclusive": True,
            "include_all_metadata": True,
            "limit": PAGE,
        }
        if search.cursor:
            asked["cursor"] = search.cursor
        thread_ts = search.places[0]
        if thread_ts is None:
            answer = await self._client.conversations_history(**asked)
        else:
            answer = await self._client.conversations_replies(ts=thread_ts, **asked)
        self._compare_clocks(answer)
        return answer.data if isinstance(answer.data, dict) else {}


def _places(thread_ts: str | None) -> list[str | None]:
    return [None] if thread_ts is None else [None, thread_ts]


def _carried(message: Mapping[str, Any]) -> set[str]:
    """The delivery's id, from wherever the message still has it."""
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    blocks = message.get("blocks") or [{}]
    block_id = str(blocks[0].get("block_id"))
    marked = block_id.removeprefix(MARK) if block_id.startswith(MARK) else None
    return {str(one) for one in (payload.get("delivery_id"), marked) if one}


def _marked(message: Message, delivery_id: str) -> list[dict[str, Any]] | None:
    if not message.blocks:
        return None
    first, *rest = message.blocks
    marked = {**first, "block_id": f"{MARK}{delivery_id}"}
    return [marked, *map(dict, rest)]
