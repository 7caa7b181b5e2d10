"""When people are reminded of a pause."""

from datetime import timedelta

from bot.domain.pause_records import LONGEST_GAP, OVERDUE, SHORTEST_SNOOZE, ReminderPlan, hurried
from tests.support.clock import NOON

FIRST = timedelta(minutes=30)


def test_reminder_intervals_grow_up_to_a_day() -> None:
    plan, now, gaps = ReminderPlan(NOON + FIRST), NOON, []
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
    assert plan.snooze_length == 2 * LONGEST_GAP


def test_a_pause_of_years_causes_no_overflow() -> None:
    plan = ReminderPlan(NOON + FIRST)
    for _ in range(1500):
        plan = plan.after_one(plan.next_at, FIRST)
    assert plan.next_at < NOON + 1500 * LONGEST_GAP


def test_a_pause_that_could_not_be_resumed_is_reported_soon_and_in_the_channels() -> None:
    plan = ReminderPlan(NOON + FIRST)
    reported = hurried(plan, NOON)
    assert reported == hurried(None, NOON) == ReminderPlan(NOON + OVERDUE, sent=1)
    # What comes sooner comes then.
    assert hurried(plan, NOON + FIRST - OVERDUE / 2).next_at == plan.next_at
