"""What polls read of queues, and pauses that only the service reports."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from typing_extensions import override

from bot.domain.boards import Board
from bot.domain.errors import MergeQueueUnavailable
from bot.domain.pause_records import PauseEnding, PauseRecord, Who
from bot.domain.polling import UNWATCHED_INTERVALS
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.usecases.boards import put_up
from bot.usecases.pausing.pause_history import know_pause
from bot.usecases.tasks import POLL_REQUESTS
from tests.support.clock import NOON, FakeClock
from tests.support.loops import Loop
from tests.support.make import make_event, make_subscription
from tests.support.merge_queue import FakeMergeQueue
from tests.support.store import InMemoryStore
from tests.support.transactions import begin
from tests.support.waiting import until

REPOSITORIES = tuple(RepositoryName(f"acme/r{number:02}") for number in range(20))
INTERVAL = 10


@dataclass
class HeldMergeQueue(FakeMergeQueue):
    """Reports pauses only as often as allowed."""

    asked: list[RepositoryName] = field(default_factory=list)
    answers: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    @override
    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        self.asked.append(repository)
        async with self.answers:
            return await super().current_pause(repository)

    def paused(self, name: RepositoryName) -> None:
        assert self.clock is not None
        self.pauses[name] = Pause(reason="night", paused_at=self.clock.now())


class Watcher:
    """One process that polls them all."""

    def __init__(self, repositories: Sequence[RepositoryName] = REPOSITORIES) -> None:
        self.clock = FakeClock()
        self.service = HeldMergeQueue(repositories, clock=self.clock)
        self.store = InMemoryStore()
        self.loop = Loop(self.store, self.service, self.clock, repositories).with_queues()

    async def poll(self, seconds: float = 0) -> None:
        self.clock.advance(seconds)
        await self.loop.run()
        await self.let_all_end()

    async def let_all_end(self) -> None:
        self.service.answers.release()
        await self.loop.drain()
        await self.service.answers.acquire()


async def test_a_stopping_process_leaves_waiting_polls_to_others() -> None:
    watcher = Watcher()
    await watcher.loop.run()
    await until(lambda: len(watcher.service.asked) == POLL_REQUESTS, "the first lookups")
    watcher.loop.begin_no_more()
    await watcher.let_all_end()

    assert len(watcher.service.asked) == POLL_REQUESTS


async def test_a_queue_limited_often_is_read_soon_after_a_failure() -> None:
    watcher = Watcher(REPOSITORIES[:1])
    await watcher.poll()
    watcher.service.paused(REPOSITORIES[0])
    await watcher.poll(UNWATCHED_INTERVALS * INTERVAL)
    limited = MergeQueueUnavailable("429", status=429, retry_after=2)
    for error in [*10 * [limited], MergeQueueUnavailable("down")]:
        watcher.service.fail_next(error, method="current_pause")
        await watcher.poll(INTERVAL)
    watcher.service.assert_all_used()
    watcher.service.asked.clear()

    await watcher.poll(INTERVAL)

    assert watcher.service.asked == [REPOSITORIES[0]]


async def test_a_clock_set_back_delays_no_queue() -> None:
    watcher = Watcher()
    await watcher.loop.run()
    await until(lambda: watcher.service.asked, "the first lookup")
    watcher.clock.advance(-3600)
    await watcher.let_all_end()
    assert sorted(watcher.service.asked) == sorted(REPOSITORIES)

    for _ in range(UNWATCHED_INTERVALS + 1):
        await watcher.poll(INTERVAL)
    assert set(watcher.service.asked[len(REPOSITORIES) :]) == set(REPOSITORIES)


async def test_a_pause_that_ended_during_a_read_keeps_its_own_end() -> None:
    watcher = Watcher(REPOSITORIES[:1])
    paused = PauseRecord(REPOSITORIES[0], NOON, "night", "night")
    with begin(watcher.store) as transaction:
        paused = replace(paused, pause_id=transaction.pauses.save(paused))
    await watcher.loop.run()
    await until(lambda: watcher.service.asked, "the lookup")
    ended = replace(paused, ended_at=NOON, ended_by=Who("bob", "U0BOB"), ending=PauseEnding.RESUMED)
    with begin(watcher.store) as transaction:
        transaction.pauses.save(ended)
    watcher.clock.advance(60)
    await watcher.let_all_end()

    with begin(watcher.store) as transaction:
        assert transaction.pauses.of(REPOSITORIES[0], NOON) == [ended]


async def test_a_pause_without_a_time_is_one_pause_across_reads() -> None:
    name = REPOSITORIES[0]
    watcher = Watcher([name])
    began = watcher.clock.now()
    for _ in range(3):
        undated = Pause(reason="migration", paused_at=watcher.clock.now(), is_dated=False)
        watcher.service.pauses[name] = undated
        await watcher.poll()
        known = await know_pause(watcher.store, name, undated)
        assert known is not None
        assert known.paused_at == began
        watcher.clock.advance(6 * INTERVAL)

    with begin(watcher.store) as transaction:
        (record,) = transaction.pauses.of(name, began - timedelta(days=1))
    assert record.is_open


async def test_one_poll_reads_a_queue_once_for_every_use() -> None:
    """A pause in force, a board, alerts about its health and the titles of what entered."""
    name = REPOSITORIES[0]
    watcher = Watcher([name])
    with begin(watcher.store) as transaction:
        transaction.subscriptions.save(make_subscription("enter", "health", repository=name))
        put_up(transaction, Board("C0BOARD", name, "alice", watcher.clock.now()))
    watcher.service.paused(name)
    await watcher.poll()
    watcher.service.calls.clear()
    watcher.service.log(name, make_event(received_at=watcher.clock.now()))

    await watcher.poll(INTERVAL)

    # The log again, for the batches that the new pause stopped.
    asked = Counter(call.method for call in watcher.service.calls)
    assert asked == {"event_page": 2, "status": 1, "current_pause": 1}
