"""Which bisection an event belongs to, and which of its events says how it is now."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.event_records import EventRecord
from bot.domain.event_types import BISECTION_END, BISECTION_START
from bot.domain.threads import Bisection
from tests.support.clock import NOON
from tests.support.make import make_event_record


def event(
    event_id: int, *numbers: int, batch: str | None = "b-1", ends: bool = False, at: float = 0
) -> EventRecord:
    return make_event_record(
        BISECTION_END if ends else BISECTION_START,
        event_id=event_id,
        received_at=NOON + timedelta(seconds=at),
        pull_requests=list(numbers),
        batch=batch,
    )


BEGUN = Bisection.begun(event(1, 41, 42, 43))
NAMELESS = replace(BEGUN, batch_id=None)
ENDED = BEGUN.after(event(2, 41, 42, 43, ends=True, at=60))


@pytest.mark.parametrize(
    ("record", "known", "found"),
    [
        (event(2, 41, 42, 43), [BEGUN], BEGUN),
        (event(2, 41), [BEGUN], BEGUN),
        (event(2, 41, 42, 43, batch="b-2"), [BEGUN], None),
        (event(2, 41, 42, batch=None), [BEGUN], BEGUN),
        (event(2, 41, 42), [NAMELESS], NAMELESS),
        (event(2, 41, 50), [NAMELESS], None),
        (event(3, 41, 42, 43), [ENDED], ENDED),
        (event(3, 41, batch=None), [replace(ENDED, batch_id=None)], None),
        (event(2), [], None),
    ],
)
def test_an_event_belongs_to_the_bisection_of_its_batch(
    record: EventRecord, known: list[Bisection], found: Bisection | None
) -> None:
    assert Bisection.of(record, known) == found


def test_the_latest_of_two_bisections_counts() -> None:
    later = replace(NAMELESS, key="5", last_at=NOON + timedelta(seconds=5))
    assert Bisection.of(event(6, 41), [NAMELESS, later]) == later


def test_a_bisections_end_counts_regardless_of_later_events() -> None:
    split_again = BEGUN.after(event(2, 41, 42, at=30))
    late = split_again.after(event(3, 41, 42, 43, at=10))
    assert (split_again.latest_event_id, late.latest_event_id) == (2, 2)
    over = late.after(event(4, 41, 42, 43, ends=True, at=60))
    assert (over.latest_event_id, over.ended_at) == (4, NOON + timedelta(seconds=60))
    assert over.after(event(5, 41, at=90)).latest_event_id == 4
    assert BEGUN.ended_at is None
