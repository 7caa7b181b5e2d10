"""Where a pull request is, from the queue and its events."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.merge_queue.event_records import EventDetails, EventRecord
from bot.merge_queue.position import InBatch, InQueue, NotQueued, Place, QueuePosition, still_queued
from bot.merge_queue.queue import Batch, QueuedPullRequest, QueueStatus
from bot.queues.position import find
from tests.support.make import (
    make_batch,
    make_bisected,
    make_event_record,
    make_queued,
    make_status,
)

EMPTY = make_status()
ENTER = "action.queue.enter"
LEAVE = "action.queue.leave"
MERGED = "action.queue.merged"


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
        Batch.model_validate(make_batch(make_queued(n), name=f"piece-{n}").model_dump())
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


def test_a_merge_by_a_rule_is_one_too_though_it_left_the_queue_before() -> None:
    *_, by_rule = records = reported(ENTER, LEAVE, "action.merge", merged=False)
    assert where(*records) == NotQueued(by_rule, has_merged=True)
    assert where(by_rule) == NotQueued(by_rule, has_merged=True)
    assert where(by_rule, *reported(ENTER)) == NotQueued()


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


def piece(*numbers: int, code: str = "running", name: str = "piece") -> Batch:
    return make_batch(*map(make_queued, numbers), name=name, code=code)


@pytest.mark.parametrize(
    ("batch", "queued"),
    [
        (make_bisected(piece(40), piece(41)), [40, 41]),
        (make_bisected(piece(40), make_bisected(piece(41), piece(42))), [40, 41, 42]),
        (make_bisected(make_bisected(make_bisected(piece(41)))), [41]),
        # Tested on top of each other: each counts once.
        (make_bisected(piece(40), piece(40, 41), piece(40, 41, 42)), [40, 41, 42]),
        # What merged with a piece is not queued any more, whatever else was tested with it.
        (make_bisected(piece(40, code="merged"), piece(40, 41)), [41]),
        (make_bisected(piece(40, code="failed"), piece(41)), [41]),
        (make_bisected(piece(41), code="merged"), [41]),
        (make_bisected(), []),
        (piece(40, 41, code="failed"), []),
        (piece(40, 41, code="merged"), []),
        (piece(40, 41, code="a_code_of_tomorrow"), [40, 41]),
    ],
)
def test_pull_requests_are_found_at_any_depth_of_a_bisection(
    batch: Batch, queued: Sequence[int]
) -> None:
    status = make_status(batch)

    assert [pull_request.number for pull_request in status.queued] == queued
    found = [number for number in range(39, 45) if still_queued(number, status)]
    assert found == queued


def test_a_piece_that_failed_leaves_what_its_batch_still_names() -> None:
    batch = piece(40, 41, code="bisecting").model_copy(
        update={"sub_batches": (piece(40, code="failed"), piece(41))}
    )

    found = still_queued(40, make_status(batch))

    assert isinstance(found, InBatch)
    assert found.batch.id == batch.id


def test_only_the_batches_that_one_is_built_on_are_ahead_of_it() -> None:
    """Two base branches and two scopes: the list holds all of them, in one order."""
    first = piece(1, name="main-1")
    other = piece(2, name="release-1")
    second = piece(3, name="main-2").model_copy(update={"parent_ids": (first.id,)})
    merged = piece(4, name="main-0", code="merged")
    third = piece(5, name="main-3").model_copy(update={"parent_ids": (second.id, merged.id, "?")})
    loop = piece(6, name="loop").model_copy(update={"parent_ids": ("id-of-loop", third.id)})
    status = make_status(merged, first, other, second, third, loop)

    ahead = [getattr(still_queued(number, status), "ahead", None) for number in (1, 2, 3, 5, 6)]

    assert ahead == [0, 0, 1, 2, 3]


def scoped(number: int, *scopes: str, everything: bool = False) -> QueuedPullRequest:
    update = {"scopes": scopes, "all_scopes": everything}
    return make_queued(number).model_copy(update=update)


ONE_LINE = [scoped(40), scoped(41), scoped(42)]
API_AND_WEB = [scoped(40, "web"), scoped(39, "api"), scoped(41, "api"), scoped(42, "api", "web")]
BARRIER = [scoped(40, everything=True), scoped(39, "web"), scoped(41, "api"), scoped(42, "web")]


@pytest.mark.parametrize(
    ("mode", "of_branch", "place"),
    [
        ("serial", ONE_LINE, Place(2, 3)),
        ("serial", API_AND_WEB, Place(3, 4)),
        ("parallel", API_AND_WEB, Place(2, 3)),
        ("parallel", BARRIER, Place(2, 2)),
        ("parallel", ONE_LINE, Place(2, 3)),
        ("isolated", ONE_LINE, None),
        ("isolated", API_AND_WEB, None),
        ("a_mode_of_tomorrow", API_AND_WEB, None),
        (None, API_AND_WEB, None),
        (None, ONE_LINE, Place(2, 3)),
        ("serial", None, None),
        ("serial", [], None),
        ("serial", [scoped(40), scoped(42)], None),
    ],
)
def test_a_place_is_one_in_its_own_line_or_unknown(
    mode: str | None, of_branch: list[QueuedPullRequest] | None, place: Place | None
) -> None:
    everything = [scoped(1, "release"), *(of_branch or ONE_LINE), scoped(41), scoped(2)]
    known = None if of_branch is None else make_status(waiting=of_branch, mode=mode)

    found = find(41, make_status(waiting=everything, mode=mode), [], known)

    assert isinstance(found, InQueue)
    assert found.place == place


def test_the_only_one_that_waits_is_the_first() -> None:
    found = find(41, make_status(waiting=[scoped(41, "api")]), [])
    assert isinstance(found, InQueue)
    assert found.place == Place(1, 1)
