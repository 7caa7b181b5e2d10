"""Each request has a connection for itself, and as few are open as are used at once."""

import asyncio

import httpx

from bot.merge_queue.connection import Lanes


async def test_a_lane_is_used_again_and_one_more_is_opened_when_all_are_taken() -> None:
    opened: list[httpx.AsyncClient] = []

    def lane() -> httpx.AsyncClient:
        opened.append(httpx.AsyncClient(trust_env=False))
        return opened[-1]

    lanes = Lanes(lane)
    for _ in range(3):
        async with lanes.taken() as first:
            assert first is opened[0]
    async with lanes.taken() as first, lanes.taken() as second:
        assert first is not second
    # The one given back last is the one whose connection is the youngest.
    async with lanes.taken() as third:
        assert third is first
    assert len(opened) == 2
    await lanes.aclose()
    assert all(one.is_closed for one in opened)


async def test_a_lane_comes_back_from_a_request_that_is_given_up() -> None:
    lanes = Lanes(lambda: httpx.AsyncClient(trust_env=False))
    taken: asyncio.Queue[httpx.AsyncClient] = asyncio.Queue()

    async def hold() -> None:
        async with lanes.taken() as lane:
            taken.put_nowait(lane)
            await asyncio.Event().wait()

    holding = asyncio.create_task(hold())
    held = await taken.get()
    holding.cancel()
    await asyncio.wait([holding])
    async with lanes.taken() as again:
        assert again is held
    await lanes.aclose()
