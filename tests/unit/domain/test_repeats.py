"""Which verdicts on a pull request are equal and next to each other."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from bot.feed.repeats import COUNTED_WITHIN, LONGEST_COUNT, counted_from, has_verdict, in_a_row
from bot.log.classification import EventKind, kinds
from bot.merge_queue.event_records import EventRecord
from tests.support.clock import NOON
from tests.support.make import make_event_record

LEAVE = "action.queue.leave"
CHECKS_END = "action.queue.checks_end"
CONFLICT = "CONFLICT_WITH_BASE_BRANCH"
FAILED = "CHECKS_FAILED"


def left(
    event_id: int, code: str | None, minutes: float = 0, type_: str = LEAVE, **details: Any
) -> EventRecord:
    at = NOON + timedelta(minutes=minutes)
    return make_event_record(type_, event_id=event_id, received_at=at, code=code, **details)


def row_of(about: int, records: Sequence[EventRecord]) -> list[int]:
    ids = [[event.event_id for event in row] for row in in_a_row(records, kinds(records))]
    (row,) = [name for name in ids if about in name]
    return row


def test_equal_verdicts_are_counted_until_another_one() -> None:
    codes = [CONFLICT, CONFLICT, FAILED, CONFLICT]
    records = [left(number, code, number) for number, code in enumerate(codes, 1)]
    assert row_of(1, records) == [1, 2]
    assert row_of(3, records) == [3]
    assert row_of(4, records) == [4]


def test_other_failed_checks_are_another_verdict() -> None:
    records = [
        left(1, FAILED, 1, checks=[{"name": "lint"}]),
        left(2, FAILED, 2, checks=[{"name": "unit"}]),
        left(3, FAILED, 3, checks=[{"name": "unit"}]),
    ]
    assert [row_of(number, records) for number in (1, 2, 3)] == [[1], [2, 3], [2, 3]]


def test_another_reason_counts_only_where_there_is_no_code() -> None:
    records = [left(1, None, 1, reason="a"), left(2, None, 2, reason="b")]
    assert row_of(1, records) == [1]
    records = [left(1, CONFLICT, 1, reason="a"), left(2, CONFLICT, 2, reason="b")]
    assert row_of(1, records) == [1, 2]


def test_ends_of_checks_lie_between_without_breaking_the_row() -> None:
    records = [
        left(1, FAILED, 1, CHECKS_END, aborted=True),
        left(2, FAILED, 2),
        left(3, FAILED, 3, CHECKS_END, aborted=True),
        left(4, FAILED, 4),
    ]
    assert row_of(2, records) == [2, 4]
    assert row_of(1, records) == [1, 3]


def test_after_an_hour_it_is_news_again() -> None:
    hour = COUNTED_WITHIN.total_seconds() / 60
    records = [left(1, CONFLICT), left(2, CONFLICT, hour), left(3, CONFLICT, 2 * hour + 1)]
    assert row_of(1, records) == [1, 2]
    assert row_of(3, records) == [3]


def test_one_message_counts_for_a_day() -> None:
    half_hours = range(2 * 25)
    records = [left(number, CONFLICT, 30 * number) for number in half_hours]
    (row,) = in_a_row(records, kinds(records))
    assert len(row) == len(half_hours)
    counted = counted_from(records[0], row)
    assert counted.count == 49
    assert counted.first_at == NOON
    assert counted.latest.received_at == NOON + LONGEST_COUNT


def test_a_message_counts_from_its_own_event_on() -> None:
    records = [left(number, CONFLICT, number) for number in (1, 2, 3)]
    (row,) = in_a_row(records, kinds(records))
    assert counted_from(records[1], row).count == 2


def test_what_has_a_verdict() -> None:
    def has(record: EventRecord) -> bool:
        return has_verdict(record, kinds([record])[record.event_id])

    assert has(left(1, CONFLICT))
    assert has(left(1, "PR_AHEAD_DEQUEUED"))
    assert has(left(1, FAILED, type_=CHECKS_END, aborted=True))
    assert not has(left(1, None, type_=CHECKS_END, conclusion="success"))
    assert not has(left(1, None, merged=True))
    assert not has(left(1, None, type_="action.queue.merged"))
    assert not has_verdict(left(1, CONFLICT, pull_request=None), EventKind.FAILURE)
