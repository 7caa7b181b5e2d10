"""Which pause a report belongs to, what is known about it, and when people are reminded of it."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.kernel.actor import Actor
from bot.pauses.pause import (
    LONGEST_REMINDER_GAP,
    OVERDUE,
    SHORTEST_SNOOZE,
    PauseEnding,
    PauseRecord,
    ReminderPlan,
    ended_by_act,
    ended_by_event,
    hurried,
    same_moment,
    same_pause,
    seen_again,
    was_ended_by_act,
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
    is_exact: bool = True,
    event_id: int | None = None,
    ended: float | None = None,
    ending: PauseEnding = PauseEnding.RESUMED,
    ended_by: Actor | None = None,
) -> PauseRecord:
    return PauseRecord(
        repository=SITE,
        paused_at=at(seconds),
        stored_reason="night",
        reason="night",
        by=by,
        is_exact=is_exact,
        event_id=event_id,
        ended_at=None if ended is None else at(ended),
        ending=None if ended is None else ending,
        ended_by=ended_by,
        pause_id=pause_id,
    )


def seen(
    seconds: float,
    reason: str = "night",
    *,
    words: str | None = None,
    by: Actor | None = None,
    group_act_id: int = 0,
) -> PauseRecord:
    own = words or reason
    return PauseRecord(SITE, at(seconds), reason, own, by, group_act_id=group_act_id)


def by_event(seconds: float, event_id: int = 7) -> PauseRecord:
    return replace(seen(seconds), is_exact=False, event_id=event_id)


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


def test_two_pauses_within_a_second_are_two() -> None:
    first = make_pause(0.123456)
    assert same_pause([first], seen(0.623457, "deploying")) is None
    assert same_pause([first], seen(0.123456, "deploying")) is first


def test_an_ended_pause_does_not_begin_again() -> None:
    over = make_pause(0, ended=60)
    assert same_pause([over], seen(0, "night")) is over
    assert same_pause([over], seen(0.4, "night")) is over
    assert same_pause([over], seen(0.4, "another")) is None


def test_an_event_belongs_to_the_pause_near_it_with_its_reason() -> None:
    far = make_pause(-400, pause_id=1, ended=-390)
    near = make_pause(-2, pause_id=2)
    assert same_pause([far, near], by_event(0)) is near
    assert same_pause([replace(near, stored_reason="day")], by_event(0)) is None
    assert same_pause([make_pause(-601)], by_event(0)) is None


def test_an_event_belongs_to_one_pause_and_a_pause_has_one_event() -> None:
    reported = make_pause(-2, event_id=6)
    assert same_pause([reported], by_event(0, event_id=7)) is None
    assert same_pause([reported], by_event(500, event_id=6)) is reported


def test_an_event_does_not_belong_to_a_pause_that_ended_long_before() -> None:
    over = make_pause(-300, ended=-120)
    assert same_pause([over], by_event(0)) is None
    assert same_pause([make_pause(-300, ended=-30)], by_event(0)) is not None


def test_a_late_event_reports_a_new_reason_of_an_old_pause() -> None:
    old = make_pause(-9000)
    assert same_pause([old], by_event(0), is_update=True) is old
    assert same_pause([old], by_event(0)) is None


def test_the_services_time_replaces_an_events_time() -> None:
    guessed = make_pause(2, is_exact=False, event_id=7, by=CAROL)
    exact = seen(0, "night")
    assert same_pause([guessed], exact) is guessed
    known = seen_again(guessed, exact)
    assert (known.paused_at, known.is_exact) == (at(0), True)
    assert (known.by, known.event_id) == (CAROL, 7)
    assert seen_again(known, by_event(3)).paused_at == at(0)


def test_an_action_ends_the_pause_it_read() -> None:
    first = make_pause(0, pause_id=1, ended=5)
    second = make_pause(9, pause_id=2)
    assert ended_by_act([second, first], at(9), at(60)) is second
    assert ended_by_act([second, first], at(0), at(60)) is first
    assert ended_by_act([second, first], at(4), at(60)) is None


def test_an_action_ends_a_pause_that_an_event_reported_at_about_that_time() -> None:
    guessed = make_pause(2, is_exact=False)
    assert ended_by_act([guessed], at(0), at(60)) is guessed
    assert ended_by_act([guessed], at(-700), at(60)) is None
    assert ended_by_act([guessed], None, at(60)) is guessed
    over = make_pause(2, is_exact=False, ended=30)
    assert ended_by_act([over], at(0), at(60)) is over
    assert ended_by_act([over], at(0), at(120)) is None


def test_an_event_ends_the_pause_in_force() -> None:
    first = make_pause(0, pause_id=1, ended=5)
    second = make_pause(9, pause_id=2)
    assert ended_by_event([second, first], at(60)) is second
    assert ended_by_event([make_pause(0)], at(-1)) is None
    assert ended_by_event([make_pause(0, event_id=3)], at(-1)) is not None


def test_an_event_names_who_ended_a_pause_that_was_seen_to_be_over() -> None:
    over = make_pause(0, ended=63)
    assert ended_by_event([over], at(60)) is over
    assert ended_by_event([replace(over, ended_by=CAROL)], at(60)) is None
    assert ended_by_event([over], at(900)) is None


def test_the_end_of_a_pause_by_an_action_is_known_with_any_clock() -> None:
    ended = replace(make_pause(0), ended_at=at(3600), ended_by=ALICE)
    elsewhere = replace(make_pause(120), ended_at=at(180), ended_by=CAROL)
    assert was_ended_by_act([ended], at(60))
    assert was_ended_by_act([elsewhere, ended], at(60))
    assert not was_ended_by_act([elsewhere, ended], at(170))
    assert not was_ended_by_act([ended], at(-1))


def test_an_event_that_is_logged_late_does_not_end_the_pause_in_force() -> None:
    following = make_pause(9, pause_id=2)
    assert ended_by_event([following], at(10), in_force_since=at(9)) is None
    assert ended_by_event([following], at(10), in_force_since=at(30)) is following


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
