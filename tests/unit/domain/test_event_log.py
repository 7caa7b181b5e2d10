"""The position in an event log, window by window."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.feed.walk import (
    FIRST_WALK_SLICE,
    LONGEST_SLICE,
    SHORTEST_SLICE,
    SLICE_PAGES,
    WALK_PAGES,
    WalkProgress,
    finish_walk,
    is_behind,
    next_length,
    next_walk,
    turn_page,
)
from bot.log.position import Walk, first_position
from bot.merge_queue.event_records import EventPage
from bot.merge_queue.window import CLOCK_ALLOWANCE, WIDEST_WINDOW, ServiceTime, Window, service_time
from tests.support.clock import NOON
from tests.support.make import SITE, make_event

OVERLAP = timedelta(minutes=2)
START = first_position(SITE, NOON)


def after(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (NOON, NOON),
        (after(1), NOON),
        (NOON, NOON + WIDEST_WINDOW + timedelta(microseconds=1)),
        (NOON.replace(tzinfo=None), after(1)),
        (NOON, after(1).replace(tzinfo=None)),
    ],
)
def test_a_window_that_would_be_refused_cannot_be_made(start: datetime, end: datetime) -> None:
    with pytest.raises(ValueError, match="a window"):
        Window(start, end)


def test_a_position_far_behind_catches_up_in_slices() -> None:
    now = NOON + 3 * FIRST_WALK_SLICE
    walk = next_walk(START, ServiceTime(now), OVERLAP)

    assert is_behind(START, ServiceTime(now))
    assert walk.window.received_to == NOON + FIRST_WALK_SLICE
    reached = finish_walk(START, walk, None, ServiceTime(now))
    assert reached.watermark == NOON + FIRST_WALK_SLICE
    assert not is_behind(reached, ServiceTime(NOON + 2 * FIRST_WALK_SLICE + CLOCK_ALLOWANCE))


def test_a_slice_never_includes_times_the_service_may_still_write_to() -> None:
    now = NOON + 3 * FIRST_WALK_SLICE
    walk = next_walk(START, ServiceTime(now), OVERLAP, LONGEST_SLICE)

    assert walk.window.received_to == now - CLOCK_ALLOWANCE
    assert finish_walk(START, walk, None, ServiceTime(now)).watermark == now - CLOCK_ALLOWANCE


@pytest.mark.parametrize(
    ("length", "pages", "following"),
    [
        (FIRST_WALK_SLICE, 1, FIRST_WALK_SLICE * 2),
        (FIRST_WALK_SLICE, SLICE_PAGES, FIRST_WALK_SLICE),
        (FIRST_WALK_SLICE, SLICE_PAGES + 1, FIRST_WALK_SLICE / 2),
        (SHORTEST_SLICE, 10_000, SHORTEST_SLICE),
        (LONGEST_SLICE, 1, LONGEST_SLICE),
    ],
)
def test_a_busy_log_is_read_in_shorter_slices_and_a_quiet_one_in_longer(
    length: timedelta, pages: int, following: timedelta
) -> None:
    assert next_length(length, pages) == following


def test_in_a_log_with_the_oldest_first_late_events_are_read_again() -> None:
    walk = turn_page(next_walk(START, ServiceTime(after(1)), OVERLAP), after(0.5), "page-2")

    finished = finish_walk(replace(START, walk=walk), walk, after(20), None)

    assert finished.watermark == after(1)


def test_a_walk_ends_though_each_page_has_new_events() -> None:
    window = Window(NOON, after(10))
    read = WalkProgress(window, Walk(window), pages=WALK_PAGES - 2)
    ended = []
    for number in (1, 2):
        read.note(
            EventPage((make_event(number, received_at=after(number)),), f"more-{number}", NOON)
        )
        ended.append(read.is_endless)
    assert ended == [False, True]


def test_the_services_clock_is_trusted_within_an_hour() -> None:
    behind = service_time(after(0), timedelta(hours=-3))

    assert behind.surely_past == NOON - timedelta(hours=3) - CLOCK_ALLOWANCE
    assert not is_behind(first_position(SITE, NOON - timedelta(hours=4)), behind)


def test_a_service_without_a_clock_may_be_hours_behind() -> None:
    unnotified = service_time(NOON, None)

    assert not is_behind(first_position(SITE, NOON - timedelta(hours=7.9)), unnotified)
    assert is_behind(first_position(SITE, NOON - timedelta(hours=8.1)), unnotified)
