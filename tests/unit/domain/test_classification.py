"""Merges, failures, and events that can't be classified yet."""

from datetime import timedelta

import pytest

from bot.domain.classification import GRACE_PERIOD, EventKind, classify, kinds, silent_leaves
from bot.domain.event_records import EventRecord
from bot.domain.event_types import (
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


def silent(event_id: int = 1, *, seconds: float = 0, number: int = 41) -> EventRecord:
    at = NOON + timedelta(seconds=seconds)
    return make_event_record(LEAVE, event_id=event_id, received_at=at, pull_request=number)


def merged(event_id: int = 2, *, seconds: float = 1, number: int = 41) -> EventRecord:
    at = NOON + timedelta(seconds=seconds)
    return make_event_record(MERGED, event_id=event_id, received_at=at, pull_request=number)


def enter(event_id: int = 9, *, seconds: float = 2) -> EventRecord:
    return make_event_record(event_id=event_id, received_at=NOON + timedelta(seconds=seconds))


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


def test_a_silent_leave_followed_by_a_merge_of_the_same_pull_request_is_a_merge() -> None:
    records = [
        silent(1),
        merged(2),
        silent(3, seconds=2, number=42),
        merged(4, seconds=3, number=7),
    ]

    assert kinds(records) == {
        1: EventKind.OTHER,
        2: EventKind.MERGE,
        3: EventKind.FAILURE,
        4: EventKind.MERGE,
    }


def test_a_merge_much_later_or_earlier_belongs_to_another_queue_entry() -> None:
    late = GRACE_PERIOD.total_seconds()

    assert kinds([silent(1), merged(2, seconds=late)])[1] is EventKind.FAILURE
    assert kinds([merged(1, seconds=-late), silent(2)])[2] is EventKind.FAILURE


def test_a_silent_leave_right_after_a_reported_merge_is_a_merge() -> None:
    posted_before, leave = merged(1, seconds=-5), silent(2)

    assert kinds([posted_before, leave])[2] is EventKind.OTHER
    assert kinds([leave], [posted_before, leave])[2] is EventKind.OTHER
    assert silent_leaves([posted_before, leave]) == {1: 0}


def test_a_merge_beyond_another_enter_belongs_to_another_queue_entry() -> None:
    entered = make_event_record("action.queue.enter", event_id=2, received_at=NOON)

    assert kinds([merged(1, seconds=-5), entered, silent(3)])[3] is EventKind.FAILURE
    assert kinds([silent(1), entered, merged(3, seconds=5)])[1] is EventKind.FAILURE


def test_a_leave_with_a_code_is_not_overruled_by_a_merge() -> None:
    failed = make_event_record(LEAVE, event_id=1, merged=False, code="CHECKS_FAILED")

    assert kinds([failed, merged(2)])[1] is EventKind.FAILURE
