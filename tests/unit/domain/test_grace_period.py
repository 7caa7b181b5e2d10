"""How long a silent leave waits, with any service clock."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from bot.domain.classification import kinds
from bot.domain.event_records import EventRecord
from bot.domain.event_types import LEAVE, MERGED
from bot.domain.grace_period import GracePeriod, settled
from tests.support.clock import NOON
from tests.support.make import make_event_record


def event(type_: str, event_id: int, seconds: float, number: int = 41) -> EventRecord:
    at = NOON + timedelta(seconds=seconds)
    return make_event_record(type_, event_id=event_id, received_at=at, pull_request=number)


def silent(event_id: int = 1, seconds: float = 0) -> EventRecord:
    return event(LEAVE, event_id, seconds)


def merged(number: int = 41) -> EventRecord:
    return event(MERGED, 2, 1, number)


def enter(event_id: int = 9, seconds: float = 2) -> EventRecord:
    return event("action.queue.enter", event_id, seconds)


@pytest.mark.parametrize(
    ("records", "age", "judged"),
    [
        ([silent(1), enter()], 1, 0),
        ([enter(8, seconds=-1), silent(1), enter()], 59, 1),
        ([silent(1), enter()], 60, 2),
        ([silent(1), merged(), enter()], 1, 3),
        ([silent(1), merged(7)], 1, 0),
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
    grace_period, records, now = GracePeriod(), [silent()], NOON + behind

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
    assert settled(records, at_most) == whole
    apart = kinds(records[:whole])
    assert apart.items() <= kinds(records).items()
