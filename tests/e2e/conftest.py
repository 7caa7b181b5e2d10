"""A bot for every conversation."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from tests.support.bot_tester import BotTester
from tests.support.database_fixtures import sqlite_template, sqlite_url

__all__ = ["sqlite_template", "sqlite_url"]

StartBot = Callable[..., Awaitable[BotTester]]


@pytest.fixture
async def start_bot(sqlite_url: str) -> AsyncIterator[StartBot]:
    """Start a bot with options of BotTester."""
    async with AsyncExitStack() as stack:

        async def start(**options: object) -> BotTester:
            # The options are BotTester's own, which checks them.
            tester = BotTester(sqlite_url, **options)  # type: ignore[arg-type]
            return await stack.enter_async_context(tester)

        yield start


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    """A bot for one quiet repository that no channel is subscribed to."""
    return await start_bot()
