"""Why nothing merges, from what was just read of a queue and what is stored of its past."""

from datetime import datetime, timedelta

import pytest

from bot.doctor.diagnosis import Diagnosis
from bot.doctor.examining import ExamineQueue
from bot.freezes.freeze import Ending, Freeze, Stage, Told
from bot.freezes.rows import Freezes
from bot.log.rows import Events
from bot.log.sources import Sources
from bot.merge_queue.event_records import FreezeAttributes
from bot.merge_queue.event_types import ENTER, MERGED
from bot.merge_queue.freezes import ListedFreeze
from bot.pauses.rows import Pauses
from bot.queues.outlook import ForeseeQueue
from tests.support.clock import NOON, FakeClock
from tests.support.make import (
    SITE,
    make_batch,
    make_event_record,
    make_known_pause,
    make_queued,
    make_status,
)
from tests.support.merge_queue import FakeMergeQueue
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
QUEUED_AT = NOON - 3 * HOUR


class World:
    """A queue of `main` with one pull request, in which nothing has merged for two hours."""

    def __init__(self) -> None:
        self.service = FakeMergeQueue()
        head = make_queued(41).model_copy(update={"queued_at": QUEUED_AT})
        self.service.statuses[SITE] = make_status(make_batch(head))
        self.store = InMemoryStore()
        events = [
            make_event_record(ENTER, event_id=1, received_at=QUEUED_AT),
            make_event_record(MERGED, event_id=2, received_at=NOON - 2 * HOUR, pull_request=40),
        ]
        with begin(self.store) as transaction:
            Events(transaction).add_new(events)

    async def examine(self) -> Diagnosis:
        sources = Sources(self.service, self.store, FakeClock())
        return await ExamineQueue(sources, ForeseeQueue(sources)).run(SITE)

    def has_stored(self, freeze: Freeze) -> None:
        with begin(self.store) as transaction:
            Freezes(transaction).save(freeze)

    def lists(self, freeze_id: str) -> None:
        start = (NOON - HOUR).isoformat()
        sent = {"id": freeze_id, "start": start, "matching_conditions": ["base=release/1"]}
        self.service.all_freezes[SITE].append(ListedFreeze.model_validate(sent))


def freeze(*conditions: str, ended_at: datetime | None = None) -> Freeze:
    terms = FreezeAttributes(
        reason="release",
        start=(NOON - HOUR).replace(tzinfo=None).isoformat(),
        timezone="UTC",
        matching_conditions=conditions,
    )
    told = Told(77, 77, NOON - HOUR)
    ending = Ending(ended_at) if ended_at is not None else None
    stage = Stage.IN_FORCE if ended_at is None else Stage.OVER
    return Freeze(SITE, "f1", terms, "alice", told, stage, ending=ending)


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize(
    ("conditions", "waited"),
    [
        (["base=release/1"], 2 * HOUR),
        (["base=main"], 5 * MINUTE),
        ([], 5 * MINUTE),
        # Nobody but the service knows whom it held.
        (["label=risky"], 5 * MINUTE),
    ],
)
async def test_a_freeze_of_another_branch_that_ended_released_nothing(
    conditions: list[str], waited: timedelta, world: World
) -> None:
    world.has_stored(freeze(*conditions, ended_at=NOON - 5 * MINUTE))
    assert (await world.examine()).seen.waited == waited


async def test_what_ended_on_the_dashboard_since_the_last_poll_explains_the_wait(
    world: World,
) -> None:
    world.has_stored(freeze())
    found = await world.examine()
    assert found.facts.freezes == ()
    assert found.seen.waited == timedelta()


async def test_a_pause_that_has_just_ended_explains_the_wait(world: World) -> None:
    with begin(world.store) as transaction:
        Pauses(transaction).save(make_known_pause())
    found = await world.examine()
    assert found.facts.pause is None
    assert found.seen.waited == timedelta()


@pytest.mark.parametrize("is_listed", [True, False])
async def test_a_freeze_of_another_branch_explains_no_wait(
    world: World, *, is_listed: bool
) -> None:
    world.has_stored(freeze("base=release/1"))
    if is_listed:
        world.lists("f1")
    assert (await world.examine()).seen.waited == 2 * HOUR
