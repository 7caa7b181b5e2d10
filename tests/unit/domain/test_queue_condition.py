"""What is read of a queue's condition."""

from datetime import timedelta

import pytest

from bot.domain.classification import EventKind
from bot.domain.pause_records import PauseRecord
from bot.domain.queue import Batch, QueueStatus
from bot.domain.queue_health import AlertKind, FailureStreak, Reading, readings, streak_after
from tests.support.clock import NOON
from tests.support.make import SITE, make_batch, make_event_record, make_queued, make_status

MINUTE = timedelta(minutes=1)
AFTER_AN_HOUR = NOON + 60 * MINUTE
EMPTY = make_status()


def read(
    status: QueueStatus, kind: AlertKind, *pauses: PauseRecord, streak: FailureStreak | None = None
) -> Reading | None:
    """An hour after noon."""
    return readings(status, streak or FailureStreak(), pauses, AFTER_AN_HOUR).get(kind)


def paused(from_minute: int, to_minute: int | None) -> PauseRecord:
    ended_at = None if to_minute is None else NOON + to_minute * MINUTE
    return PauseRecord(SITE, NOON + from_minute * MINUTE, "x", "x", ended_at=ended_at)


def since_noon(number: int, minutes_before: int = 0, code: str = "running") -> Batch:
    queued = make_queued(number, queued_at=NOON - minutes_before * MINUTE)
    return make_batch(queued, name=f"B{number}", code=code)


def test_the_head_is_the_first_pull_request_of_the_leading_batch() -> None:
    first, other_branch = since_noon(1), since_noon(2, 5)
    behind = since_noon(3, 50).model_copy(update={"parent_ids": (first.id,)})
    after_one_that_merged = since_noon(4, 2).model_copy(update={"parent_ids": ("gone",)})
    status = make_status(first, other_branch, behind, after_one_that_merged)

    assert read(status, AlertKind.HEAD) == Reading(65 * 60, 2)


def test_without_batches_the_first_pull_request_is_the_head() -> None:
    waiting = [make_queued(5, queued_at=NOON), make_queued(6, queued_at=NOON - 30 * MINUTE)]
    assert read(make_status(waiting=waiting), AlertKind.HEAD) == Reading(3600, 5)
    assert read(EMPTY, AlertKind.HEAD) == Reading()


def test_a_pull_request_that_just_left_is_neither_head_nor_being_checked() -> None:
    status = make_status(since_noon(1, 30, "merged"), since_noon(2, 20, "failed"), since_noon(3))
    assert read(status, AlertKind.HEAD) == Reading(3600, 3)
    assert read(status, AlertKind.BATCH) == Reading(65 * 60, 3, "B3")


@pytest.mark.parametrize("code", ["frozen", "waiting_schedule"])
def test_a_head_held_back_on_purpose_raises_no_alert(code: str) -> None:
    assert read(make_status(since_noon(1, code=code)), AlertKind.HEAD) is None
    frozen = make_queued(1, queued_at=NOON).model_copy(update={"is_frozen": True})
    assert read(make_status(waiting=[frozen]), AlertKind.HEAD) is None


def test_a_batch_counts_while_its_checks_run_and_its_bisection_counts_in_its_place() -> None:
    waiting = since_noon(1, code="waiting_for_merge")
    assert read(make_status(waiting), AlertKind.BATCH) == Reading()
    piece = since_noon(2).model_copy(update={"started_at": NOON + 50 * MINUTE})
    split = since_noon(3, code="bisecting").model_copy(update={"sub_batches": (piece,)})
    assert read(make_status(split), AlertKind.BATCH) == Reading(600, 2, "B3")
    preparing = since_noon(4, code="preparing").model_copy(update={"started_at": None})
    assert read(make_status(preparing), AlertKind.BATCH) == Reading()


def test_no_waiting_time_includes_pauses() -> None:
    status = make_status(since_noon(1))
    twice = (paused(-30, 10), paused(20, 25), paused(24, 30))
    assert read(status, AlertKind.HEAD, *twice) == Reading(40 * 60, 1)
    assert read(status, AlertKind.HEAD, paused(45, None)) == Reading(45 * 60, 1)
    assert read(status, AlertKind.HEAD, paused(-30, 90)) == Reading(0, 1)


def test_the_depth_counts_each_queued_pull_request_once() -> None:
    status = make_status(since_noon(1), since_noon(2), waiting=[make_queued(3)])
    assert read(status, AlertKind.DEPTH) == Reading(3)


def test_failures_are_counted_until_the_queue_merges() -> None:
    failed = (make_event_record("action.queue.leave", pull_request=7), EventKind.FAILURE)
    by_hand = (make_event_record("action.queue.leave"), EventKind.MERGE)
    removed = (make_event_record("action.queue.leave"), EventKind.DEQUEUE)
    merged = (make_event_record("action.queue.merged"), EventKind.MERGE)

    streak = streak_after(FailureStreak(2, 5), [failed, removed, by_hand, failed])
    assert streak == FailureStreak(4, 7)
    assert streak_after(streak, [failed, merged]) == FailureStreak()
    assert streak_after(streak, [merged, failed]) == FailureStreak(1, 7)
    assert read(EMPTY, AlertKind.FAILURES, streak=streak) == Reading(4, 7)
