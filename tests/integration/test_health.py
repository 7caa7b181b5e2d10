"""Health, readiness and metrics over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field

import aiohttp
import pytest

from bot.runtime.health_port import Health, metrics_route, open_port
from bot.store.errors import StoreUnavailable


@dataclass
class Watched:
    """A process with a database that can be well, ill, gone or slow."""

    session: aiohttp.ClientSession
    health: Health = field(default_factory=lambda: Health(3.0))
    port: int = 0
    database: str | Exception | None = None
    answers: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self, stack: AsyncExitStack) -> None:
        async def check() -> str | None:
            await self.answers.wait()
            if isinstance(self.database, Exception):
                raise self.database
            return self.database

        async def scrape() -> bytes:
            return b"mqbot_up 1\n"

        self.answers.set()
        self.health.add("database", check)
        routes = [*self.health.routes(), metrics_route(scrape, "text/plain; version=0.0.4")]
        self.port = await open_port(stack, "127.0.0.1", 0, routes)

    async def get(self, path: str) -> tuple[int, str, object]:
        url = f"http://127.0.0.1:{self.port}{path}"
        async with self.session.get(url) as answer:
            is_json = answer.content_type == "application/json"
            body = await answer.json() if is_json else await answer.text()
            return answer.status, answer.headers["Content-Type"], body

    async def readiness(self) -> tuple[int, object]:
        status, _, body = await self.get("/readyz")
        return status, body


@pytest.fixture
async def watched() -> AsyncIterator[Watched]:
    async with aiohttp.ClientSession() as session, AsyncExitStack() as stack:
        one = Watched(session)
        await one.open(stack)
        yield one


async def test_a_process_is_ready_between_its_start_and_its_stop(watched: Watched) -> None:
    assert (await watched.get("/healthz"))[0] == 200
    assert await watched.readiness() == (
        503,
        {
            "ready": False,
            "checks": {"started": False, "database": True},
            "problems": {"started": "still starting"},
        },
    )
    assert await watched.get("/metrics") == (200, "text/plain; version=0.0.4", "mqbot_up 1\n")
    watched.health.begin()
    ready = {"ready": True, "checks": {"database": True}, "problems": {}}
    assert await watched.readiness() == (200, ready)
    watched.health.end()
    status, body = await watched.readiness()
    assert status == 503
    assert isinstance(body, dict)
    assert body["problems"] == {"stopping": "stopping"}


@pytest.mark.parametrize("problem", ["does not answer", StoreUnavailable("s3same"), OSError("no")])
async def test_readiness_names_only_the_missing_parts(
    watched: Watched, problem: str | Exception
) -> None:
    watched.health.begin()
    watched.database = problem
    assert await watched.readiness() == (
        503,
        {
            "ready": False,
            "checks": {"database": False},
            "problems": {"database": "does not answer"},
        },
    )
    assert (await watched.get("/healthz"))[0] == 200


async def test_a_hanging_check_counts_as_failed(watched: Watched) -> None:
    watched.health.seconds = 0.01
    watched.health.begin()
    watched.answers.clear()
    assert (await watched.readiness())[0] == 503


async def test_a_check_that_cannot_be_cancelled_blocks_nobody_and_is_not_repeated(
    watched: Watched,
) -> None:
    """A transaction ends before its cancellation does: in seconds, with a database that hangs."""
    watched.health.seconds = 0.01
    begun = []
    answers = asyncio.Event()

    async def check() -> None:
        begun.append(asyncio.current_task())
        while not answers.is_set():
            with suppress(asyncio.CancelledError):
                await answers.wait()

    watched.health.add("database", check)
    watched.health.begin()
    async with asyncio.timeout(30):
        for _ in range(2):
            assert (await watched.readiness())[0] == 503
    answers.set()
    watched.health.seconds = 30
    assert (await watched.readiness())[0] == 200
    assert len(begun) <= 2
