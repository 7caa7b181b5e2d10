"""The bot in the simulated week: the real use cases, and one channel for each subscription."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from bot.acts.check_permission import CheckPermission
from bot.acts.recording import RecordActs
from bot.channels.rows import Subscriptions
from bot.channels.subscription import TOPICS_OF_LEVELS, Level, Style, Subscription
from bot.kernel.configured import Policy
from bot.kernel.cron import DigestTime
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.queue import Pause, QueueStatus
from bot.pauses.by_rule import PauseRules
from bot.pauses.ending import due_lease
from bot.pauses.reminding import RemindOfPauses
from bot.pauses.rows import is_paused
from bot.people.rows import People
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.posts.posting import PostDeliveries
from bot.posts.refreshing import RefreshLiveMessages
from bot.runtime.renderers import RENDERERS
from bot.runtime.upkeep.housekeeping import prune_history
from tests.noise.busy_repository import NAME
from tests.support.clock import FakeClock
from tests.support.directories import FakeChannels, FakePeople
from tests.support.loops import Loop
from tests.support.make import make_configured
from tests.support.merge_queue import FakeMergeQueue
from tests.support.poster import RecordingPoster
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

SITE = RepositoryName(NAME)
POLL = timedelta(seconds=10)
TICK = 1.0
SELDOM = timedelta(minutes=1)
NEVER = datetime.max.replace(tzinfo=UTC)
KEPT = timedelta(hours=3)
"""How much of the log the service has at hand; what is read reaches back two minutes."""

FIRST_REMINDER = timedelta(minutes=30)
HOLDER = "the bot"
DIGEST = DigestTime(time(9), "Europe/Paris")
LINKED = ("alice", "bob", "carol")
"""The authors, of six, who have linked their login."""


@dataclass(frozen=True, slots=True)
class Way:
    """How one channel is notified: its level and style."""

    level: Level
    style: Style = Style.THREAD

    @property
    def channel_id(self) -> str:
        return f"C0{self.level.upper()}{self.style.upper()}"

    def subscription(self) -> Subscription:
        digest = DIGEST if self.style is Style.DIGEST else None
        topics = TOPICS_OF_LEVELS[self.level]
        return Subscription(self.channel_id, SITE, topics, style=self.style, digest=digest)


QUIET, NORMAL, EVERYTHING = LEVEL_WAYS = tuple(map(Way, Level))
FEED = Way(Level.EVERYTHING, Style.FEED)
DIGESTED = Way(Level.NORMAL, Style.DIGEST)
WAYS = (*LEVEL_WAYS, FEED, DIGESTED)


class ListeningBot:
    """One process. Its clock is moved by `live_until`; what it is to do next, wakes tell."""

    def __init__(self, begin: datetime) -> None:
        store = self.store = InMemoryStore()
        self.clock = FakeClock(begin)
        self.merge_queue = FakeMergeQueue((NAME,), clock=self.clock)
        self.poster = RecordingPoster()
        self._due_at = NEVER
        self._seldom_at = begin
        self._polls = Loop(
            store, self.merge_queue, self.clock, (SITE,), HOLDER, self._wake
        ).with_queues()
        self._posts = PostDeliveries(
            store, self.poster, self.clock, self._wake, HOLDER, lambda: 0.5, RENDERERS
        )
        self._edits = RefreshLiveMessages(
            store, self.poster, self.clock, self._wake, HOLDER, lambda: 0.5, RENDERERS
        )
        self._lease = due_lease(HOLDER)
        self._configured = make_configured(
            policy=Policy([PauseRules(first_reminder=FIRST_REMINDER)])
        )
        check = CheckPermission(FakePeople(), self._configured)
        acts = RecordActs(store, self.clock, FakeChannels(), check, self._wake, is_paused)
        self._reminders = RemindOfPauses(self.merge_queue, acts)

    async def forget_the_past(self) -> None:
        """Every night, of what is a day old."""
        kept = timedelta(days=1)
        await prune_history(self.store, self.clock, kept, self._configured, asyncio.Event())

    async def subscribe(self, ways: Sequence[Way]) -> None:
        with begin(self.store) as transaction:
            for way in ways:
                Subscriptions(transaction).save(way.subscription())
            for login in LINKED:
                People(transaction).link(f"U0{login.upper()}", login, self.clock.now())

    def serve(
        self, events: Sequence[EventRecord], status: QueueStatus, pause: Pause | None
    ) -> None:
        """What the service answers from now on."""
        log = self.merge_queue.logs[SITE]
        if log and log[0].received_at < self.clock.now() - 2 * KEPT:
            log[:] = [event for event in log if event.received_at >= self.clock.now() - KEPT]
        log.extend(events)
        self.merge_queue.statuses[SITE] = status
        self.merge_queue.pauses = {NAME: pause} if pause is not None else {}
        self.merge_queue.calls.clear()

    async def live_until(self, end: datetime, *, is_news: bool) -> None:
        """Poll if there is news, and post and edit until there is no more to do before `end`.

        A poll that reads nothing new does nothing, so it is left out.
        """
        if is_news or self._is_paused or self.clock.now() >= self._seldom_at:
            self._seldom_at = self.clock.now() + SELDOM
            await self._polls.run()
            await self._polls.drain()
            await self._reminders.run(self._lease)
            self._wake()
        while self._due_at <= end:
            self.clock.advance(max((self._due_at - self.clock.now()).total_seconds(), 0))
            self._due_at = NEVER
            await self._posts.run()
            await self._edits.run()
            await self._look_again()
        self.clock.advance((end - self.clock.now()).total_seconds())

    @property
    def _is_paused(self) -> bool:
        return NAME in self.merge_queue.pauses

    async def _look_again(self) -> None:
        """Posts and edits are looked for each second; without any to come that is left out."""
        with begin(self.store) as transaction:
            unsettled = Outbox(transaction).summary()
            to_edit = LiveMessages(transaction).due(self.clock.now() + POLL, 1)
        if to_edit or unsettled.pending or unsettled.in_doubt or unsettled.sending:
            self._wake(TICK)

    def _wake(self, after: float = 0.0) -> None:
        self._due_at = min(self._due_at, self.clock.now() + timedelta(seconds=after))
