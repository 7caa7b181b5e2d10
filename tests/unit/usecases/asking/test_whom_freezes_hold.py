"""Whom a freeze in force holds: the queue of its branch, and no other."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.freezes.freeze import Freeze
from bot.kernel.groups import Group
from bot.log.sources import Sources
from bot.merge_queue.event_records import FreezeAttributes
from bot.merge_queue.freezes import ListedFreeze
from bot.merge_queue.position import InBatch
from bot.merge_queue.queue import QueueStatus
from bot.questions.texts.why import why
from bot.queues.position import Explanation
from bot.queues.reading import read_queue
from bot.queues.texts import group_status
from bot.queues.texts.status import status
from tests.support.clock import NOON, FakeClock
from tests.support.make import (
    SITE,
    make_batch,
    make_event_record,
    make_queued,
    make_snapshot,
    make_status,
)
from tests.support.merge_queue import FakeMergeQueue
from tests.support.store import InMemoryStore

DUE_AT = NOON + timedelta(minutes=10)


def queue(*frozen: bool | None) -> QueueStatus:
    """A batch of pull requests of which the service says that a freeze holds them, or not."""
    members = [
        make_queued(number).model_copy(update={"is_frozen": is_frozen})
        for number, is_frozen in enumerate(frozen, 41)
    ]
    return make_status(make_batch(*members, estimated_merge_at=DUE_AT))


def freeze(*conditions: str) -> Freeze:
    terms = FreezeAttributes(
        start="2026-07-20T08:00:00", timezone="UTC", matching_conditions=conditions
    )
    return Freeze(SITE, "f1", terms, "alice")


@pytest.mark.parametrize(
    ("branch", "state"), [("main", "running, *merging normally*"), ("release/1", "frozen")]
)
async def test_a_freeze_holds_the_queue_of_its_branch(branch: str, state: str) -> None:
    service = FakeMergeQueue(statuses={SITE: queue(None)})
    sources = Sources(service, InMemoryStore(), FakeClock())
    for hours in (-1, 1):
        start = (NOON + timedelta(hours=hours)).isoformat()
        sent = {"id": str(hours), "start": start, "matching_conditions": ["base=release/1"]}
        service.all_freezes[SITE].append(ListedFreeze.model_validate(sent))

    snapshot = await read_queue(SITE, sources, branch)

    shown = status(snapshot)
    assert f"*acme/site* on `{branch}` is {state}" in str(shown.blocks)
    is_running = branch == "main"
    assert ("Next freeze" in shown.text) != is_running
    assert ("Next merge expected" in shown.text) == is_running
    assert ("Why?" in str(shown.blocks)) == is_running
    assert (snapshot.merge_expected_at is not None) == is_running


@pytest.mark.parametrize(
    ("frozen", "state"),
    [
        ([None], "frozen"),
        ([True, True], "frozen"),
        ([True, False], "partly frozen, *merging normally*"),
        ([False], "partly frozen, *merging normally*"),
    ],
)
@pytest.mark.parametrize("condition", ["base=release/1", "label=risky"])
def test_the_service_says_whom_a_freeze_with_conditions_holds(
    frozen: Sequence[bool | None], state: str, condition: str
) -> None:
    snapshot = replace(make_snapshot(queue(*frozen)), freezes=(freeze(condition),))

    shown = status(snapshot)

    assert f"*acme/site* is {state}" in str(shown.blocks)
    assert "Frozen by alice" in shown.text
    assert ("expected" in shown.text) == (state != "frozen")
    of_group = group_status.status(Group("all", (SITE,)), [snapshot]).text
    assert f"acme/site {state.split(',', maxsplit=1)[0]} " in of_group


def test_checks_that_run_during_a_freeze_merge_nothing() -> None:
    (held,) = queue(*[True]).batches
    free = make_queued(44).model_copy(update={"is_frozen": False})
    snapshot = replace(
        make_snapshot(make_status(held, waiting=[free])), freezes=(freeze("label=risky"),)
    )
    assert "*first batch: held by a freeze*" in str(status(snapshot).blocks)


@pytest.mark.parametrize(
    ("base", "is_frozen", "is_expected"),
    [
        ("main", None, True),
        ("release/1", None, False),
        (None, None, False),
        ("release/1", False, True),
        (None, True, False),
    ],
)
def test_why_expects_a_merge_unless_a_freeze_holds_that_pull_request(
    *, base: str | None, is_frozen: bool | None, is_expected: bool
) -> None:
    status_now = queue(is_frozen)
    snapshot = replace(make_snapshot(status_now), freezes=(freeze("base=release/1"),))
    (batch,) = status_now.batches
    place = InBatch(batch.pull_requests[0], batch, 0)
    entered = make_event_record("action.queue.enter", base_ref=base)
    said = why(Explanation(41, snapshot, place, [entered], {}, None)).text
    assert ("Merge expected" in said) == is_expected


def test_why_shows_the_reason_of_a_freeze_as_it_was_written() -> None:
    queued = make_queued(41)
    status_now = make_status(make_batch(queued, code="frozen"))
    known = freeze("base=main")
    terms = known.terms.model_copy(update={"reason": "its batch job {batch} runs"})
    snapshot = replace(make_snapshot(status_now), freezes=(replace(known, terms=terms),))
    place = InBatch(queued, status_now.batches[0], 0)
    said = why(Explanation(41, snapshot, place, [], {}, None)).text
    assert "the scheduled freeze “its batch job {batch} runs”" in said
