"""Polls that all wait for one row block nobody else: PostgreSQL only.

The bot waits here for a row, and for a connection, as long as the test takes: what does not stand
behind the polls is seen to go on meanwhile, on however slow a machine.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, Select, func, select, text

from bot.kernel.tasks import CONCURRENT_STORES
from bot.posts.tables import channel_queues, deliveries
from bot.store.engines import WRITING_CONNECTIONS, create_engine
from bot.store.lease_values import POLL_LEASE
from bot.store.tables import leases
from bot.store.transactions import Store
from tests.support.bot_tester import ALICE, GENERAL, INCIDENTS, MERGE_QUEUE, RELEASES, BotTester
from tests.support.databases import PATIENT
from tests.support.waiting import until, until_true

CHANNELS = (RELEASES, GENERAL, MERGE_QUEUE)
REPOSITORIES = tuple(f"acme/r{number:02}" for number in range(WRITING_CONNECTIONS + 6))
"""More than a process has connections."""

LEASE = select(leases.c.expires_at).where(leases.c.name == POLL_LEASE)
UNSETTLED = select(func.count()).where(deliveries.c.settled_at.is_(None))
WAITING = text(
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


def open_patient_store(url: str) -> Store:
    return Store(create_engine(url, **PATIENT))


@pytest.fixture
async def database(postgres_url: str) -> AsyncIterator[Engine]:
    engine = create_engine(postgres_url, **PATIENT)
    yield engine
    engine.dispose()


@pytest.mark.postgres
@pytest.mark.timeout(300)
async def test_the_lease_and_people_do_not_wait_behind_polls(
    postgres_url: str, database: Engine
) -> None:
    heard = zip(REPOSITORIES, CHANNELS * len(REPOSITORIES), strict=False)
    async with BotTester(
        postgres_url,
        dict.fromkeys(REPOSITORIES, "quiet"),
        ";".join(f"{name}={channel}:enter" for name, channel in heard),
        open_store=open_patient_store,
    ) as bot:
        for name in REPOSITORIES[: len(CHANNELS)]:
            bot.enqueue(name)
        await reported(bot, len(CHANNELS))
        await until_settled(database)
        async with lines_locked(database):
            for name in REPOSITORIES:
                bot.enqueue(name)
            await until_polls_wait(database)

            await continues(database, LEASE, "the lease under which polls wait")
            linked = await bot.ask("/mq link alice-acme", by=ALICE, channel=INCIDENTS)
            assert "alice-acme" in linked
            assert await one_value(database, WAITING) == CONCURRENT_STORES
        await reported(bot, len(CHANNELS) + len(REPOSITORIES))
        for channel in CHANNELS:
            bot.posts(channel)


async def reported(bot: BotTester, number: int) -> None:
    def seen() -> bool:
        return sum(len(bot.posts(channel)) for channel in CHANNELS) >= number

    await until(seen, f"{number} posts", 120)


async def until_settled(database: Engine) -> None:
    """Or the one who stores outcomes waits for a line as well."""

    async def settled() -> bool:
        return int(await one_value(database, UNSETTLED)) == 0

    await until_true(settled, "outcomes are stored")


@asynccontextmanager
async def lines_locked(database: Engine) -> AsyncIterator[None]:
    """As by a posting process that gets no CPU."""
    with database.begin() as connection:
        # In a thread: the bot, in this loop, may hold a line for a moment.
        await asyncio.to_thread(
            connection.execute, select(channel_queues.c.queue).with_for_update()
        )
        yield


async def until_polls_wait(database: Engine) -> None:
    """As many as are let wait for the lines."""

    async def wait() -> bool:
        return int(await one_value(database, WAITING)) >= CONCURRENT_STORES

    await until_true(wait, "polls that wait for a line")


async def continues(database: Engine, time: Select[Any], what: str) -> None:
    """It is put off twice: the first may have been under way before the polls waited."""
    for _ in range(2):
        before = await one_value(database, time)

        async def later(before: Any = before) -> bool:
            return bool(await one_value(database, time) > before)

        await until_true(later, f"{what}, renewed", 30)


async def one_value(database: Engine, query: Any) -> Any:
    with database.connect() as connection:
        return connection.execute(query).scalar_one()
