"""Real workers on PostgreSQL: one polls, and another takes over when it can't go on.

What the times are on an idle machine, tests/unit/usecases/polling/test_one_polls.py measures in
virtual time.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.feed.poll_repositories import ASKED_EVERY, POLLING_LEASE
from bot.store.lease_values import POLL_LEASE
from tests.support.fleet import Entries, Fleet, Leases
from tests.support.polls_seen import PollsSeen
from tests.support.several_processes import RunningProcess
from tests.support.tcp_route import TcpRoute
from tests.support.waiting import until, until_true

REPOSITORIES = 6
ANSWER_SECONDS = 0.8
SLOW_MACHINE_SECONDS = 15.0
"""For three processes and a database on a part of a core, each of which waits for its turn."""

POLLED_SECONDS = 90.0
TAKEN_OVER_SECONDS = (POLLING_LEASE + ASKED_EVERY).total_seconds() + SLOW_MACHINE_SECONDS


@dataclass
class Disturbed:
    """The process that polls, and its way to the database."""

    process: RunningProcess
    route: TcpRoute


async def _kill(one: Disturbed) -> None:
    await one.process.process.kill()


async def _freeze(one: Disturbed) -> None:
    one.process.hang()


async def _cut_off(one: Disturbed) -> None:
    one.route.cut()


async def _stay_dead(one: Disturbed) -> None:
    assert not one.process.is_running


async def _go_on(one: Disturbed) -> None:
    one.process.go_on()


async def _mend(one: Disturbed) -> None:
    one.route.mend()


@pytest.mark.postgres
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("disturb", "restore"),
    [(_kill, _stay_dead), (_freeze, _go_on), (_cut_off, _mend)],
    ids=["killed", "frozen", "cut off from the database"],
)
async def test_another_worker_takes_over_within_the_lease_and_nothing_is_lost_or_doubled(
    disturb: Callable[[Disturbed], Awaitable[None]],
    restore: Callable[[Disturbed], Awaitable[None]],
    postgres_url: str,
    tmp_path: Path,
) -> None:
    fleet = Fleet.of(postgres_url, tmp_path, repositories=REPOSITORIES, workers=0)
    async with Leases(postgres_url) as leases, TcpRoute(postgres_url) as route, fleet:
        polling = await fleet.begin("worker", DATABASE_URL=route.url)
        await fleet.is_ready(polling)
        seen = await fleet.begin_to_answer_slowly(ANSWER_SECONDS)
        standby = await fleet.begin("worker")
        await fleet.is_ready(standby)
        async with entering(fleet) as entries:
            await seen.all_again(fleet.repositories, POLLED_SECONDS)
            await with_an_answer_unread(seen, entries)
            await disturb(Disturbed(polling, route))

            async def taken_over() -> bool:
                return await leases.holder(POLL_LEASE, [standby]) is not None

            await until_true(taken_over, "the heir has the lease", TAKEN_OVER_SECONDS)
            await seen.all_again(fleet.repositories, POLLED_SECONDS)
            # What it has read, or was about to do, it may not write any more.
            await restore(Disturbed(polling, route))
            await seen.all_again(fleet.repositories, POLLED_SECONDS)
            assert await leases.holder(POLL_LEASE, [standby]) is standby


@pytest.mark.postgres
@pytest.mark.timeout(300)
async def test_a_worker_that_stops_hands_over_and_no_log_is_read_by_two(
    postgres_url: str, tmp_path: Path
) -> None:
    fleet = Fleet.of(postgres_url, tmp_path, repositories=REPOSITORIES, workers=1)
    async with Leases(postgres_url) as leases, fleet:
        seen = await fleet.begin_to_answer_slowly(ANSWER_SECONDS)
        (polling,) = fleet.running("worker")
        standby = await fleet.begin("worker")
        await fleet.is_ready(standby)
        async with entering(fleet):
            await seen.all_again(fleet.repositories, POLLED_SECONDS)
            assert await leases.holder(POLL_LEASE, [polling]) is polling
            await fleet.stop(polling)
            await seen.all_again(fleet.repositories, POLLED_SECONDS)
            assert await leases.holder(POLL_LEASE, [standby]) is standby
        assert seen.doubled == []


@asynccontextmanager
async def entering(fleet: Fleet) -> AsyncIterator[Entries]:
    """Pull requests enter meanwhile, and in the end each has been posted once."""
    entries = Entries(fleet)
    running = asyncio.create_task(entries.run())
    try:
        yield entries
    finally:
        entries.stop()
        await running
    fleet.fix_service()
    await entries.all_posted_once()


async def with_an_answer_unread(seen: PollsSeen, entries: Entries) -> None:
    """Until a poll begins whose answer has an event that nobody has read yet."""
    repository = "acme/r000"
    # Its next poll begins a second later: the window of that one ends after the event.
    await seen.all_again([repository], POLLED_SECONDS)
    entries.enter(repository)
    begun = asyncio.Event()

    def note(polled: str) -> None:
        if polled == repository:
            begun.set()

    seen.on_begun = note
    await until(begun.is_set, f"a poll of {repository}", POLLED_SECONDS)
    seen.on_begun = None
