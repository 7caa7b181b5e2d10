"""Real workers on PostgreSQL: more of them poll more, and what one leaves behind others take over.

In time that nothing else takes, tests/unit/usecases/polling has the figures
(test_throughput_of_workers.py), and the 15 seconds that docs/scaling.md promises
(test_share_repositories.py).
"""

import asyncio
import time
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

REPOSITORIES = 60
LONG_ANSWER_SECONDS = 2.0
"""So long that four workers, with six polls each in flight, wait nearly all the time, on however
slow a machine: what they poll grows with their number, not with the CPU that they get."""

ANSWER_SECONDS = 0.8
COUNTED_SECONDS = 10.0

GROWTH = {2: 1.3, 4: 1.3 * 1.3}
"""So many times as often as one. Twice the workers poll nearly twice as often where they only wait;
here they share a few cores with the service, Slack, the database and other tests."""


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
    fleet.mend_service()
    await entries.all_told_once()


@pytest.mark.postgres
@pytest.mark.timeout(600)
async def test_throughput_grows_with_the_workers_and_nothing_is_doubled(
    postgres_url: str, tmp_path: Path
) -> None:
    fleet = Fleet.of(postgres_url, tmp_path, repositories=REPOSITORIES, workers=1)
    async with fleet:
        seen = await fleet.begin_to_answer_slowly(LONG_ANSWER_SECONDS)
        async with entering(fleet):
            alone = await polls_a_second(seen)
            for number, growth in GROWTH.items():
                await fleet.grow(number)
                wanted = alone * growth

                async def is_faster(wanted: float = wanted) -> bool:
                    return await polls_a_second(seen) >= wanted

                await until_true(is_faster, f"{wanted:.1f} polls a second of {number} workers", 120)
        assert seen.doubled == []


@pytest.mark.postgres
@pytest.mark.timeout(600)
async def test_what_a_killed_and_a_hanging_worker_polled_is_taken_over(
    postgres_url: str, tmp_path: Path
) -> None:
    fleet = Fleet.of(postgres_url, tmp_path, repositories=24, workers=4)
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


async def polls_a_second(seen: PollsSeen) -> float:
    before, began = seen.count, time.monotonic()
    await asyncio.sleep(COUNTED_SECONDS)
    return (seen.count - before) / (time.monotonic() - began)


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
