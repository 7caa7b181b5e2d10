"""What is known about a pause, and when people are reminded of it."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.kernel.actor import Actor
from bot.pauses.pause import (
    LONGEST_REMINDER_GAP,
    OVERDUE,
    SHORTEST_SNOOZE,
    PauseEnd,
    PauseLine,
    PauseRecord,
    ReminderPlan,
    hurried,
    same_moment,
)
from tests.support.clock import NOON
from tests.support.make import SITE

ALICE = Actor("U0ALICE", "alice")
CAROL = Actor("", "carol")


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def make_pause(
    seconds: float = 0,
    *,
    pause_id: int = 1,
    by: Actor | None = None,
    event_id: int | None = None,
    ended: float | None = None,
) -> PauseRecord:
    return PauseRecord(
        repository=SITE,
        line=PauseLine(
            paused_at=at(seconds), stored_reason="night", reason="night", by=by, event_id=event_id
        ),
        end=None if ended is None else PauseEnd(at(ended)),
        pause_id=pause_id,
    )


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (NOON, NOON, True),
        (NOON, NOON.replace(microsecond=999_999), True),
        (NOON, NOON + timedelta(seconds=1), False),
        (NOON.replace(microsecond=123_000), NOON.replace(microsecond=123_456), True),
        (NOON.replace(microsecond=123_000), NOON.replace(microsecond=124_456), False),
        (NOON.replace(microsecond=123_455), NOON.replace(microsecond=123_456), False),
    ],
)
def test_times_match_at_the_precision_of_the_less_exact_one(
    one: datetime, other: datetime, *, is_same: bool
) -> None:
    assert same_moment(one, other) is is_same
    assert same_moment(other, one) is is_same


@pytest.mark.parametrize(("ended", "lasted"), [(-1, 0), (3, 3)])
def test_a_pause_never_has_a_negative_length(ended: float, lasted: float) -> None:
    length = make_pause(0, ended=ended).lasted
    assert length == timedelta(seconds=lasted)
    assert make_pause().lasted is None


FIRST = timedelta(minutes=30)


def test_reminder_intervals_grow_up_to_a_day() -> None:
    plan = ReminderPlan(NOON + FIRST)
    now = NOON
    gaps = []
    for _ in range(9):
        gaps.append(plan.next_at - now)
        now = plan.next_at
        plan = plan.after_one(now, FIRST)

    hours = [gap / timedelta(hours=1) for gap in gaps]
    assert hours == [0.5, 1, 2, 4, 8, 16, 24, 24, 24]


def test_a_late_reminder_is_sent_once_and_the_next_counts_from_it() -> None:
    late = NOON + timedelta(days=3)
    plan = ReminderPlan(NOON + FIRST).after_one(late, FIRST)
    assert plan.next_at == late + timedelta(hours=1)


def test_snoozing_postpones_by_one_more_interval() -> None:
    plan = ReminderPlan(NOON + FIRST).after_one(NOON + FIRST, FIRST)
    assert plan.snooze_length == timedelta(hours=2)
    snoozed = plan.snoozed(NOON + FIRST, plan.snooze_length)
    assert snoozed.next_at == plan.next_at + timedelta(hours=1)
    assert snoozed.snoozed(NOON + FIRST, plan.snooze_length) == snoozed


def test_a_snooze_is_bounded_both_ways() -> None:
    plan = ReminderPlan(NOON + FIRST)
    assert plan.snooze_length == SHORTEST_SNOOZE
    for _ in range(9):
        plan = plan.after_one(plan.next_at, FIRST)
    plan = plan.snoozed(plan.next_at, timedelta(days=9))
    assert plan.snooze_length == 2 * LONGEST_REMINDER_GAP


def test_a_pause_of_years_causes_no_overflow() -> None:
    plan = ReminderPlan(NOON + FIRST)
    for _ in range(1500):
        plan = plan.after_one(plan.next_at, FIRST)
    assert plan.next_at < NOON + 1500 * LONGEST_REMINDER_GAP


def test_a_pause_that_could_not_be_resumed_is_reported_soon_and_in_the_channels() -> None:
    plan = ReminderPlan(NOON + FIRST)
    reported = hurried(plan, NOON)
    assert reported == hurried(None, NOON) == ReminderPlan(NOON + OVERDUE, sent=1)
    # What comes sooner comes then.
    assert hurried(plan, NOON + FIRST - OVERDUE / 2).next_at == plan.next_at


@pytest.mark.parametrize(
    ("shown", "is_same"),
    [
        ("CI is down", True),
        ("  CI is\ndown ", True),
        ("CI is down again", False),
        (None, False),
    ],
)
def test_a_reason_that_a_service_trims_or_wraps_is_unchanged(
    shown: str | None, *, is_same: bool
) -> None:
    pause = replace(make_pause(), line=PauseLine(NOON, "CI is down", "CI is down"))
    assert pause.has_reason(shown) is is_same
