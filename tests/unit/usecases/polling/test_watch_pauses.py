"""Looks at pauses leave the service, and the end of the process, to what matters more."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta

from typing_extensions import override

from bot.domain.errors import MergeQueueUnavailable
from bot.domain.pause_records import PauseEnding, PauseRecord, Who
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.usecases.pausing.recorded_pauses import know_pause
from bot.usecases.polling.watch_pauses import LOOKS_AT_ONCE, SELDOM, WatchPauses
from tests.support.clock import NOON, FakeClock
from tests.support.merge_queue import FakeMergeQueue
from tests.support.store import InMemoryStore
from tests.support.transactions import begin
from tests.support.waiting import until

REPOSITORIES = tuple(RepositoryName(f"acme/r{number:02}") for number in range(20))
INTERVAL = timedelta(seconds=10)


@dataclass
class HeldMergeQueue(FakeMergeQueue):
    """Tells of pauses only as often as it is let."""

    asked: list[RepositoryName] = field(default_factory=list)
    answers: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    @override
    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        self.asked.append(repository)
        async with self.answers:
            return await super().current_pause(repository)


def _no_nudge(after: float = 0) -> None:
    del after


class Watcher:
    """One process that follows them all."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.service = HeldMergeQueue(REPOSITORIES, clock=self.clock)
        self.followed = list(REPOSITORIES)
        self.store = InMemoryStore()
        self.watches = WatchPauses(
            store=self.store,
            merge_queue=self.service,
            clock=self.clock,
            nudge=_no_nudge,
            repositories=REPOSITORIES,
            followed=lambda: self.followed,
            interval=INTERVAL,
        )

    async def let_all_end(self) -> None:
        self.service.answers.release()
        await self.watches.drain()
        await self.service.answers.acquire()


async def test_one_look_at_a_time_however_many_are_due() -> None:
    watcher = Watcher()
    await watcher.watches.run()
    await until(lambda: watcher.service.asked, "the first look")
    assert len(watcher.service.asked) == LOOKS_AT_ONCE

    await watcher.let_all_end()
    assert sorted(watcher.service.asked) == sorted(REPOSITORIES)


async def test_looks_that_wait_for_their_turn_are_left_to_others_at_the_end() -> None:
    watcher = Watcher()
    await watcher.watches.run()
    await until(lambda: watcher.service.asked, "the first look")
    watcher.watches.begin_no_more()
    await watcher.let_all_end()

    assert len(watcher.service.asked) == LOOKS_AT_ONCE


async def test_only_what_this_process_follows_is_looked_at() -> None:
    watcher = Watcher()
    watcher.followed = list(REPOSITORIES[:5])
    await watcher.watches.run()
    await watcher.let_all_end()
    assert sorted(watcher.service.asked) == list(REPOSITORIES[:5])

    watcher.followed = list(REPOSITORIES[4:7])
    watcher.clock.advance(SELDOM * INTERVAL.total_seconds() - 1)
    await watcher.watches.run()
    await watcher.let_all_end()
    assert sorted(watcher.service.asked[5:]) == list(REPOSITORIES[5:7])


async def test_a_queue_that_was_limited_often_is_looked_at_soon_after_a_failure() -> None:
    watcher = Watcher()
    watcher.followed = [REPOSITORIES[0]]
    limited = MergeQueueUnavailable("429", status=429, retry_after=2)
    for error in [*10 * [limited], MergeQueueUnavailable("down")]:
        watcher.service.fail_next(error)
        await watcher.watches.run()
        await watcher.let_all_end()
        watcher.clock.advance(INTERVAL.total_seconds())
    watcher.service.assert_all_used()
    watcher.service.asked.clear()

    await watcher.watches.run()
    await watcher.let_all_end()

    assert watcher.service.asked == [REPOSITORIES[0]]


async def test_a_clock_that_is_set_back_keeps_no_look_waiting() -> None:
    watcher = Watcher()
    await watcher.watches.run()
    await until(lambda: watcher.service.asked, "the first look")
    watcher.clock.advance(-3600)
    await watcher.let_all_end()
    assert sorted(watcher.service.asked) == sorted(REPOSITORIES)

    watcher.clock.advance(SELDOM * INTERVAL.total_seconds())
    await watcher.watches.run()
    await watcher.let_all_end()
    assert sorted(watcher.service.asked) == sorted(2 * REPOSITORIES)


async def test_a_pause_that_ended_while_the_service_was_asked_keeps_its_own_end() -> None:
    watcher = Watcher()
    watcher.followed = [REPOSITORIES[0]]
    paused = PauseRecord(REPOSITORIES[0], NOON, "night", "night")
    with begin(watcher.store) as transaction:
        paused = replace(paused, pause_id=transaction.pauses.save(paused))
    await watcher.watches.run()
    await until(lambda: watcher.service.asked, "the look")
    ended = replace(paused, ended_at=NOON, ended_by=Who("bob", "U0BOB"), ending=PauseEnding.LIFTED)
    with begin(watcher.store) as transaction:
        transaction.pauses.save(ended)
    watcher.clock.advance(60)
    await watcher.let_all_end()

    with begin(watcher.store) as transaction:
        assert transaction.pauses.of(REPOSITORIES[0], NOON) == [ended]


async def test_a_pause_without_a_time_is_one_pause_however_often_it_is_read() -> None:
    watcher = Watcher()
    name = REPOSITORIES[0]
    watcher.followed = [name]
    began = watcher.clock.now()
    for _ in range(3):
        undated = Pause(reason="migration", paused_at=watcher.clock.now(), is_dated=False)
        watcher.service.pauses[name] = undated
        await watcher.watches.run()
        await watcher.let_all_end()
        known = await know_pause(watcher.store, name, undated)
        assert known is not None
        assert known.paused_at == began
        watcher.clock.advance(SELDOM * INTERVAL.total_seconds())

    with begin(watcher.store) as transaction:
        (record,) = transaction.pauses.of(name, began - timedelta(days=1))
    assert record.is_open
