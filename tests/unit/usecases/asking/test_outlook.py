"""How long it takes by the stored log, and when nothing is said of it."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.freezes.freeze import Ending, Freeze, Stage, Told
from bot.freezes.rows import Freezes
from bot.log.rows import Events
from bot.log.sources import Sources
from bot.merge_queue.event_records import FreezeAttributes
from bot.merge_queue.event_types import LEAVE, MERGED
from bot.merge_queue.queue import QueueStatus
from bot.queues.estimate import NO_OUTLOOK
from bot.queues.outlook import ForeseeQueue, read_past
from bot.queues.snapshot import Snapshot
from tests.support.clock import NOON, FakeClock
from tests.support.make import (
    SITE,
    make_batch,
    make_event_record,
    make_known_pause,
    make_queued,
    make_snapshot,
    make_status,
)
from tests.support.merge_queue import FakeMergeQueue
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
MERGES = 30
TOOK = 20 * MINUTE


@pytest.fixture
def sources() -> Sources:
    """A queue in which each pull request merged after twenty minutes."""
    store = InMemoryStore()
    records = []
    for number in range(MERGES):
        at = NOON - number * HOUR - 30 * MINUTE
        for place, type_ in enumerate((LEAVE, MERGED)):
            records.append(
                make_event_record(
                    type_,
                    event_id=2 * number + place,
                    received_at=at,
                    pull_request=number,
                    merged=True,
                    code="PR_MERGED",
                    queued_at=at - TOOK,
                )
            )
    with begin(store) as transaction:
        Events(transaction).add_new(records)
    return Sources(FakeMergeQueue(), store, FakeClock())


def frozen(begins_at: datetime, **fields: Any) -> Freeze:
    start = begins_at.replace(tzinfo=None).isoformat()
    terms = FreezeAttributes(reason="release", start=start, timezone="UTC")
    told = Told(77, 77, begins_at)
    return Freeze(SITE, None, terms, "alice", told, Stage.IN_FORCE, **fields)


def queue(**fields: Any) -> QueueStatus:
    first = make_queued(41).model_copy(update={"queued_at": NOON - 5 * MINUTE})
    return make_status(make_batch(first)).model_copy(update=fields)


async def test_the_next_merge_and_a_new_one(sources: Sources) -> None:
    found = await ForeseeQueue(sources).of(make_snapshot(queue()))
    assert found.next_merge is not None
    assert found.next_merge.remaining == TOOK - 5 * MINUTE
    assert found.added_now is not None
    assert found.added_now.remaining == TOOK


async def test_an_empty_queue_has_no_next_merge(sources: Sources) -> None:
    found = await ForeseeQueue(sources).of(make_snapshot())
    assert found.next_merge is None
    assert found.added_now is not None


@pytest.mark.parametrize(
    "snapshot",
    [
        make_snapshot(queue(), pause=make_known_pause()),
        replace(make_snapshot(queue()), freezes=(frozen(NOON - HOUR),)),
        make_snapshot(queue(mode="parallel")),
        make_snapshot(queue(unreadable=1)),
        make_snapshot(make_status(make_batch(make_queued(41), code="waiting_schedule"))),
        make_snapshot(queue(), branch="release"),
    ],
    ids=["paused", "frozen", "several-lines", "unreadable", "schedule", "another-branch"],
)
async def test_nothing_is_said_of_what_cannot_be_known(
    snapshot: Snapshot, sources: Sources
) -> None:
    assert await ForeseeQueue(sources).of(snapshot) == NO_OUTLOOK


async def test_nothing_merges_after_the_next_freeze_begins(sources: Sources) -> None:
    freeze = frozen(NOON + TOOK - 2 * MINUTE)
    found = await ForeseeQueue(sources).of(replace(make_snapshot(queue()), next_freeze=freeze))
    assert found.next_merge is not None
    assert found.added_now is None


async def test_a_freeze_of_these_days_does_not_count_as_waiting(sources: Sources) -> None:
    freeze = frozen(NOON - 40 * HOUR, ending=Ending(NOON - 5 * MINUTE))
    with begin(sources.store) as transaction:
        Freezes(transaction).save(freeze)
    found = await ForeseeQueue(sources).of(make_snapshot(queue()))
    assert found == NO_OUTLOOK


@pytest.mark.parametrize(
    "conditions",
    [{"matching_conditions": ("base=release/1",)}, {"exclude_conditions": ("label=hotfix",)}],
    ids=["another-branch", "some-merge"],
)
async def test_a_freeze_that_did_not_hold_the_branch_held_nothing(
    sources: Sources, conditions: dict[str, tuple[str, ...]]
) -> None:
    before = await ForeseeQueue(sources).of(make_snapshot(queue()))
    freeze = frozen(NOON - 40 * HOUR, ending=Ending(NOON - 5 * MINUTE))
    terms = freeze.terms.model_copy(update=conditions)
    with begin(sources.store) as transaction:
        Freezes(transaction).save(replace(freeze, terms=terms))

    assert await ForeseeQueue(sources).of(make_snapshot(queue())) == before
    assert before != NO_OUTLOOK


async def test_each_new_end_counts(sources: Sources) -> None:
    foresee = ForeseeQueue(sources)
    before = await foresee.of(make_snapshot(queue()))
    assert await foresee.of(make_snapshot(queue())) == before

    leave = make_event_record(
        LEAVE,
        event_id=1_000,
        received_at=NOON - MINUTE,
        pull_request=1_000,
        merged=True,
        code="PR_MERGED",
        queued_at=NOON - 40 * MINUTE,
    )
    with begin(sources.store) as transaction:
        Events(transaction).add_new([leave])

    after = await foresee.of(make_snapshot(queue()))
    assert after == await ForeseeQueue(sources).of(make_snapshot(queue()))
    assert after != before


async def test_no_pauses_are_read_from_before_what_is_learned_from(sources: Sources) -> None:
    leave = make_event_record(
        LEAVE,
        event_id=1_000,
        received_at=NOON - MINUTE,
        pull_request=1_000,
        merged=True,
        code="PR_MERGED",
        queued_at=NOON - timedelta(days=300),
    )
    freeze = frozen(NOON - timedelta(days=200), ending=Ending(NOON - timedelta(days=199)))
    with begin(sources.store) as transaction:
        Events(transaction).add_new([leave])
        Freezes(transaction).save(freeze)
    stored = await sources.store.read(read_past, SITE, NOON)
    assert len(stored.entries) == MERGES + 1
    assert (stored.pauses, stored.freezes) == ([], [])
