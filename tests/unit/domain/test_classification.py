"""Merges, failures, and silent leaves: what they are, and how long they wait with any clock."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from bot.feed.grace_period import GracePeriod
from bot.log.batches import classifiable
from bot.log.classification import GRACE_PERIOD, EventKind, classify, kinds, silent_leaves
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import (
    DEQUEUE_CODES,
    EVENT_TYPES,
    LEAVE,
    LIVE_EVENT_TYPES,
    MERGED,
    CodeClass,
)
from tests.support.clock import NOON
from tests.support.make import make_event_record

KIND_OF_CLASS = {
    CodeClass.MERGED: EventKind.OTHER,
    CodeClass.FAILED: EventKind.FAILURE,
    CodeClass.TECHNICAL: EventKind.FAILURE,
    CodeClass.UNPROVEN: EventKind.FAILURE,
    CodeClass.REQUEUED: EventKind.DEQUEUE,
    CodeClass.HUMAN: EventKind.DEQUEUE,
}


def event(type_: str, event_id: int, seconds: float, number: int = 41) -> EventRecord:
    at = NOON + timedelta(seconds=seconds)
    return make_event_record(type_, event_id=event_id, received_at=at, pull_request=number)


def silent(event_id: int = 1, seconds: float = 0, number: int = 41) -> EventRecord:
    return event(LEAVE, event_id, seconds, number)


def merged(event_id: int = 2, seconds: float = 1, number: int = 41) -> EventRecord:
    return event(MERGED, event_id, seconds, number)


def enter(event_id: int = 9, seconds: float = 2) -> EventRecord:
    return event("action.queue.enter", event_id, seconds)


@pytest.mark.parametrize("code", sorted(DEQUEUE_CODES))
def test_each_leave_code_has_a_kind(code: str) -> None:
    silent_about_merging = make_event_record(LEAVE, code=code)
    not_merged = make_event_record(LEAVE, code=code, merged=False)

    expected = KIND_OF_CLASS[DEQUEUE_CODES[code]]
    if code == "PR_MANUALLY_MERGED":
        expected = EventKind.MERGE
    assert classify(silent_about_merging) is expected
    assert classify(not_merged) is expected


@pytest.mark.parametrize("code", [*sorted(DEQUEUE_CODES), "A_CODE_OF_TOMORROW", None])
def test_a_merge_is_never_a_failure_and_never_reported_twice(code: str | None) -> None:
    record = make_event_record(LEAVE, merged=True, code=code)

    expected = EventKind.MERGE if code == "PR_MANUALLY_MERGED" else EventKind.OTHER
    assert classify(record) is expected


def test_a_leave_with_no_or_an_unknown_code_is_a_failure() -> None:
    assert classify(silent()) is EventKind.FAILURE
    assert classify(make_event_record(LEAVE, merged=False)) is EventKind.FAILURE
    assert classify(make_event_record(LEAVE, code="A_CODE_OF_TOMORROW")) is EventKind.FAILURE
    assert classify(make_event_record(LEAVE, code=7)) is EventKind.FAILURE


def test_only_a_leave_can_be_a_failure() -> None:
    for event_type in EVENT_TYPES | LIVE_EVENT_TYPES:
        kind = classify(make_event_record(event_type))
        assert (kind is EventKind.FAILURE) == (event_type == LEAVE), event_type


@pytest.mark.parametrize(
    ("event_type", "kind"),
    [
        ("action.queue.merged", EventKind.MERGE),
        ("scheduled_freeze.update", EventKind.FREEZE),
        ("ci_insights.job_retried", EventKind.CI),
        ("action.queue.change", EventKind.OTHER),
        ("action.anyhost_actions", EventKind.OTHER),
        ("", EventKind.OTHER),
        ("action.queue.merged.more", EventKind.OTHER),
    ],
)
def test_each_event_type_has_a_kind(event_type: str, kind: EventKind) -> None:
    assert classify(make_event_record(event_type, event_id=1)) is kind


GRACE = GRACE_PERIOD.total_seconds()
FAILED = make_event_record(LEAVE, event_id=1, merged=False, code="CHECKS_FAILED")


@pytest.mark.parametrize(
    ("records", "judged", "kind"),
    [
        ([silent(1), merged(2)], 1, EventKind.OTHER),
        ([silent(1), merged(2)], 2, EventKind.MERGE),
        ([silent(1, number=42), merged(2, number=7)], 1, EventKind.FAILURE),
        ([merged(1, -5), silent(2)], 2, EventKind.OTHER),
        # Much later or earlier, or beyond another enter, it belongs to another queue entry.
        ([silent(1), merged(2, GRACE)], 1, EventKind.FAILURE),
        ([merged(1, -GRACE), silent(2)], 2, EventKind.FAILURE),
        ([merged(1, -5), enter(2, 0), silent(3)], 3, EventKind.FAILURE),
        ([silent(1), enter(2, 0), merged(3, 5)], 1, EventKind.FAILURE),
        # A code is not overruled.
        ([FAILED, merged(2)], 1, EventKind.FAILURE),
    ],
)
def test_only_a_merge_right_before_or_after_it_makes_a_silent_leave_one(
    records: Sequence[EventRecord], judged: int, kind: EventKind
) -> None:
    assert kinds(records)[judged] is kind


def test_a_merge_that_was_posted_before_is_still_known() -> None:
    posted_before = merged(1, seconds=-5)
    leave = silent(2)

    assert kinds([leave], [posted_before, leave])[2] is EventKind.OTHER
    assert silent_leaves([posted_before, leave]) == {1: 0}


@pytest.mark.parametrize(
    ("records", "age", "judged"),
    [
        ([silent(1), enter()], 1, 0),
        ([enter(8, seconds=-1), silent(1), enter()], 59, 1),
        ([silent(1), enter()], 60, 2),
        ([silent(1), merged(), enter()], 1, 3),
        ([silent(1), merged(number=7)], 1, 0),
        ([make_event_record(LEAVE, code="CHECKS_FAILED"), enter()], 0, 2),
        ([make_event_record(LEAVE, merged=True), enter()], 0, 2),
        ([], 0, 0),
    ],
)
def test_events_behind_an_undecided_leave_wait_with_it(
    records: Sequence[EventRecord], age: float, judged: int
) -> None:
    grace_period = GracePeriod()
    newest = max((record.received_at for record in records), default=NOON)
    grace_period.head(records, newest=newest, now=NOON)

    later = grace_period.head(records, newest=newest, now=NOON + timedelta(seconds=age))

    assert later == records[:judged]


@pytest.mark.parametrize("behind", [timedelta(minutes=2), timedelta(days=400), timedelta(hours=-3)])
def test_the_grace_period_follows_the_services_clock(behind: timedelta) -> None:
    grace_period = GracePeriod()
    records = [silent()]
    now = NOON + behind

    def judged(seconds: float) -> int:
        at = now + timedelta(seconds=seconds)
        return len(grace_period.head(records, newest=records[-1].received_at, now=at))

    assert [judged(0), judged(59), judged(60)] == [0, 0, 1]


def test_a_log_that_went_on_for_a_minute_decides_at_once() -> None:
    records = [silent(), enter(seconds=60)]

    assert GracePeriod().head(records, newest=records[-1].received_at, now=NOON) == records
    assert GracePeriod().head(records[:1], newest=records[-1].received_at, now=NOON) == records[:1]


def test_several_silent_leaves_are_waited_for_together() -> None:
    grace_period = GracePeriod()
    records = [event(LEAVE, number, number, number) for number in range(1, 6)]
    newest = records[-1].received_at
    grace_period.head(records, newest=newest, now=NOON)

    later = grace_period.head(records, newest=newest, now=NOON + timedelta(seconds=60))

    assert later == records


def test_decided_events_are_forgotten() -> None:
    grace_period = GracePeriod()
    grace_period.head([silent(7)], newest=NOON, now=NOON)
    assert list(grace_period.since) == [7]

    grace_period.forget([7, 8])

    assert not grace_period.since


@pytest.mark.parametrize(
    ("records", "at_most", "whole"),
    [
        ([enter(1, 0), enter(2, 0), enter(3, 0)], 2, 2),
        ([enter(1, 0), silent(2, 1), enter(3, 2)], 2, 1),
        ([silent(2, 1), enter(3, 2)], 1, 0),
        ([silent(1, 0), merged(), enter(9, 2)], 2, 2),
        ([enter(7, 0), silent(1, 0), merged(), enter(9, 2)], 2, 1),
        ([silent(1, 0), enter(9, 60)], 1, 1),
        # The second is open; the first has its merge behind it.
        ([silent(1, 0), event(LEAVE, 3, 30, 7), event(MERGED, 2, 59), enter(9, 80)], 3, 0),
        ([silent(1, 0), event(MERGED, 2, 60), enter(9, 80)], 1, 1),
    ],
)
def test_a_part_of_the_log_ends_where_no_later_event_can_change_it(
    records: Sequence[EventRecord], at_most: int, whole: int
) -> None:
    assert classifiable(records, at_most) == whole
    apart = kinds(records[:whole])
    assert apart.items() <= kinds(records).items()
