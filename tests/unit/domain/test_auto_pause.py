"""When failures on one check are a row long enough to pause for."""

from datetime import timedelta

import pytest

from bot.domain.audit import Evidence
from bot.domain.auto_pause import AutoPause, counted_from, failures_in_a_row
from bot.domain.classification import classify
from bot.domain.event_records import EventRecord
from bot.domain.pause_records import PauseEnding, PauseRecord
from tests.support.clock import NOON
from tests.support.make import SITE, make_event

THREE = AutoPause(3, timedelta(minutes=20))
LEAVE, MERGED = "action.queue.leave", "action.queue.merged"


def left(number: int, *checks: str, code: str | None = "CHECKS_FAILED", **more: str) -> EventRecord:
    failed = [{"name": one} for one in checks]
    metadata = {"merged": False, "dequeue_code": code, "unsuccessful_checks": failed, **more}
    return make_event(0, LEAVE, pull_request=number, metadata=metadata)


def merged(number: int, branch: str = "main") -> EventRecord:
    return make_event(0, MERGED, pull_request=number, base_ref=branch)


def found(*events: EventRecord, minutes: float = 0) -> Evidence | None:
    judged = [(one, classify(one)) for one in events]
    return failures_in_a_row(judged, THREE, NOON + timedelta(minutes=minutes))


ROW = (left(1, "unit"), left(2, "unit"), left(3, "unit"))


@pytest.mark.parametrize(
    "events",
    [
        ROW,
        (left(1, "lint", "unit"), left(2, "unit", "e2e"), left(3, "e2e", "unit")),
        (merged(9), *ROW),
        (left(8, "lint"), *ROW),
        (ROW[0], merged(9, "release"), *ROW[1:]),
        (ROW[0], left(4, code="CONFLICT_WITH_BASE_BRANCH"), *ROW[1:]),
        (ROW[0], left(4, code="PR_MANUALLY_DEQUEUED"), *ROW[1:]),
        (ROW[0], left(4, "unit", code="DROPPED_BY_BISECTION_ELIMINATION"), *ROW[1:]),
        (ROW[0], left(1, "unit"), *ROW[1:]),
        (left(1, "unit", code=None), left(2, "unit", code="CHECKS_TIMEOUT"), ROW[2]),
    ],
)
def test_three_pull_requests_in_a_row_on_one_check_are_a_row(
    events: tuple[EventRecord, ...],
) -> None:
    assert found(*events) == Evidence("unit", "main", (1, 2, 3))


@pytest.mark.parametrize(
    "events",
    [
        ROW[:2],
        (*ROW, merged(9)),
        (*ROW[:2], left(3, "lint")),
        (left(1, "unit", "lint"), left(2, "lint", "e2e"), left(3, "e2e", "unit")),
        (ROW[0], left(2), *ROW[2:]),
        (*ROW[:2], left(2, "unit")),
        (*ROW[:2], make_event(0, LEAVE, pull_request=3)),
        (*ROW[:2], left(3, "unit", code="BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS")),
        [left(n, "unit", batch_id="7a5c") for n in (1, 2, 3)],
        (*ROW[:2], make_event(0, LEAVE, pull_request=3, base_ref="release", metadata={})),
        (),
    ],
)
def test_anything_less_is_none(events: tuple[EventRecord, ...]) -> None:
    assert found(*events) is None


def test_a_row_that_ended_long_ago_is_no_reason() -> None:
    assert found(*ROW, minutes=10) is not None
    assert found(*ROW, minutes=11) is None


def test_the_whole_row_is_shown_with_the_check_of_all() -> None:
    row = found(left(7, "unit", "lint"), *ROW)
    assert row == Evidence("unit", "main", (7, 1, 2, 3))


def test_failures_count_from_the_end_of_the_last_pause_by_the_later_clock() -> None:
    ended = NOON - timedelta(hours=1)
    pause = PauseRecord(
        SITE, ended, "x", "x", ended_at=ended, ending=PauseEnding.RESUMED, pause_id=1
    )
    assert counted_from([pause], NOON) == ended
    ahead = timedelta(minutes=5)
    assert counted_from([pause], NOON, ahead) == ended + ahead
    assert counted_from([pause], NOON, -ahead) == ended
    assert counted_from([], NOON) == NOON - timedelta(hours=6)
