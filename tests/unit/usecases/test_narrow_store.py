"""So many transactions at once and no more, in the order in which they were asked for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from typing_extensions import override

from bot.domain.errors import StoreUnavailable
from bot.ports import Transaction
from bot.storage.engines import CONNECTIONS
from bot.usecases import narrow_store
from bot.usecases.narrow_store import EDITS_AT_ONCE, OUTCOMES_AT_ONCE, POLLS_AT_ONCE, NarrowStore
from tests.support.store import InMemoryStore
from tests.support.waiting import until


class _OpenStore(InMemoryStore):
    """Transactions side by side, each until it is told to end; some do not begin."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[asyncio.Event] = []
        self.is_gone = False

    @override
    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Transaction]:
        if self.is_gone:
            raise StoreUnavailable("gone")
        end = asyncio.Event()
        self.begun.append(end)
        yield cast("Transaction", None)  # nobody looks into it
        await end.wait()


class Desk:
    def __init__(self, width: int) -> None:
        self.store = _OpenStore()
        self.narrow = NarrowStore(self.store, width)
        self.inside: list[str] = []

    def start(self, *names: str) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self._enter(name)) for name in names]

    async def _enter(self, name: str) -> None:
        async with self.narrow.begin():
            self.inside.append(name)

    async def are_inside(self, *names: str) -> None:
        await until(lambda: len(self.inside) >= len(names), "those that may begin")
        assert self.inside == [*names]


async def test_the_others_wait_in_their_order_and_hold_no_transaction() -> None:
    desk = Desk(2)
    tasks = desk.start("one", "two", "three", "four")
    await desk.are_inside("one", "two")
    assert len(desk.store.begun) == 2

    desk.store.begun[1].set()
    await desk.are_inside("one", "two", "three")
    desk.store.begun[0].set()
    await desk.are_inside("one", "two", "three", "four")
    for end in desk.store.begun:
        end.set()
    await asyncio.gather(*tasks)


async def test_one_that_cannot_begin_or_is_cancelled_leaves_its_place_to_the_next() -> None:
    desk = Desk(1)
    desk.store.is_gone = True
    with pytest.raises(StoreUnavailable, match="gone"):
        await desk.start("gone")[0]
    desk.store.is_gone = False
    first, second, third = desk.start("one", "cancelled", "two")
    await desk.are_inside("one")
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second

    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    await desk.are_inside("one", "two")
    desk.store.begun[-1].set()
    await third


async def test_at_the_end_of_the_process_nobody_waits_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(narrow_store, "LAST_WAIT_SECONDS", 0.01)
    desk = Desk(1)
    first, waits = desk.start("one", "two")
    await desk.are_inside("one")
    # Until then without a limit of time.
    await asyncio.sleep(0.05)
    assert not waits.done()

    desk.narrow.begin_no_more()
    (comes,) = desk.start("three")
    for one in (waits, comes):
        with pytest.raises(StoreUnavailable, match="did not end"):
            await one
    desk.store.begun[0].set()
    await first


def test_connections_are_left_for_people_and_for_jobs_that_run_one_at_a_time() -> None:
    assert CONNECTIONS - (POLLS_AT_ONCE + OUTCOMES_AT_ONCE + EDITS_AT_ONCE) == 5
