"""RecordingPoster: a ChannelPoster in lists, with scripted failures."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from typing_extensions import override

from bot.blocks.message import Block, Message, Thread
from bot.slack.errors import PostError, PostRefused, Refusal
from bot.slack.ports import ChannelPoster, Sent


@dataclass(frozen=True, slots=True)
class Posted:
    """A message as the channel shows it."""

    channel_id: str
    message: Message
    delivery_id: str
    ts: str
    thread: Thread | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the port: `method` is "post", "find" or "update".

    A look for what was posted before this process is not kept: it changes nothing.

    For an update `delivery_id` is the message's `ts`.
    """

    method: str
    channel_id: str
    delivery_id: str


@dataclass
class PlannedFailure:
    """An error for the next call of `method`; `after` posts first, as when the answer is lost."""

    method: str
    error: PostError
    channel_id: str | None = None
    after: bool = False


@dataclass
class RecordingPoster(ChannelPoster):
    """Keeps what was posted, and every call.

    `closed` channels refuse posts with the code given. `blocks_refused`: messages with blocks
    are refused as `invalid_blocks`; `refused_blocks`: those with these very blocks are.
    `lacks_buttons`: Slack doesn't say who reads the channels, so posts have none.
    `shows_late`: a post is not found at so many looks. `deleted` messages, by their `ts`, are gone
    from the channel; `locked` ones refuse edits with the code given. `meanwhile`: what happens
    before Slack answers a post, or a look, which has no message.
    """

    closed: dict[str, str] = field(default_factory=dict)
    blocks_refused: bool = False
    refused_blocks: tuple[Block, ...] = ()
    lacks_buttons: bool = False
    shows_late: int = 0
    deleted: set[str] = field(default_factory=set)
    locked: dict[str, str] = field(default_factory=dict)
    history: list[Posted] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    meanwhile: Callable[[str, Message | None], Awaitable[None]] | None = None
    _failures: list[PlannedFailure] = field(default_factory=list)
    _unseen: dict[str, int] = field(default_factory=dict)

    def fail_next(
        self,
        error: PostError,
        *,
        method: str = "post",
        channel_id: str | None = None,
        after: bool = False,
    ) -> None:
        """Let the next call of `method` fail; several are used up in order."""
        self._failures.append(PlannedFailure(method, error, channel_id, after))

    def shown(self, channel_id: str) -> list[str]:
        """The texts in the channel, oldest first."""
        return [
            message.message.text
            for message in self.history
            if message.channel_id == channel_id and message.ts not in self.deleted
        ]

    def called(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    def assert_all_used(self) -> None:
        assert not self._failures, self._failures

    @override
    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> Sent:
        self.calls.append(Call("post", channel_id, delivery_id))
        if self.meanwhile is not None:
            await self.meanwhile(channel_id, message)
        planned = self._next_failure("post", channel_id)
        if planned is not None and not planned.after:
            raise planned.error
        if channel_id in self.closed:
            raise PostRefused(self.closed[channel_id], Refusal.CHANNEL)
        if thread is not None and not self._is_root(channel_id, thread.ts):
            raise PostRefused("thread_not_found", Refusal.THREAD)
        is_alone = thread is not None and thread.ts in self.deleted
        if is_alone:
            # Slack posts a reply to a deleted message to the channel, without an error.
            thread = None
        refused = self.blocks_refused or message.blocks == self.refused_blocks
        if message.blocks and refused:
            raise PostRefused("invalid_blocks", Refusal.MESSAGE)
        ts = f"1784548800.{len(self.history) + 1:06}"
        self.history.append(Posted(channel_id, message, delivery_id, ts, thread))
        self._unseen[ts] = self.shows_late
        if planned is not None:
            raise planned.error
        return Sent(ts, not self.lacks_buttons, is_alone)

    @override
    async def find(
        self,
        channel_id: str,
        delivery_id: str,
        since: datetime,
        thread_ts: str | None = None,
        until: datetime | None = None,
    ) -> str | None:
        del since  # Every post stays in the history.
        if until is None:
            self.calls.append(Call("find", channel_id, delivery_id))
            if self.meanwhile is not None:
                await self.meanwhile(channel_id, None)
        planned = self._next_failure("find" if until is None else "find_before", channel_id)
        if planned is not None:
            raise planned.error
        return self._first_shown(
            delivery
            for delivery in self.history
            if (delivery.channel_id, delivery.delivery_id) == (channel_id, delivery_id)
            and delivery.ts not in self.deleted
            and (
                delivery.thread is None
                or delivery.thread.broadcast
                or delivery.thread.ts == thread_ts
            )
        )

    @override
    async def update(self, channel_id: str, message_ts: str, message: Message) -> None:
        self.calls.append(Call("update", channel_id, message_ts))
        planned = self._next_failure("update", channel_id)
        if planned is not None and not planned.after:
            raise planned.error
        if channel_id in self.closed:
            raise PostRefused(self.closed[channel_id], Refusal.CHANNEL)
        place = self._place(message_ts)
        if place is None or message_ts in self.deleted:
            raise PostRefused("message_not_found", Refusal.EDIT)
        if message_ts in self.locked:
            raise PostRefused(self.locked[message_ts], Refusal.EDIT)
        refused = self.blocks_refused or message.blocks == self.refused_blocks
        if message.blocks and refused:
            raise PostRefused("invalid_blocks", Refusal.MESSAGE)
        self.history[place] = replace(self.history[place], message=message)
        if planned is not None:
            raise planned.error

    def _is_root(self, channel_id: str, ts: str) -> bool:
        place = self._place(ts)
        return place is not None and self.history[place].channel_id == channel_id

    def _place(self, ts: str) -> int | None:
        """Where it stands in the history, whose posts are numbered."""
        number = ts.rpartition(".")[2]
        place = int(number) - 1 if number.isdecimal() else -1
        is_there = 0 <= place < len(self.history) and self.history[place].ts == ts
        return place if is_there else None

    def _first_shown(self, posts: Iterable[Posted]) -> str | None:
        shown = None
        for post in posts:
            self._unseen[post.ts] -= 1
            if shown is None and self._unseen[post.ts] < 0:
                shown = post.ts
        return shown

    def _next_failure(self, method: str, channel_id: str) -> PlannedFailure | None:
        for planned in self._failures:
            if planned.method == method and planned.channel_id in {None, channel_id}:
                self._failures.remove(planned)
                return planned
        return None
