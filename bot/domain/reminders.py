"""When people are reminded of a pause: in gaps that grow."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

LONGEST_GAP = timedelta(hours=24)
LIFTS_SOON = timedelta(minutes=5)
"""Nobody is reminded of a pause that lifts itself within this."""

OVERDUE = timedelta(minutes=5)
"""People are reminded of a pause that should have lifted itself so long ago, and could not."""

NUMBERS = 1000
"""More reminders than a pause of years takes; a reminder's id has room for so many."""


@dataclass(frozen=True, slots=True)
class ReminderPlan:
    """The reminders of one pause: how many there were, and when the next is due."""

    pause_id: int
    next_at: datetime
    sent: int = 0

    @property
    def reminder_id(self) -> int:
        """Of the next one; says which pause it is of."""
        return self.pause_id * NUMBERS + min(self.sent, NUMBERS - 1)


def pause_of(reminder_id: int) -> int:
    """The pause that a reminder is of."""
    return reminder_id // NUMBERS


def is_newest(reminder_id: int, plan: ReminderPlan | None) -> bool:
    """Whether no later reminder of its pause was given out."""
    return plan is None or reminder_id + 1 >= plan.reminder_id


def first_plan(pause_id: int, paused_at: datetime, first_gap: timedelta) -> ReminderPlan:
    return ReminderPlan(pause_id, paused_at + first_gap)


def sent_at(plan: ReminderPlan, now: datetime, first_gap: timedelta) -> ReminderPlan:
    """After a reminder: the next gap is twice as long, and counts from now, however late it is."""
    sent = plan.sent + 1
    return replace(plan, sent=sent, next_at=now + _gap(sent, first_gap))


def snoozed(plan: ReminderPlan, now: datetime, first_gap: timedelta) -> ReminderPlan:
    """One more gap, of the length that would have come next."""
    return replace(plan, next_at=max(plan.next_at, now) + _gap(plan.sent, first_gap))


def hurried(plan: ReminderPlan, now: datetime) -> ReminderPlan:
    """The next comes soon, and in the channels: whoever counts on the end is not the pauser alone.

    Also where it was put off: whoever did that counted on the end, too.
    """
    return replace(plan, next_at=min(plan.next_at, now + OVERDUE), sent=max(plan.sent, 1))


def _gap(sent: int, first_gap: timedelta) -> timedelta:
    """Each twice as long as the one before: 30 minutes, 1 hour, 2 hours, 4 hours."""
    doubled = first_gap * (1 << min(sent, 16))
    return min(doubled, max(LONGEST_GAP, first_gap))
