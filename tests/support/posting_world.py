"""The world of the exactly-once state machine: the service's log, the channels, the processes."""

import asyncio
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from typing_extensions import override

from bot.blocks.message import Message, Thread
from bot.feed.poll_event_log import PAGE_SECONDS
from bot.kernel.errors import BotError
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import EventRecord
from bot.posts.delivery import Delivery
from bot.posts.posting import PostDeliveries
from bot.runtime.renderers import RENDERERS
from bot.slack.ports import Sent
from tests.support.clock import FakeClock
from tests.support.disturbances import (
    Crash,
    DisturbedStore,
    Steps,
    disturbed_merge_queue,
    disturbed_poster,
)
from tests.support.loops import Loop, unsubscribed
from tests.support.make import API, SITE, make_event
from tests.support.merge_queue import FakeMergeQueue
from tests.support.poster import Posted, RecordingPoster
from tests.support.store import InlineStore, InMemoryDatabase, SharedDatabase

SUBSCRIPTIONS = {
    ("C0ONE", SITE): ("enter", "merge", "failure"),
    ("C0ONE", API): ("merge",),
    ("C0TWO", SITE): ("failure",),
    ("C0TWO", API): ("enter", "merge"),
}
CHANNELS = ("C0ONE", "C0TWO")

WORDS = {
    "enter": ("action.queue.enter", {}, "Queued"),
    "merge": ("action.queue.merged", {}, "Merged"),
    "failure": (
        "action.queue.leave",
        {"merged": False, "dequeue_code": "CHECKS_FAILED"},
        "Left the queue",
    ),
    "nothing": ("action.queue.leave", {"merged": True, "dequeue_code": "PR_MERGED"}, ""),
}
PAGE_SIZE = 4
_POST = re.compile(r"(Queued|Merged|Left the queue) #(\d+)\b")


class LatePoster(RecordingPoster):
    """A channel's history shows a post only after `shown_after`."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self.shown_after = timedelta()
        self._clock = clock
        self._posted_at: dict[str, datetime] = {}

    @override
    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> Sent:
        before = len(self.history)
        try:
            return await super().post(channel_id, message, delivery_id, thread)
        finally:
            for shown in self.history[before:]:
                self._posted_at[shown.ts] = self._clock.now()

    @override
    def _first_shown(self, posts: Iterable[Posted]) -> str | None:
        latest = self._clock.now() - self.shown_after
        return super()._first_shown(post for post in posts if self._posted_at[post.ts] <= latest)


@dataclass
class Process:
    """One bot on the shared database, the shared service and the shared workspace."""

    name: str
    world: "World"
    steps: Steps = field(default_factory=Steps)

    def __post_init__(self) -> None:
        world = self.world
        steps = self.steps
        polling = DisturbedStore(InlineStore(world.database), steps, "polling")
        posting = DisturbedStore(InlineStore(world.database), steps, "posting")
        self.posts = PostDeliveries(
            store=posting,
            poster=disturbed_poster(world.poster, steps),
            clock=world.clock,
            wake=unsubscribed,
            holder=self.name,
            jitter=lambda: 0.5,
            renderers=RENDERERS,
        )
        self.polls = Loop(
            polling,
            disturbed_merge_queue(world.service, steps),
            world.clock,
            (SITE, API),
            self.name,
        ).only_logs()

    async def turn(self) -> None:
        """A tick of the schedule: polls and posts side by side, as in the runtime."""
        await asyncio.gather(self._poll(), self._post())

    async def _poll(self) -> None:
        with suppress(BotError, Crash):
            await self.polls.run()
        await self.polls.drain()

    async def _post(self) -> None:
        before = asyncio.all_tasks()
        try:
            await self.posts.run()
        except (BotError, Crash):
            # The other channels' tasks end by themselves, the next step of a dead process.
            mine = {task for task in asyncio.all_tasks() - before if "poll" not in task.get_name()}
            await asyncio.gather(*mine, return_exceptions=True)


@dataclass
class World:
    """What outlives every process."""

    clock: FakeClock = field(default_factory=FakeClock)
    database: SharedDatabase = field(default_factory=InMemoryDatabase)

    def __post_init__(self) -> None:
        self.poster = LatePoster(self.clock)
        self.service = FakeMergeQueue((SITE, API), clock=self.clock, page_size=PAGE_SIZE)
        self.begun_at = self.clock.now()
        self.events: list[tuple[RepositoryName, EventRecord, str]] = []
        self._written_at: list[datetime] = []
        self._last_id = 0

    def emit(self, repository: RepositoryName, kind: str, late: float) -> None:
        self._last_id += 1
        type_, metadata, word = WORDS[kind]
        event = make_event(
            self._last_id,
            type_,
            received_at=max(self.clock.now() - timedelta(seconds=late), self.begun_at),
            pull_request=1000 + self._last_id,
            metadata=metadata,
        )
        self.service.log(repository, event)
        self.events.append((repository, event, word))
        self._written_at.append(self.clock.now())

    def may_be_overtaken(self, late: EventRecord, later: EventRecord) -> bool:
        """Whether `late` showed up late in a log of several pages, and `later` soon after.

        Such a log is read from the newest known event on, and in whole after a second for each
        of its pages (docs/reliability.md, the exceptions).
        """
        log = [one for name, one, _ in self.events if name == late.repository]
        before = [event.received_at for event in log if event.event_id < late.event_id]
        is_late = late.received_at < max(before, default=late.received_at)
        pages = -(-sum(event.event_id < later.event_id for event in log) // PAGE_SIZE)
        apart = self._written_at[later.event_id - 1] - self._written_at[late.event_id - 1]
        return is_late and apart < (pages - 1) * PAGE_SECONDS

    def expected(self, channel: str) -> list[tuple[RepositoryName, EventRecord, str]]:
        """The events a channel has to hear of, in the order in which they were written."""
        words = {
            repository: {WORDS[topic][2] for topic in topics}
            for (one, repository), topics in SUBSCRIPTIONS.items()
            if one == channel
        }
        return [each for each in self.events if each[2] in words.get(each[0], set())]

    def unsettled(self) -> list[Delivery]:
        deliveries = self.database.contents.deliveries.values()
        return [delivery for delivery in deliveries if not delivery.progress.state.is_settled]

    def reported(self, channel: str) -> list[tuple[int, str]]:
        """The channel's posts by place: pull request and word."""
        return [
            pair
            for post in self.poster.history
            if post.channel_id == channel
            for pair in self._shown_by(post)
        ]

    def place(self, channel: str) -> dict[int, int]:
        """The place of each pull request's first post in the channel."""
        places: dict[int, int] = {}
        posts = [
            subscription
            for subscription in self.poster.history
            if subscription.channel_id == channel
        ]
        for number, post in enumerate(posts):
            for pull_request, _ in self._shown_by(post):
                places.setdefault(pull_request, number)
        return places

    def _shown_by(self, post: Posted) -> Iterator[tuple[int, str]]:
        if post.message.updates == 1:
            match = _POST.match(post.message.text)
            assert match is not None, post.message.text
            yield int(match[2]), match[1]
            return
        contents = self.database.contents
        rows = list(contents.summarized_by.get(post.delivery_id, ()))
        if post.delivery_id in contents.deliveries:
            rows.append(contents.deliveries[post.delivery_id])
        assert len(rows) == post.message.updates, "a summary says how much it tells"
        for row in rows:
            _, event, word = self.events[row.subject.subject_id - 1]
            assert event.pull_request is not None
            yield event.pull_request, word
