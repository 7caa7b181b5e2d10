"""Where a pull request is, from the queue and its events."""

from dataclasses import replace

import pytest

from bot.domain.event_records import EventDetails, EventRecord
from bot.domain.queue import QueueStatus, SubBatch
from bot.domain.queue_position import (
    InBatch,
    NotQueued,
    QueuePosition,
    find,
)
from tests.support.make import make_batch, make_event_record, make_queued, make_status

EMPTY = make_status()
ENTER, LEAVE, MERGED = "action.queue.enter", "action.queue.leave", "action.queue.merged"


def where(*records: EventRecord, status: QueueStatus = EMPTY) -> QueuePosition:
    return find(41, status, records)


def reported(*types: str, merged: bool | None = None) -> list[EventRecord]:
    """Events of those types; `merged` is what a leave says."""
    return [
        make_event_record(type_, event_id=number, merged=merged if type_ == LEAVE else None)
        for number, type_ in enumerate(types, 1)
    ]


def test_during_a_bisection_a_position_shows_its_own_part() -> None:
    pieces = [
        SubBatch.model_validate(make_batch(make_queued(n), name=f"piece-{n}").model_dump())
        for n in (40, 41)
    ]
    batch = make_batch(make_queued(40), make_queued(41), code="bisecting")
    status = make_status(batch.model_copy(update={"sub_batches": tuple(pieces)}))

    found = where(status=status)

    assert isinstance(found, InBatch)
    assert found.batch.name == "piece-41"


def test_a_merge_is_reported_regardless_of_the_leave() -> None:
    entered, left, merged = reported(ENTER, LEAVE, MERGED)
    assert where(entered, left, merged) == NotQueued(merged, has_merged=True)
    _, merged = both = reported(ENTER, LEAVE, merged=True)
    assert where(*both) == NotQueued(merged, has_merged=True)
    for code in ("PR_MERGED", "PR_MANUALLY_MERGED"):
        by_its_code = replace(left, details=EventDetails(code=code))
        assert where(entered, by_its_code) == NotQueued(by_its_code, has_merged=True)


def test_only_the_latest_queue_entry_counts() -> None:
    assert where(*reported(ENTER, MERGED, ENTER)) == NotQueued()
    records = reported(ENTER, MERGED, ENTER, LEAVE)
    assert where(*records) == NotQueued(records[-1])


@pytest.mark.parametrize("code", ["failed", "merged"])
def test_a_pull_request_in_a_finished_batch_has_left(code: str) -> None:
    status = make_status(make_batch(make_queued(41), code=code))

    records = reported(ENTER, LEAVE, merged=False)
    assert where(*records, status=status) == NotQueued(records[1])
    assert isinstance(where(*reported(ENTER), status=status), InBatch)


def test_a_pull_request_without_an_end_is_not_queued() -> None:
    assert where() == NotQueued()
    assert where(*reported("command.queue")) == NotQueued()
