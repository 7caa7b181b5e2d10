"""What polls read of queues, and pauses that only the service reports."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from bot.domain.boards import Board
from bot.domain.pause_records import PauseEnding, PauseRecord, Who
from bot.domain.polling import UNWATCHED_INTERVALS
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.usecases.boards import put_up
from bot.usecases.pausing.pause_history import know_pause
from tests.support.clock import NOON, FakeClock
from tests.support.loops import Loop
from tests.support.make import make_event, make_subscription
from tests.support.merge_queue import Call, FakeMergeQueue
from tests.support.store import InMemoryStore
from tests.support.transactions import begin
from tests.support.waiting import until

REPOSITORIES = tuple(RepositoryName(f"acme/r{number:02}") for number in range(20))
INTERVAL = 10


class Watcher:
    """One process that polls them all."""

    def __init__(self, repositories: Sequence[RepositoryName] = REPOSITORIES) -> None:
        self.clock = FakeClock()
        self.asked: list[str | None] = []
        self.may_answer = asyncio.Event()
        self.service = FakeMergeQueue(repositories, clock=self.clock, before_answer=self._hold)
        self.store = InMemoryStore()
        self.loop = Loop(self.store, self.service, self.clock, repositories).with_queues()

    async def _hold(self, call: Call) -> None:
        if call.method == "current_pause":
            self.asked.append(call.repository)
            await self.may_answer.wait()

    async def poll(self, seconds: float = 0) -> None:
        self.clock.advance(seconds)
        await self.loop.run()
        self.may_answer.set()
        await self.loop.drain()

    async def polls_for(self, seconds: float) -> None:
        """A poll whose lookups of pauses take so long."""
        await self.loop.run()
        await until(lambda: self.asked, "the first lookup")
        self.clock.advance(seconds)


async def test_a_clock_set_back_delays_no_queue() -> None:
    watcher = Watcher()
    await watcher.polls_for(-3600)
    watcher.may_answer.set()
    await watcher.loop.drain()
    assert {*watcher.asked} == {*REPOSITORIES}

    for _ in range(UNWATCHED_INTERVALS + 1):
        await watcher.poll(INTERVAL)
    assert {*watcher.asked[len(REPOSITORIES) :]} == {*REPOSITORIES}


async def test_a_pause_that_ended_during_a_read_keeps_its_own_end() -> None:
    watcher = Watcher(REPOSITORIES[:1])
    paused = PauseRecord(REPOSITORIES[0], NOON, "night", "night")
    with begin(watcher.store) as transaction:
        paused = replace(paused, pause_id=transaction.pauses.save(paused))
    await watcher.polls_for(60)
    ended = replace(paused, ended_at=NOON, ended_by=Who("bob", "U0BOB"), ending=PauseEnding.RESUMED)
    with begin(watcher.store) as transaction:
        transaction.pauses.save(ended)
    watcher.may_answer.set()
    await watcher.loop.drain()

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
    watcher.service.pauses[name] = Pause(reason="night", paused_at=watcher.clock.now())
    await watcher.poll()
    watcher.service.calls.clear()
    watcher.service.log(name, make_event(received_at=watcher.clock.now()))

    await watcher.poll(INTERVAL)

    # The log again, for the batches that the new pause stopped.
    asked = Counter(call.method for call in watcher.service.calls)
    assert asked == {"event_page": 2, "status": 1, "current_pause": 1}
