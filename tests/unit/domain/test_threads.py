"""Which queue entry or bisection an event belongs to, and which event says how it is now."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.feed.threads import AFTERWARDS, BEFORE_ENTER, Bisection, QueueEntry, events_of, state_of
from bot.log.classification import kinds
from bot.merge_queue.event_records import EventDetails, EventRecord
from bot.merge_queue.event_types import BISECTION_END, BISECTION_START
from tests.support.clock import NOON
from tests.support.make import SITE, make_event_record

ENTER = "action.queue.enter"
LEAVE = "action.queue.leave"
MERGED = "action.queue.merged"
START = "action.queue.checks_start"
END = "action.queue.checks_end"
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


def reported(*records: EventRecord) -> list[QueueEntry]:
    """The queue entries after these events, in order of their start."""
    stays: list[QueueEntry] = []
    for record in records:
        found = QueueEntry.of(record, stays)
        if found is None:
            stays.append(QueueEntry.begun(record))
        else:
            stays[stays.index(found)] = found.after(record)
    return sorted(stays, key=lambda one: one.began_at)


def test_a_queue_entry_lasts_from_enter_to_merged() -> None:
    (stay,) = reported(
        event(ENTER, 0), event(START, 5), event(END, 60), event(LEAVE, 61), event(MERGED, 62)
    )
    assert (stay.key, stay.entered) == ("41-1", True)
    assert stay.ended_at == NOON + timedelta(seconds=61)


def test_a_second_enter_begins_a_second_queue_entry() -> None:
    first, second = reported(event(ENTER, 0), event(LEAVE, 10), event(ENTER, 20), event(MERGED, 30))
    assert first.ended_at == NOON + timedelta(seconds=10)
    assert second.ended_at == NOON + timedelta(seconds=30)


def test_an_enter_without_an_earlier_leave_begins_a_new_entry() -> None:
    assert len(reported(event(ENTER, 0), event(ENTER, 500))) == 2


def test_session_ids_separate_entries_that_times_would_mix() -> None:
    stays = reported(
        event(ENTER, 0, session="a"),
        event(ENTER, 1, session="b"),
        event(LEAVE, 2, session="a"),
        event(MERGED, 3, session="b"),
    )
    assert [one.session_id for one in stays] == ["a", "b"]
    assert [one.ended_at for one in stays] == [NOON + timedelta(seconds=n) for n in (2, 3)]


def test_a_late_session_names_the_existing_queue_entry() -> None:
    (stay,) = reported(event(ENTER, 0), event(START, 5, session="a"), event(MERGED, 9, session="a"))
    assert stay.session_id == "a"


def test_events_before_their_enter_event_wait_for_it() -> None:
    (stay,) = reported(event(ASKED, 0), event(ENTER, 3600), event(MERGED, 3700))
    assert stay.entered
    assert len(reported(event(ASKED, 0), event(ENTER, BEFORE_ENTER.total_seconds() + 1))) == 2
    (late,) = reported(event(START, 5), event(ENTER, 0), event(MERGED, 9))
    assert late.began_at == NOON


def test_events_right_after_an_end_belong_to_it_but_a_new_command_does_not() -> None:
    ends = event(ENTER, 0), event(LEAVE, 10)
    assert len(reported(*ends, event(MERGED, 12))) == 1
    assert len(reported(*ends, event(END, 10 + AFTERWARDS.total_seconds()))) == 1
    assert len(reported(*ends, event(END, 11 + AFTERWARDS.total_seconds()))) == 2
    assert len(reported(*ends, event(ASKED, 12))) == 2


def test_a_queue_entry_has_only_its_own_events() -> None:
    records = [
        event(ENTER, 0),
        event(LEAVE, 10),
        event(ENTER, 1000),
        event(MERGED, 1010),
        event(ENTER, 5, number=42),
    ]
    first, second = reported(*[record for record in records if record.pull_request == 41])
    assert [record.event_id for record in events_of(first, records)] == [1, 101]
    assert [record.event_id for record in events_of(second, records)] == [10001, 10101]


def test_an_entry_without_a_session_excludes_an_earlier_entrys_events() -> None:
    records = [
        event(ENTER, 0, session="a"),
        event(LEAVE, 10, session="a"),
        event(ENTER, 20),
        event(LEAVE, 30),
        event(ENTER, 40),
    ]
    found = [
        [record.event_id for record in events_of(stay, records)] for stay in reported(*records)
    ]
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
def test_the_latest_telling_event_decides_an_entrys_state(types: list[str], now: str) -> None:
    records = [event(one, 5.0 * place) for place, one in enumerate(types)]
    state = state_of(records, kinds(records))
    assert state is not None
    assert state.type == now


def test_a_failure_is_the_end_regardless_of_later_events() -> None:
    records = [event(ENTER, 0), event(LEAVE, 5, code="CHECKS_FAILED"), event(END, 6)]
    state = state_of(records, kinds(records))
    assert state is not None
    assert state.type == LEAVE


def of_bisection(
    event_id: int, *numbers: int, batch: str | None = "b-1", ends: bool = False, at: float = 0
) -> EventRecord:
    return make_event_record(
        BISECTION_END if ends else BISECTION_START,
        event_id=event_id,
        received_at=NOON + timedelta(seconds=at),
        pull_requests=list(numbers),
        batch=batch,
    )


BEGUN = Bisection.begun(of_bisection(1, 41, 42, 43))
NAMELESS = replace(BEGUN, batch_id=None)
ENDED = BEGUN.after(of_bisection(2, 41, 42, 43, ends=True, at=60))


@pytest.mark.parametrize(
    ("record", "known", "found"),
    [
        (of_bisection(2, 41, 42, 43), [BEGUN], BEGUN),
        (of_bisection(2, 41), [BEGUN], BEGUN),
        (of_bisection(2, 41, 42, 43, batch="b-2"), [BEGUN], None),
        (of_bisection(2, 41, 42, batch=None), [BEGUN], BEGUN),
        (of_bisection(2, 41, 42), [NAMELESS], NAMELESS),
        (of_bisection(2, 41, 50), [NAMELESS], None),
        (of_bisection(3, 41, 42, 43), [ENDED], ENDED),
        (of_bisection(3, 41, batch=None), [replace(ENDED, batch_id=None)], None),
        (of_bisection(2), [], None),
    ],
)
def test_an_event_belongs_to_the_bisection_of_its_batch(
    record: EventRecord, known: list[Bisection], found: Bisection | None
) -> None:
    assert Bisection.of(record, known) == found


def test_the_latest_of_two_bisections_counts() -> None:
    later = replace(NAMELESS, key="5", last_at=NOON + timedelta(seconds=5))
    assert Bisection.of(of_bisection(6, 41), [NAMELESS, later]) == later


def test_a_bisections_end_counts_regardless_of_later_events() -> None:
    split_again = BEGUN.after(of_bisection(2, 41, 42, at=30))
    late = split_again.after(of_bisection(3, 41, 42, 43, at=10))
    assert (split_again.latest_event_id, late.latest_event_id) == (2, 2)
    over = late.after(of_bisection(4, 41, 42, 43, ends=True, at=60))
    assert (over.latest_event_id, over.ended_at) == (4, NOON + timedelta(seconds=60))
    assert over.after(of_bisection(5, 41, at=90)).latest_event_id == 4
    assert BEGUN.ended_at is None
