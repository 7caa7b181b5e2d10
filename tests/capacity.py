"""`python -m tests.capacity`: what a bot with default settings needs, for docs/scaling.md.

    requests REPOSITORIES --busy 6   requests a minute, and the bot's memory
    disk --events 20000 --postgres   what an event takes in the database, posted in one channel

Both local services run here, `mqbot run` in a process of its own.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import sqlalchemy as sa

import bot.runtime.schema  # noqa: F401 - makes every table known
from bot.cli.manifest import manifest_path
from bot.kernel.repository import RepositoryName
from bot.log.position import first_position
from bot.log.rows import Positions
from bot.sandbox.merge_queue.controls import SentEvent
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.server import Sandbox
from bot.sandbox.slack.server import SlackSandbox
from bot.store import migrate
from bot.store.engines import create_engine
from bot.store.space import space_of
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.backlog import REPOSITORY, fill, resident
from tests.support.postgres import PostgresServer
from tests.support.settings import between

CHANNEL = "C0MERGEQ"
QUIET = timedelta(hours=2)
"""So long ago was the last event of a quiet repository: it is polled as seldom as can be."""

STEADY_SECONDS = 90.0
"""Until every repository was read after the start."""

SECONDS = 130.0
"""A queue that nobody watches is read every two minutes."""

EVENT_SECONDS = 60.0
"""Between two events of a busy repository."""

BACKFILL_MINUTES = "3000"
WITHIN_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Requests:
    """What a number of repositories costs."""

    a_minute: float  #: requests to the service
    megabytes: float  #: peak of the bot's resident memory


async def requests(repositories: int, busy: int, seconds: float, steady: float) -> Requests:
    names = [RepositoryName(f"acme/r{number}") for number in range(repositories)]
    queue = MergeQueueSandbox(repositories=dict.fromkeys(names, "quiet"))
    async with Sandbox(queue, SlackSandbox(manifest_path())) as services:
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/bot.sqlite3"
            await _begin(url, names)
            listed = Path(folder) / "repositories"
            listed.write_text("\n".join(names))
            channels = ";".join(f"{name}={CHANNEL}:normal" for name in names[:busy])
            environ = between(
                services.addresses,
                url,
                MQBOT_REPOSITORIES=f"@{listed}",
                MQBOT_CHANNELS=channels,
                MQBOT_POLL_SECONDS="",
            )
            async with _bot(environ) as process, asyncio.TaskGroup() as group:
                events = group.create_task(_events(queue, names[:busy]))
                await asyncio.sleep(steady)
                before = queue.request_count
                began = time.monotonic()
                await asyncio.sleep(seconds)
                made = queue.request_count - before
                minutes = (time.monotonic() - began) / 60
                events.cancel()
                return Requests(made / minutes, resident(process.pid))


async def _begin(url: str, names: Sequence[RepositoryName]) -> None:
    """Pretend that each event log was read, with its last event some time ago."""
    migrate.upgrade(url)
    store = Store(create_engine(url))
    at = datetime.now(UTC) - QUIET

    def save(transaction: Transaction) -> None:
        for name in names:
            Positions(transaction).save(first_position(name, at))

    await store.run(save)
    await store.close()


async def _events(queue: MergeQueueSandbox, busy: Sequence[RepositoryName]) -> None:
    """A pull request enters each busy repository, and is merged with the next event."""
    metadata = {"queue_name": "default", "branch": "main"}
    for number in count():
        kind = "merged" if number % 2 else "enter"
        event = SentEvent(f"action.queue.{kind}", metadata, number // 2 + 1, "main")
        for name in busy:
            queue.emit(name, event)
        await asyncio.sleep(EVENT_SECONDS)


@asynccontextmanager
async def _bot(environ: Mapping[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    ours = {"MQBOT_LOG_LEVEL": "WARNING", **environ}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "run", env={**os.environ, **ours}
    )
    try:
        yield process
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), 20)


async def disk(events: int, url: str, within_seconds: float) -> float:
    """Bytes in the database for each event, after all are posted; raises TimeoutError."""
    queue = MergeQueueSandbox(repositories={REPOSITORY: "quiet"}, log_limit=events + 1000)
    async with Sandbox(queue, SlackSandbox(manifest_path())) as services:
        fill(queue, events)
        migrate.upgrade(url)
        store = Store(create_engine(url))
        empty = await store.read(_size)
        environ = between(
            services.addresses,
            url,
            MQBOT_CHANNELS=f"{REPOSITORY}={CHANNEL}:style:feed",
            MQBOT_BACKFILL_MINUTES=BACKFILL_MINUTES,
        )
        async with _bot(environ), asyncio.timeout(within_seconds):
            await _all_posted(store, events)
        # SQLite's files beside it go with the last connection.
        await store.close()
        store = Store(create_engine(url))
        full = await store.read(_size)
        await store.close()
    return (full - empty) / events


async def _all_posted(store: Store, events: int) -> None:
    while True:
        # In this order: what is stored last is routed and posted later.
        if await store.read(_stored) == events and not await store.read(_unposted):
            return
        await asyncio.sleep(1)


def _size(transaction: Transaction) -> int:
    return space_of(transaction.connection).database


def _stored(transaction: Transaction) -> int:
    return int(transaction.connection.scalar(sa.text("SELECT count(*) FROM events")))


def _unposted(transaction: Transaction) -> int:
    waiting = "SELECT count(*) FROM deliveries WHERE settled_at IS NULL"
    unrouted = "SELECT count(*) FROM events WHERE NOT routed"
    return sum(int(transaction.connection.scalar(sa.text(one))) for one in (waiting, unrouted))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    of_requests = parts.add_parser("requests")
    of_requests.add_argument("repositories", type=int)
    of_requests.add_argument("--busy", type=int, default=0)
    of_disk = parts.add_parser("disk")
    of_disk.add_argument("--events", type=int, default=20_000)
    of_disk.add_argument("--postgres", action="store_true")
    asked = parser.parse_args()
    if asked.part == "requests":
        found = asyncio.run(requests(asked.repositories, asked.busy, SECONDS, STEADY_SECONDS))
        print(
            f"{asked.repositories:,} repositories, {asked.busy:,} of them busy: "
            f"{found.a_minute:,.0f} requests a minute, {found.megabytes:.0f} MB"
        )
        return
    if asked.postgres:
        server = PostgresServer.started()
        try:
            url = server.url(server.create_database())
            each = asyncio.run(disk(asked.events, url, WITHIN_SECONDS))
        finally:
            server.stop()
    else:
        with tempfile.TemporaryDirectory() as folder:
            each = asyncio.run(
                disk(asked.events, f"sqlite:///{folder}/bot.sqlite3", WITHIN_SECONDS)
            )
    print(f"{asked.events:,} events: {each:,.0f} bytes each")


if __name__ == "__main__":
    main()
