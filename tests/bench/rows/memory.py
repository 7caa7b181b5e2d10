"""Resident memory of a bot with a thousand repositories and a hundred thousand stored events."""

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.kernel.repository import RepositoryName
from bot.log.position import first_position
from bot.log.rows import Events, Positions
from bot.merge_queue.event_records import EventDetails, EventRecord
from bot.store.engines import create_engine
from bot.store.transactions import Store
from tests.bench.figures import Extent, Row
from tests.bench.program import running, running_both
from tests.bench.services import database
from tests.bench.services.merge_queue import QuietService
from tests.bench.services.slack import SlackService
from tests.bench.surroundings import environment
from tests.support.transactions import begin
from tests.support.waiting import until

EVENTS_EACH = 100


async def rows(extent: Extent) -> Sequence[Row]:
    repositories = extent.scaled(1_000, 100)
    names = [RepositoryName(f"acme/r{number}") for number in range(repositories)]
    async with SlackService() as slack, QuietService() as queue:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bot.sqlite3"
            await database.make(path)
            environ = {
                **environment(slack, queue),
                "DATABASE_URL": f"sqlite:///{path}",
                "MQBOT_REPOSITORIES": ",".join(names),
            }
            await _fill(environ["DATABASE_URL"], names)
            async with running_both(
                running("ours.bot_process", "socket", environ=environ),
                running("floors.libraries"),
            ) as (ours, floor):
                await until(
                    lambda: len(queue.logs) == repositories, "every log read once", seconds=120
                )
                megabytes = (await ours.play())["megabytes"]
                floor_megabytes = (await floor.play())["megabytes"]
    events = repositories * EVENTS_EACH
    what = f"memory, {repositories:,} repositories and {events:,} stored events"
    ratio = megabytes / floor_megabytes
    return [Row(what, "MB", megabytes, floor_megabytes, ratio, 1.6)]


async def _fill(url: str, names: Sequence[RepositoryName]) -> None:
    """Store a hundred posted events for each repository."""
    store = Store(create_engine(url))
    now = datetime.now(UTC)
    for number, name in enumerate(names):
        first = number * EVENTS_EACH
        events = [_event(name, first + k, now) for k in range(EVENTS_EACH)]
        with begin(store) as transaction:
            Positions(transaction).save(first_position(name, now))
            Events(transaction).add_new(events)
            Events(transaction).mark_routed(name, [event.event_id for event in events])
    await store.close()


def _event(name: RepositoryName, number: int, now: datetime) -> EventRecord:
    return EventRecord(
        repository=name,
        event_id=number,
        received_at=now - timedelta(minutes=number % 1000),
        type="action.queue.enter",
        pull_request=number,
        base_ref="main",
        session_id=None,
        details=EventDetails(queue_name="default", branch="main"),
    )
