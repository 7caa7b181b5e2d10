"""The bot's polling with its store and its client, without Slack."""

import gc
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pydantic import SecretStr

from bot.cli.main import GARBAGE_THRESHOLD
from bot.feed.poll_repositories import PollRepositories
from bot.kernel.clock import Clock
from bot.kernel.metrics import UNSCRAPED, Metrics
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import poll_requests
from bot.log.position import first_position
from bot.log.rows import Positions
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.http import REQUESTS_AT_ONCE, Http
from bot.store.engines import create_engine
from bot.store.transactions import Store
from tests.support.loops import Loop, fixed
from tests.support.transactions import begin

INTERVAL = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Poller:
    """Composed as bot.runtime.jobs composes it."""

    store: Store
    polls: PollRepositories
    client: MergeQueueClient


def repositories(count: int) -> Sequence[RepositoryName]:
    return [RepositoryName(f"acme/r{number}") for number in range(count)]


def begin_logs(store: Store, names: Sequence[RepositoryName], at: datetime) -> None:
    """Pretend that each event log was polled for the first time."""
    with begin(store) as transaction:
        for name in names:
            Positions(transaction).save(first_position(name, at))


@asynccontextmanager
async def opened(
    names: Sequence[RepositoryName],
    clock: Clock,
    *,
    metrics: Metrics = UNSCRAPED,
    longest: timedelta = INTERVAL,
) -> AsyncIterator[Poller]:
    """On the database at DATABASE_URL; the service is at BENCH_SERVICE.

    `longest`: between two polls of a log in which nothing happens.
    """
    store = Store(create_engine(os.environ["DATABASE_URL"]))
    http = Http(
        base_url=os.environ["BENCH_SERVICE"],
        token=SecretStr("bench-token"),
        clock=clock,
    )
    async with MergeQueueClient(http) as client:
        interval = replace(fixed(INTERVAL), longest=longest)
        polls = Loop(
            store,
            client.scheduled,
            clock,
            names,
            "bench",
            interval=interval,
            metrics=metrics,
            requests=poll_requests(REQUESTS_AT_ONCE),
        ).only_logs()
        gc.set_threshold(GARBAGE_THRESHOLD)
        yield Poller(store, polls, client)
        await polls.drain()
    await store.close()
