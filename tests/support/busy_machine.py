"""A machine that is busy elsewhere, for finding tests that rely on a fast one.

`pytest -p tests.support.busy_machine tests/e2e` delays what the database, the service and Slack
tell the bot, now and then and by chance: the moments between an act and its record, which a quiet
machine passes in a millisecond, last for half a second.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bot.merge_queue.http import Http
from bot.runtime import adapters
from bot.slack.web_api.clients import LimitedWebClient
from bot.store.transactions import Store
from tests.support.reused_engines import ReusedEngines

SHARE = 0.2
"""Of the answers that come late."""
LATE_SECONDS = 0.6
"""How late they come at most."""


class BusyStore(Store):
    """What was committed is known to others before it is to the bot."""


def _late(work: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def late(*args: Any, **kwargs: Any) -> Any:
        try:
            return await work(*args, **kwargs)
        finally:
            if random.random() < SHARE:
                await asyncio.sleep(random.uniform(0.0, LATE_SECONDS))

    return late


@pytest.fixture(autouse=True)
def busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the bot's own answers come late; what the test looks at is there when it looks."""
    monkeypatch.setattr(BusyStore, "run", _late(Store.run))
    monkeypatch.setattr(adapters, "Store", BusyStore)
    monkeypatch.setattr(ReusedEngines, "store", BusyStore)
    monkeypatch.setattr(Http, "call", _late(Http.call))
    monkeypatch.setattr(LimitedWebClient, "api_call", _late(LimitedWebClient.api_call))
