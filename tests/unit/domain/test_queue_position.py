"""Where a pull request is, from the queue and its events."""

from dataclasses import replace

import pytest

from bot.domain.event_records import EventDetails, EventRecord
from bot.domain.queue import QueueStatus, SubBatch
from bot.domain.queue_position import (
    InBatch,
    InLine,
    Left,
    Merged,
    NeverSeen,
    OutOfSight,
    QueuePosition,
    find,
)
from tests.support.make import make_batch, make_event_record, make_queued, make_status

EMPTY = make_status()
ENTER, LEAVE, MERGED = "action.queue.enter", "action.queue.leave", "action.queue.merged"


def where(*records: EventRecord, status: QueueStatus = EMPTY) -> QueuePosition:
    return find(41, status, records)


def told(*types: str, merged: bool | None = None) -> list[EventRecord]:
    """Events of those types; `merged` is what a leave says."""
    return [
        make_event_record(type_, event_id=number, merged=merged if type_ == LEAVE else None)
        for number, type_ in enumerate(types, 1)
    ]


def test_the_queue_tells_its_batch_and_what_is_ahead() -> None:
    status = make_status(make_batch(make_queued(40)), make_batch(make_queued(41), name="mine"))

    found = where(status=status)

    assert isinstance(found, InBatch)
    assert (found.batch.name, found.ahead) == ("mine", 1)


def test_while_a_batch_is_bisected_its_own_piece_is_told() -> None:
    pieces = [
        SubBatch.model_validate(make_batch(make_queued(n), name=f"piece-{n}").model_dump())
        for n in (40, 41)
    ]
    batch = make_batch(make_queued(40), make_queued(41), code="bisecting")
    status = make_status(batch.model_copy(update={"sub_batches": tuple(pieces)}))

    found = where(status=status)

    assert isinstance(found, InBatch)
    assert found.batch.name == "piece-41"


def test_the_line_tells_its_place() -> None:
    found = where(status=make_status(waiting=[make_queued(40), make_queued(41)]))

    assert isinstance(found, InLine)
    assert (found.place, found.length) == (2, 2)


def test_a_merge_is_told_whatever_the_leave_says() -> None:
    assert isinstance(where(*told(ENTER, LEAVE, MERGED)), Merged)
    assert isinstance(where(*told(ENTER, LEAVE, merged=True)), Merged)
    entered, left = told(ENTER, LEAVE)
    for code in ("PR_MERGED", "PR_MANUALLY_MERGED"):
        by_its_code = replace(left, details=EventDetails(code=code))
        assert isinstance(where(entered, by_its_code), Merged)


def test_a_leave_is_told_with_its_record() -> None:
    records = told(ENTER, LEAVE, merged=False)

    assert where(*records) == Left(records[1])


def test_only_the_last_stay_counts() -> None:
    assert isinstance(where(*told(ENTER, MERGED, ENTER)), OutOfSight)
    assert isinstance(
        where(
            *told(ENTER, MERGED, ENTER, LEAVE),
        ),
        Left,
    )


@pytest.mark.parametrize("code", ["failed", "merged"])
def test_a_batch_that_is_over_has_been_left(code: str) -> None:
    status = make_status(make_batch(make_queued(41), code=code))

    assert isinstance(where(*told(ENTER, LEAVE, merged=False), status=status), Left)
    assert isinstance(where(*told(ENTER), status=status), InBatch)


def test_what_nothing_tells_of_was_never_seen() -> None:
    assert where() == NeverSeen()
    assert where(*told("command.queue")) == OutOfSight()
