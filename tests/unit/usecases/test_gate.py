"""How requests in flight and connections to the database are shared out."""

import asyncio

import pytest

from bot.merge_queue.http import KEPT_FOR_PEOPLE, REQUESTS_AT_ONCE
from bot.store.engines import CONNECTIONS
from bot.usecases.posting.post_deliveries import OUTCOMES_AT_ONCE
from bot.usecases.posting.refresh_live_messages import EDITS_AT_ONCE
from bot.usecases.tasks import (
    POLL_REQUESTS,
    STORED_AT_ONCE,
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


async def test_the_others_wait_in_the_order_in_which_they_came() -> None:
    crowd = Crowd(2)
    tasks = crowd.come("one", "two", "three", "four")
    await crowd.are_inside("one", "two")
    crowd.leave["two"].set()
    await crowd.are_inside("one", "two", "three")
    crowd.leave["one"].set()
    await crowd.are_inside("one", "two", "three", "four")
    for one in crowd.leave.values():
        one.set()
    await asyncio.gather(*tasks)


async def test_one_that_is_cancelled_leaves_its_place_to_the_next() -> None:
    crowd = Crowd(1)
    first, second, third = crowd.come("one", "cancelled", "two")
    await crowd.are_inside("one")
    for one in (second, first):
        one.cancel()
        with pytest.raises(asyncio.CancelledError):
            await one
    await crowd.are_inside("one", "two")
    crowd.leave["two"].set()
    await third


async def test_at_a_closed_gate_who_is_inside_finishes_and_the_others_are_sent_away() -> None:
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


def test_connections_are_left_for_people_and_for_jobs_that_run_one_at_a_time() -> None:
    assert CONNECTIONS - (STORED_AT_ONCE + OUTCOMES_AT_ONCE + EDITS_AT_ONCE) == 5


def test_polls_leave_requests_for_people_whatever_the_setting() -> None:
    assert poll_requests(REQUESTS_AT_ONCE) == POLL_REQUESTS
    assert all(requests - poll_requests(requests) > KEPT_FOR_PEOPLE for requests in range(8, 129))
