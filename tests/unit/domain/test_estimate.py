"""How long a pull request still waits, by the queue entries of the last days."""

from datetime import timedelta

import pytest

from bot.log.queue_entries import PastEntry, past_entries
from bot.queues.estimate import LEAST_REPLAYED, Past, Period, past_of
from bot.queues.texts.parts import lately, roughly
from tests.support.clock import NOON
from tests.support.make import make_event_record

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
MANY = 30


def entry(number: int, enters: float, leaves: float, *, merges: bool = True) -> PastEntry:
    """`enters` and `leaves` are minutes, before noon where negative."""
    return PastEntry(number, "main", NOON + enters * MINUTE, NOON + leaves * MINUTE, merges)


def alone(took: float, count: int = MANY) -> list[PastEntry]:
    """Pull requests that had the queue to themselves, one each hour."""
    return [entry(n, -60 * n - took - 1, -60 * n - 1) for n in range(count)]


def together(size: int, hours: int = MANY) -> list[PastEntry]:
    """So many enter at once each hour; each merges ten minutes after the one before."""
    found: list[PastEntry] = []
    for hour in range(hours):
        begin = -60 * hour - 10 * size - 1
        found += [
            entry(size * hour + place, begin + place / 60, begin + 10 * (place + 1))
            for place in range(size)
        ]
    return found


def past(*entries: PastEntry, held: tuple[Period, ...] = (), branch: str | None = None) -> Past:
    return past_of(entries, held, branch)


def minutes(known: Past, ahead: int = 0, waited: float = 0) -> float | None:
    """For one that was queued at noon and has waited so long since."""
    found = known.estimate(ahead, NOON, NOON + waited * MINUTE)
    return None if found is None else found.remaining / MINUTE


def test_it_is_what_those_at_the_same_place_still_waited() -> None:
    known = past(*together(5))
    assert minutes(known, ahead=0) == pytest.approx(10, abs=0.1)
    assert minutes(known, ahead=2) == pytest.approx(30, abs=0.1)


def test_those_that_never_had_as_many_ahead_count_if_they_almost_had() -> None:
    known = past(*together(5))
    assert minutes(known, ahead=4) == pytest.approx(45, abs=0.1)
    assert minutes(known, ahead=5) == pytest.approx(50, abs=0.1)
    assert minutes(known, ahead=6) is None


def test_those_that_merged_sooner_than_this_one_has_waited_say_nothing() -> None:
    quick = alone(10, count=20)
    slow = [entry(100 + n, -60 * n - 56, -60 * n - 26) for n in range(20)]
    known = past(*quick, *slow)
    assert minutes(known) == pytest.approx(20)
    assert minutes(known, waited=12) == pytest.approx(18)
    assert minutes(known, waited=31) is None


def test_since_the_one_before_it_left_counts_for_one_that_is_first_now() -> None:
    behind = past(*alone(20), entry(90, -30, -4)).estimate(0, NOON - 25 * MINUTE, NOON)
    assert behind is not None
    assert behind.remaining == 16 * MINUTE


def test_the_newest_count() -> None:
    before = [entry(n, -60 * n - 50, -60 * n - 49) for n in range(30, 60)]
    assert minutes(past(*alone(20), *before)) == pytest.approx(20)


def test_how_long_the_queue_was_held_does_not_count() -> None:
    held = tuple(
        Period(NOON - n * HOUR - 15 * MINUTE, NOON - n * HOUR - 10 * MINUTE) for n in range(MANY)
    )
    again = Period(NOON - 12 * MINUTE, NOON - 11 * MINUTE)
    assert minutes(past(*alone(20), held=(*held, again))) == pytest.approx(15)


def test_a_pause_that_has_not_ended_does_not_count_either() -> None:
    known = past(*alone(20), held=(Period(NOON + 4 * MINUTE, None),))
    assert minutes(known, waited=10) == pytest.approx(16)


def test_too_few_merges_or_replays_say_nothing() -> None:
    assert minutes(past()) is None
    assert minutes(past(*alone(20, count=LEAST_REPLAYED))) is None
    assert minutes(past(*alone(20, count=LEAST_REPLAYED + 5))) == pytest.approx(20)
    left = [entry(n, -60 * n - 21, -60 * n - 1, merges=False) for n in range(MANY)]
    assert minutes(past(*left)) is None


def test_a_place_that_nobody_had_says_nothing() -> None:
    assert minutes(past(*alone(20)), ahead=1) == pytest.approx(20)
    assert minutes(past(*alone(20)), ahead=9) is None


def test_several_branches_in_one_list_say_nothing() -> None:
    release = [
        PastEntry(of.number + 500, "release", of.entered_at, of.left_at - 5 * MINUTE, of.has_merged)
        for of in alone(20)
    ]
    assert minutes(past(*alone(20), *release)) is None
    assert minutes(past(*alone(20), *release, branch="main")) == pytest.approx(20)
    assert minutes(past(*alone(20), *release, branch="release")) == pytest.approx(15)


def test_the_range_is_what_the_last_estimates_missed() -> None:
    steady = past(*alone(20)).estimate(0, NOON, NOON)
    assert steady is not None
    assert (steady.low, steady.high) == (steady.remaining, steady.remaining)
    assert lately(steady) == ""

    slower = [entry(n, -60 * n - 40 + n / 2, -60 * n - 1) for n in range(MANY)]
    growing = past(*slower).estimate(0, NOON, NOON)
    assert growing is not None
    assert growing.remaining < growing.low < growing.high
    assert lately(growing) == "; lately 4 min to 6 min too hopeful"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (40, 40, ""),
        (50, 65, "; lately 10 min to 25 min too hopeful"),
        (20, 30, "; lately 10 min to 20 min too cautious"),
        (25, 52, "; lately from 15 min too cautious to 12 min too hopeful"),
        (40, 50, "; lately up to 10 min too hopeful"),
        (33, 40, "; lately up to 7 min too cautious"),
        (70, 160, "; lately 30 min to 2 h too hopeful"),
    ],
)
def test_how_wrong_it_was_is_said_in_words(low: int, high: int, said: str) -> None:
    found = past(*alone(20)).estimate(0, NOON, NOON)
    assert found is not None
    estimate = type(found)(40 * MINUTE, low * MINUTE, high * MINUTE)
    assert lately(estimate) == said


def test_a_length_is_no_more_exact_than_it_can_be_known() -> None:
    assert roughly(20 * timedelta(seconds=1)) == "1 min"
    assert roughly(12.4 * MINUTE) == "12 min"
    assert roughly(43 * MINUTE) == "45 min"
    assert roughly(121 * MINUTE) == "2 h"


def test_an_entry_begins_when_its_end_or_its_own_event_says() -> None:
    leave = "action.queue.leave"
    merged = "action.queue.merged"
    records = [
        make_event_record(event_id=1, received_at=NOON, pull_request=41),
        make_event_record(
            leave, event_id=2, received_at=NOON + HOUR, pull_request=41, code="CHECKS_FAILED"
        ),
        make_event_record(
            leave, event_id=3, received_at=NOON, pull_request=42, merged=True, queued_at=NOON - HOUR
        ),
        make_event_record(
            merged, event_id=4, received_at=NOON, pull_request=42, queued_at=NOON - HOUR
        ),
        make_event_record(merged, event_id=5, received_at=NOON, pull_request=43),
        make_event_record(
            leave,
            event_id=6,
            received_at=NOON,
            pull_request=44,
            code="PR_AHEAD_DEQUEUED",
            queued_at=NOON - HOUR,
        ),
    ]
    assert past_entries(records) == [
        PastEntry(42, "main", NOON - HOUR, NOON, has_merged=True),
        PastEntry(41, "main", NOON, NOON + HOUR, has_merged=False),
    ]
