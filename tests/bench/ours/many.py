"""Thousands of repositories in one process for a while, on the bot's own scheduler and clock."""

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from statistics import quantiles

from bot.feed.poll_repositories import POLL_TICK_SECONDS, PollRepositories
from bot.kernel.clock import Clock
from bot.kernel.metrics import Metrics
from bot.kernel.repository import RepositoryName
from bot.log.position import first_position
from bot.log.rows import Positions
from bot.runtime.clock import SystemClock
from bot.runtime.scheduler import Job, JobScheduler
from tests.bench.contestant import attend
from tests.bench.ours.poller import Poller, opened, repositories
from tests.support.metrics import KeptTimes
from tests.support.transactions import begin
from tests.support.waiting import until

BUSY = 20
"""One repository of so many had an event just now; in the others it was half an hour ago."""

LONGEST = timedelta(seconds=60)
"""Between two polls of a quiet log: the default of MQBOT_QUIET_POLL_SECONDS."""

QUIET_FOR = timedelta(minutes=30)
FIRST_SECONDS = 180.0
FEW = 20
"""Polls under way or waiting for their turn, when no backlog of them is left."""

COMMAND_SECONDS = 0.1


async def _begin(poller: Poller, names: Sequence[RepositoryName], clock: Clock) -> None:
    now = clock.now()
    with begin(poller.store) as transaction:
        for number, name in enumerate(names):
            at = now if number % BUSY == 0 else now - QUIET_FOR
            Positions(transaction).save(first_position(name, at))


def _is_steady(polls: PollRepositories, amount: int) -> bool:
    """Whether each log was read once, and again if due meanwhile."""
    read = sum(schedule.polled_at is not None for schedule in polls.schedules.values())
    return read == amount and len(polls.tasks) < FEW


async def _commands(poller: Poller, name: RepositoryName, taken: list[float]) -> None:
    """Commands that people type meanwhile, one after another."""
    while True:
        begun = time.perf_counter()
        await poller.client.status(name)
        taken.append(time.perf_counter() - begun)
        await asyncio.sleep(COMMAND_SECONDS)


def _p99(seconds: Sequence[float]) -> float:
    return quantiles(seconds, n=100)[98]


async def main(seconds: float) -> None:
    clock = SystemClock()

    async def play(amount: int) -> Mapping[str, float]:
        names = repositories(amount)
        metrics = Metrics()
        lateness = KeptTimes()
        metrics.poll_lateness = lateness
        async with opened(names, clock, metrics=metrics, longest=LONGEST) as poller:
            await _begin(poller, names, clock)
            scheduler = JobScheduler()
            scheduler.every(POLL_TICK_SECONDS, Job("poll", poller.polls.run))
            begun = time.perf_counter()
            scheduler.start()
            await until(
                lambda: _is_steady(poller.polls, amount), "a look at each log", FIRST_SECONDS
            )
            first = time.perf_counter() - begun
            lateness.seconds.clear()
            taken: list[float] = []
            asking = asyncio.create_task(_commands(poller, names[0], taken))
            before = time.process_time()
            await asyncio.sleep(seconds)
            cpu = time.process_time() - before
            asking.cancel()
            scheduler.stop_firing()
            await scheduler.drain()
            await poller.polls.drain()
        return {
            "first": first,
            "lateness": _p99(lateness.seconds),
            "command": _p99(taken),
            "cpu": cpu / seconds,
            "polls": len(lateness.seconds) / seconds,
        }

    await attend(play)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
