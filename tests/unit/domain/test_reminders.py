"""When people are reminded of a pause."""

from datetime import timedelta

from bot.domain.pause_records import (
    LONGEST_GAP,
    OVERDUE,
    ReminderPlan,
    hurried,
    pause_of,
)
from tests.support.clock import NOON

FIRST = timedelta(minutes=30)


def test_the_gaps_grow_up_to_a_day() -> None:
    plan, now, gaps = ReminderPlan(NOON + FIRST), NOON, []
    for _ in range(9):
        gaps.append(plan.next_at - now)
        now = plan.next_at
        plan = plan.after_one(now, FIRST)

    hours = [gap / timedelta(hours=1) for gap in gaps]
    assert hours == [0.5, 1, 2, 4, 8, 16, 24, 24, 24]


def test_a_late_reminder_is_one_and_the_next_counts_from_it() -> None:
    late = NOON + timedelta(days=3)
    plan = ReminderPlan(NOON + FIRST).after_one(late, FIRST)
    assert plan.next_at == late + timedelta(hours=1)


def test_snoozing_puts_off_by_one_more_gap() -> None:
    plan = ReminderPlan(NOON + FIRST).after_one(NOON + FIRST, FIRST)
    assert plan.snoozed(NOON + FIRST, FIRST).next_at == plan.next_at + timedelta(hours=1)


def test_a_reminder_says_which_pause_it_is_of_and_none_is_the_same_as_another() -> None:
    plan, seen = ReminderPlan(NOON + FIRST), set()
    for _ in range(20):
        assert pause_of(plan.id_of_next(7)) == 7
        seen.add(plan.id_of_next(7))
        plan = plan.after_one(plan.next_at, FIRST)
    assert len(seen) == 20


def test_a_pause_of_years_overflows_nothing() -> None:
    plan = ReminderPlan(NOON + FIRST)
    for _ in range(1500):
        plan = plan.after_one(plan.next_at, FIRST)
    assert plan.next_at < NOON + 1500 * LONGEST_GAP
    assert pause_of(plan.id_of_next(7)) == 7


def test_a_pause_that_could_not_be_lifted_is_told_soon_and_in_the_channels() -> None:
    plan = ReminderPlan(NOON + FIRST)
    told = hurried(plan, NOON)
    assert told == hurried(None, NOON) == ReminderPlan(NOON + OVERDUE, sent=1)
    # What comes sooner comes then.
    assert hurried(plan, NOON + FIRST - OVERDUE / 2).next_at == plan.next_at
