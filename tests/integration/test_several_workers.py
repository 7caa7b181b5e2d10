"""Real workers on PostgreSQL share out the polling, and take over from one another.

Figures are measured by simulated time in tests/unit/usecases/polling: the throughput of several
workers (test_throughput_of_workers.py), and the 15 seconds that docs/scaling.md promises
(test_share_repositories.py).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.fleet import Entries, Fleet, Leases
from tests.support.polls_seen import PollsSeen
from tests.support.several_processes import RunningProcess
from tests.support.waiting import until, until_true

TAKEN_OVER_SECONDS = 90.0
"""For five processes and a database on a part of a core, each of which waits for its turn."""

REPOSITORIES = 24
ANSWER_SECONDS = 0.8


@asynccontextmanager
async def entering(fleet: Fleet) -> AsyncIterator[Entries]:
    """Pull requests enter meanwhile, and in the end each has been told once."""
    entries = Entries(fleet)
    running = asyncio.create_task(entries.run())
    try:
        yield entries
    finally:
        entries.stop()
        await running
    fleet.fix_service()
    await entries.all_posted_once()


@pytest.mark.postgres
@pytest.mark.timeout(600)
async def test_more_workers_share_the_repositories_and_nothing_is_doubled(
    postgres_url: str, tmp_path: Path
) -> None:
    fleet = Fleet.of(postgres_url, tmp_path, repositories=REPOSITORIES, workers=1)
    async with Leases(postgres_url) as leases, fleet:
        seen = await fleet.begin_to_answer_slowly(ANSWER_SECONDS)
        async with entering(fleet):
            for number in (2, 4):
                await fleet.grow(number)
                await every_share_is(REPOSITORIES // number, fleet, leases)
                await seen.all_again(fleet.repositories, TAKEN_OVER_SECONDS)
        assert seen.doubled == []


@pytest.mark.postgres
@pytest.mark.timeout(600)
async def test_repositories_of_killed_and_hanging_workers_are_taken_over(
    postgres_url: str, tmp_path: Path
) -> None:
    fleet = Fleet.of(postgres_url, tmp_path, repositories=REPOSITORIES, workers=4)
    async with Leases(postgres_url) as leases, fleet:
        seen = await fleet.begin_to_answer_slowly(ANSWER_SECONDS)
        await fleet.shared_out()
        await every_share_is(6, fleet, leases)
        async with entering(fleet) as entries:
            hanging = await who_posts(fleet, leases)
            killed = next(one for one in fleet.running("worker") if one is not hanging)
            orphans = await leases.repositories_of(killed) | await leases.repositories_of(hanging)
            await hang_with_an_answer_unread(hanging, seen, entries, leases)
            await killed.process.kill()
            await seen.all_again(orphans, TAKEN_OVER_SECONDS)
            # What it has read, or was about to do, it may not write any more.
            hanging.go_on()
            await every_share_is(8, fleet, leases)
            comes = await fleet.begin("worker")
            await fleet.is_ready(comes)
            await every_share_is(6, fleet, leases)
            await seen.all_again(await leases.repositories_of(comes), TAKEN_OVER_SECONDS)


async def every_share_is(number: int, fleet: Fleet, leases: Leases) -> None:
    async def shares() -> bool:
        held = [await leases.repositories_of(one) for one in fleet.running("worker")]
        return {len(one) for one in held} == {number}

    await until_true(shares, f"{number} repositories for each", TAKEN_OVER_SECONDS)


async def who_posts(fleet: Fleet, leases: Leases) -> RunningProcess:
    """The worker that has the right to; on a slow machine it may lapse and be taken again."""
    found: list[RunningProcess] = []

    async def look() -> bool:
        holder = await leases.holder("post", fleet.running("worker"))
        found.extend([holder] if holder is not None else [])
        return bool(found)

    await until_true(look, "a worker that posts")
    return found[0]


async def hang_with_an_answer_unread(
    worker: RunningProcess, seen: PollsSeen, entries: Entries, leases: Leases
) -> None:
    """It stops while it waits for an answer, which has an event that nobody has read yet."""
    repository = min(await leases.repositories_of(worker))
    # Its next poll begins a second later: the window of that one ends after the event.
    await seen.all_again([repository], TAKEN_OVER_SECONDS)
    entries.enter(repository)
    stopped = asyncio.Event()

    def stop(polled: str) -> None:
        if polled == repository and not stopped.is_set():
            worker.hang()
            stopped.set()

    seen.on_begun = stop
    await until(stopped.is_set, f"a poll of {repository}", TAKEN_OVER_SECONDS)
    seen.on_begun = None
