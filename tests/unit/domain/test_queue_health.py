"""What is read of a queue's health, and when an alert about it begins and ends."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from bot.health.alert import (
    Alert,
    AlertKind,
    FailureStreak,
    Measurement,
    changed_alerts,
    measurements,
    streak_after,
)
from bot.log.classification import EventKind
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.queue import Batch, QueueStatus
from bot.pauses.pause import PauseEnd, PauseLine, PauseRecord
from tests.support.clock import NOON
from tests.support.make import SITE, make_batch, make_event_record, make_queued, make_status

MINUTE = timedelta(minutes=1)
AFTER_AN_HOUR = NOON + 60 * MINUTE
EMPTY = make_status()


def read(
    status: QueueStatus, kind: AlertKind, *pauses: PauseRecord, streak: FailureStreak | None = None
) -> Measurement | None:
    """An hour after noon."""
    return measurements(status, streak or FailureStreak(), pauses, AFTER_AN_HOUR).get(kind)


def paused(from_minute: int, to_minute: int | None) -> PauseRecord:
    end = None if to_minute is None else PauseEnd(NOON + to_minute * MINUTE)
    return PauseRecord(SITE, PauseLine(NOON + from_minute * MINUTE, "x", "x"), end=end)


def since_noon(number: int, minutes_before: int = 0, code: str = "running") -> Batch:
    queued = make_queued(number, queued_at=NOON - minutes_before * MINUTE)
    return make_batch(queued, name=f"B{number}", code=code)


def test_the_head_is_the_first_pull_request_of_the_leading_batch() -> None:
    first = since_noon(1)
    other_branch = since_noon(2, 5)
    behind = since_noon(3, 50).model_copy(update={"parent_ids": (first.id,)})
    after_one_that_merged = since_noon(4, 2).model_copy(update={"parent_ids": ("gone",)})
    status = make_status(first, other_branch, behind, after_one_that_merged)

    assert read(status, AlertKind.HEAD) == Measurement(65 * 60, 2)


def test_without_batches_the_first_pull_request_is_the_head() -> None:
    waiting = [make_queued(5, queued_at=NOON), make_queued(6, queued_at=NOON - 30 * MINUTE)]
    assert read(make_status(waiting=waiting), AlertKind.HEAD) == Measurement(3600, 5)
    assert read(EMPTY, AlertKind.HEAD) == Measurement()


def test_a_pull_request_that_just_left_is_neither_head_nor_being_checked() -> None:
    status = make_status(since_noon(1, 30, "merged"), since_noon(2, 20, "failed"), since_noon(3))
    assert read(status, AlertKind.HEAD) == Measurement(3600, 3)
    assert read(status, AlertKind.BATCH) == Measurement(65 * 60, 3, "B3")


@pytest.mark.parametrize("code", ["frozen", "waiting_schedule"])
def test_a_head_held_back_on_purpose_raises_no_alert(code: str) -> None:
    assert read(make_status(since_noon(1, code=code)), AlertKind.HEAD) is None
    frozen = make_queued(1, queued_at=NOON).model_copy(update={"is_frozen": True})
    assert read(make_status(waiting=[frozen]), AlertKind.HEAD) is None


def test_a_batch_counts_while_its_checks_run_and_its_bisection_counts_in_its_place() -> None:
    waiting = since_noon(1, code="waiting_for_merge")
    assert read(make_status(waiting), AlertKind.BATCH) == Measurement()
    piece = since_noon(2).model_copy(update={"started_at": NOON + 50 * MINUTE})
    split = since_noon(3, code="bisecting").model_copy(update={"sub_batches": (piece,)})
    assert read(make_status(split), AlertKind.BATCH) == Measurement(600, 2, "B3")
    preparing = since_noon(4, code="preparing").model_copy(update={"started_at": None})
    assert read(make_status(preparing), AlertKind.BATCH) == Measurement()


def test_no_waiting_time_includes_pauses() -> None:
    status = make_status(since_noon(1))
    twice = (paused(-30, 10), paused(20, 25), paused(24, 30))
    assert read(status, AlertKind.HEAD, *twice) == Measurement(40 * 60, 1)
    assert read(status, AlertKind.HEAD, paused(45, None)) == Measurement(45 * 60, 1)
    assert read(status, AlertKind.HEAD, paused(-30, 90)) == Measurement(0, 1)


def test_the_depth_counts_each_queued_pull_request_once() -> None:
    status = make_status(since_noon(1), since_noon(2), waiting=[make_queued(3)])
    assert read(status, AlertKind.DEPTH) == Measurement(3)


def left(
    number: int, code: str | None = "CHECKS_FAILED", kind: EventKind = EventKind.FAILURE
) -> tuple[EventRecord, EventKind]:
    return make_event_record("action.queue.leave", pull_request=number, code=code), kind


MERGE = (make_event_record("action.queue.merged"), EventKind.MERGE)


@pytest.mark.parametrize(
    ("events", "failed"),
    [
        ([left(7), left(8)], (1, 5, 7, 8)),
        ([left(7), left(7), left(7)], (1, 5, 7)),
        ([left(5), left(7), left(5)], (1, 7, 5)),
        ([left(7, "CHECKS_TIMEOUT")], (1, 5, 7)),
        # None of these is a verdict of checks.
        ([left(7, "CONFLICT_WITH_BASE_BRANCH")] * 12, (1, 5)),
        ([left(7, "CONFLICT_WITH_PULL_AHEAD"), left(8, "BRANCH_UPDATE_FAILED")], (1, 5)),
        ([left(7, "STACK_PREDECESSOR_DEQUEUED"), left(8, "CONFIGURATION_CHANGED")], (1, 5)),
        ([left(7, "A_CODE_OF_TOMORROW"), left(8, None)], (1, 5)),
        ([left(7, kind=EventKind.DEQUEUE), left(8, kind=EventKind.MERGE)], (1, 5)),
        ([left(7), MERGE], ()),
        ([MERGE, left(7)], (7,)),
        ([], (1, 5)),
    ],
)
def test_pull_requests_that_checks_failed_are_counted_once_until_the_queue_merges(
    events: Sequence[tuple[EventRecord, EventKind]], failed: tuple[int, ...]
) -> None:
    streak = streak_after(FailureStreak((1, 5)), events)

    assert streak == FailureStreak(failed)
    last = failed[-1] if failed else None
    assert read(EMPTY, AlertKind.FAILURES, streak=streak) == Measurement(len(failed), last)


LIMITS = {AlertKind.HEAD: 100, AlertKind.FAILURES: 4}


def observe(
    head: int, failures: int = 0, *, active: tuple[Alert, ...] = (), is_paused: bool = False
) -> Sequence[Alert]:
    read = {AlertKind.HEAD: Measurement(head, 41), AlertKind.FAILURES: Measurement(failures, 42)}
    return changed_alerts(read, active, LIMITS, SITE, NOON, is_paused=is_paused)


ACTIVE = Alert(SITE, AlertKind.HEAD, 101, 100, NOON, 41, alert_id=7)


def test_an_alert_starts_above_the_threshold_and_for_the_failure_after_the_last_allowed() -> None:
    assert not observe(100, 3)
    assert observe(101, 4) == [
        Alert(SITE, AlertKind.HEAD, 101, 100, NOON, 41),
        Alert(SITE, AlertKind.FAILURES, 4, 4, NOON, 42),
    ]


def test_an_alert_lasts_until_three_quarters_of_the_threshold() -> None:
    assert not observe(500, active=(ACTIVE,))
    assert not observe(76, active=(ACTIVE,))
    assert observe(75, active=(ACTIVE,)) == [replace(ACTIVE, ended_at=NOON)]


def test_disabled_alerts_end_silently_and_unreadable_queues_raise_none() -> None:
    change = changed_alerts({AlertKind.HEAD: Measurement(500)}, (ACTIVE,), {}, SITE, NOON)
    assert change == [replace(ACTIVE, ended_at=NOON)]
    assert not changed_alerts({}, (ACTIVE,), LIMITS, SITE, NOON)
    assert not changed_alerts({}, (), LIMITS, SITE, NOON)


Steps = st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=60)


@given(st.sampled_from(AlertKind), st.integers(1, 40), Steps)
def test_two_alerts_of_one_kind_have_a_recovery_between_them(
    kind: AlertKind, threshold: int, steps: list[tuple[int, bool]]
) -> None:
    active: tuple[Alert, ...] = ()
    for minute, (value, is_paused) in enumerate(steps):
        now = NOON + timedelta(minutes=minute)
        change = changed_alerts(
            {kind: Measurement(value)}, active, {kind: threshold}, SITE, now, is_paused=is_paused
        )
        assert not (is_paused and change)
        assert len(change) <= 1
        for one in change:
            assert bool(active) == (one.ended_at is not None)
            assert 4 * value <= 3 * threshold if active else one.value >= threshold
            active = () if active else (one,)


@given(st.integers(4, 1000), st.lists(st.integers(-24, 200), min_size=1))
def test_flapping_around_a_threshold_is_reported_once(threshold: int, percents: list[int]) -> None:
    """From a quarter below the threshold to any height: one report only."""
    active: tuple[Alert, ...] = ()
    reported = 0
    for percent in percents:
        value = threshold + -(-threshold * percent // 100)
        read = {AlertKind.DEPTH: Measurement(value)}
        change = changed_alerts(read, active, {AlertKind.DEPTH: threshold}, SITE, NOON)
        reported += len(change)
        active = (*active, *change)
    assert reported == (max(percents) > 0)
