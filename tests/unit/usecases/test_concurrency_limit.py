"""How requests in flight and connections to the database are shared out."""

import asyncio

import pytest

from bot.merge_queue.http import KEPT_FOR_PEOPLE, REQUESTS_AT_ONCE
from bot.store.engines import CONNECTIONS
from bot.usecases.posting.post_deliveries import LARGEST_OUTCOMES
from bot.usecases.posting.refresh_live_messages import CONCURRENT_EDITS
from bot.usecases.tasks import (
    CONCURRENT_STORES,
    POLL_REQUESTS,
    ConcurrencyLimit,
    LimitClosed,
    poll_requests,
)
from tests.support.waiting import until


class Crowd:
    """People at a concurrency, each of whom stays inside until `leave` is set."""

    def __init__(self, width: int) -> None:
        self.concurrency = ConcurrencyLimit(width)
        self.inside: list[str] = []
        self.leave: dict[str, asyncio.Event] = {}

    def come(self, *names: str) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self._enter(name)) for name in names]

    async def _enter(self, name: str) -> None:
        self.leave[name] = asyncio.Event()
        async with self.concurrency.slot():
            self.inside.append(name)
            await self.leave[name].wait()

    async def are_inside(self, *names: str) -> None:
        await until(lambda: len(self.inside) >= len(names), "those that may enter")
        assert self.inside == [*names]


async def test_waiting_calls_run_in_order_and_a_cancelled_one_frees_its_place() -> None:
    crowd = Crowd(2)
    one, two, three, four, *_ = crowd.come("one", "two", "three", "four", "five")
    await crowd.are_inside("one", "two")
    crowd.leave["two"].set()
    await crowd.are_inside("one", "two", "three")
    for cancelled in (four, one):
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
    await crowd.are_inside("one", "two", "three", "five")
    for leaving in crowd.leave.values():
        leaving.set()
    await asyncio.gather(two, three)


async def test_a_closed_gate_lets_running_calls_finish_and_rejects_others() -> None:
    crowd = Crowd(1)
    first, waits = crowd.come("one", "two")
    await crowd.are_inside("one")
    crowd.concurrency.close()
    (comes,) = crowd.come("three")
    crowd.leave["one"].set()
    await first
    for one in (waits, comes):
        with pytest.raises(LimitClosed):
            await one


def test_connections_are_reserved_for_people_and_single_jobs() -> None:
    assert CONNECTIONS - (CONCURRENT_STORES + LARGEST_OUTCOMES + CONCURRENT_EDITS) == 5


def test_polls_leave_capacity_for_people_with_any_setting() -> None:
    assert poll_requests(REQUESTS_AT_ONCE) == POLL_REQUESTS
    assert all(requests - poll_requests(requests) > KEPT_FOR_PEOPLE for requests in range(8, 129))
