"""Which stay an event belongs to, whatever of it is told and in whatever order."""

from datetime import timedelta

import pytest

from bot.domain.classification import kinds
from bot.domain.event_records import EventDetails, EventRecord
from bot.domain.threads import (
    AFTERWARDS,
    BEFORE_ENTER,
    QueueEntry,
    entry_of,
    events_of,
    new_entry,
    state_of,
    with_entry_event,
)
from tests.support.clock import NOON
from tests.support.make import SITE

ENTER, LEAVE, MERGED = "action.queue.enter", "action.queue.leave", "action.queue.merged"
START, END = "action.queue.checks_start", "action.queue.checks_end"
ASKED = "command.queue"


def event(
    type_: str,
    seconds: float,
    *,
    session: str | None = None,
    number: int = 41,
    code: str | None = None,
) -> EventRecord:
    merged = None if code is None else code == "PR_MERGED"
    details = EventDetails(code=code, merged=merged)
    at = NOON + timedelta(seconds=seconds)
    event_id = int(seconds * 10) + 1
    return EventRecord(SITE, event_id, at, type_, number, "main", session, details)


def told(*records: EventRecord) -> list[QueueEntry]:
    """The stays after these events, in the order in which they began."""
    stays: list[QueueEntry] = []
    for record in records:
        found = entry_of(record, stays)
        if found is None:
            stays.append(new_entry(record))
        else:
            stays[stays.index(found)] = with_entry_event(found, record)
    return sorted(stays, key=lambda one: one.began_at)


def test_one_stay_is_from_enter_to_merged() -> None:
    (stay,) = told(
        event(ENTER, 0), event(START, 5), event(END, 60), event(LEAVE, 61), event(MERGED, 62)
    )
    assert (stay.key, stay.entered) == ("41-1", True)
    assert stay.ended_at == NOON + timedelta(seconds=61)


def test_a_second_enter_begins_a_second_stay() -> None:
    first, second = told(event(ENTER, 0), event(LEAVE, 10), event(ENTER, 20), event(MERGED, 30))
    assert first.ended_at == NOON + timedelta(seconds=10)
    assert second.ended_at == NOON + timedelta(seconds=30)


def test_an_enter_whose_leave_was_never_told_begins_a_entry_of_its_own() -> None:
    assert len(told(event(ENTER, 0), event(ENTER, 500))) == 2


def test_sessions_part_what_times_would_mix() -> None:
    stays = told(
        event(ENTER, 0, session="a"),
        event(ENTER, 1, session="b"),
        event(LEAVE, 2, session="a"),
        event(MERGED, 3, session="b"),
    )
    assert [one.session_id for one in stays] == ["a", "b"]
    assert [one.ended_at for one in stays] == [NOON + timedelta(seconds=n) for n in (2, 3)]


def test_a_session_told_late_names_the_stay_there_is() -> None:
    (stay,) = told(event(ENTER, 0), event(START, 5, session="a"), event(MERGED, 9, session="a"))
    assert stay.session_id == "a"


def test_what_comes_before_its_enter_waits_for_it() -> None:
    (stay,) = told(event(ASKED, 0), event(ENTER, 3600), event(MERGED, 3700))
    assert stay.entered
    assert len(told(event(ASKED, 0), event(ENTER, BEFORE_ENTER.total_seconds() + 1))) == 2
    (late,) = told(event(START, 5), event(ENTER, 0), event(MERGED, 9))
    assert late.began_at == NOON


def test_what_follows_an_end_at_once_belongs_to_it_and_a_new_wish_does_not() -> None:
    ends = event(ENTER, 0), event(LEAVE, 10)
    assert len(told(*ends, event(MERGED, 12))) == 1
    assert len(told(*ends, event(END, 10 + AFTERWARDS.total_seconds()))) == 1
    assert len(told(*ends, event(END, 11 + AFTERWARDS.total_seconds()))) == 2
    assert len(told(*ends, event(ASKED, 12))) == 2


def test_the_events_of_a_stay_are_its_own_alone() -> None:
    records = [
        event(ENTER, 0),
        event(LEAVE, 10),
        event(ENTER, 1000),
        event(MERGED, 1010),
        event(ENTER, 5, number=42),
    ]
    first, second = told(*[one for one in records if one.pull_request == 41])
    assert [one.event_id for one in events_of(first, records)] == [1, 101]
    assert [one.event_id for one in events_of(second, records)] == [10001, 10101]


def test_a_stay_without_a_session_has_nothing_of_one_before_it_that_has() -> None:
    records = [
        event(ENTER, 0, session="a"),
        event(LEAVE, 10, session="a"),
        event(ENTER, 20),
        event(LEAVE, 30),
        event(ENTER, 40),
    ]
    found = [[one.event_id for one in events_of(stay, records)] for stay in told(*records)]
    assert found == [[1, 101], [201, 301], [401]]


@pytest.mark.parametrize(
    ("types", "now"),
    [
        ([ASKED], ASKED),
        ([ASKED, ENTER], ENTER),
        ([ENTER, START], START),
        ([ENTER, START, END], END),
        ([ENTER, START, MERGED, END], MERGED),
        ([ENTER, "command.dequeue"], ENTER),
    ],
)
def test_a_stay_is_what_its_latest_telling_event_says(types: list[str], now: str) -> None:
    records = [event(one, 5.0 * place) for place, one in enumerate(types)]
    state = state_of(records, kinds(records))
    assert state is not None
    assert state.type == now


@pytest.mark.parametrize("before", [[ENTER], [ENTER, START, END], [END]])
def test_a_leave_that_says_it_merged_is_the_end_before_the_merge_is_told(
    before: list[str],
) -> None:
    records = [event(one, 5.0 * place) for place, one in enumerate(before)]
    records.append(event(LEAVE, 20, code="PR_MERGED"))

    assert state_of(records, kinds(records)) == records[-1]
    told_of = event(MERGED, 21)
    assert state_of([*records, told_of], kinds([*records, told_of])) == told_of


def test_a_failure_is_the_end_whatever_is_told_after_it() -> None:
    records = [event(ENTER, 0), event(LEAVE, 5, code="CHECKS_FAILED"), event(END, 6)]
    state = state_of(records, kinds(records))
    assert state is not None
    assert state.type == LEAVE
