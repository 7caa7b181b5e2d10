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

    next_at: datetime
    sent: int = 0

    def id_of_next(self, pause_id: int) -> int:
        """Says which pause the reminder is of."""
        return pause_id * NUMBERS + min(self.sent, NUMBERS - 1)

    def after_one(self, now: datetime, first_gap: timedelta) -> "ReminderPlan":
        """The next gap is twice as long, and counts from now, however late the reminder is."""
        sent = self.sent + 1
        return ReminderPlan(now + _gap(sent, first_gap), sent)

    def snoozed(self, now: datetime, first_gap: timedelta) -> "ReminderPlan":
        """One more gap, of the length that would have come next."""
        return replace(self, next_at=max(self.next_at, now) + _gap(self.sent, first_gap))


def pause_of(reminder_id: int) -> int:
    """The pause that a reminder is of."""
    return reminder_id // NUMBERS


def is_newest(reminder_id: int, plan: ReminderPlan | None) -> bool:
    """Whether no later reminder of its pause was given out."""
    return plan is None or reminder_id + 1 >= plan.id_of_next(pause_of(reminder_id))


def hurried(plan: ReminderPlan | None, now: datetime) -> ReminderPlan:
    """The next comes soon, and in the channels: whoever counts on the end is not the pauser alone.

    Also where it was put off: whoever did that counted on the end, too.
    """
    if plan is None:
        return ReminderPlan(now + OVERDUE, sent=1)
    return ReminderPlan(min(plan.next_at, now + OVERDUE), max(plan.sent, 1))


def _gap(sent: int, first_gap: timedelta) -> timedelta:
    """Each twice as long as the one before: 30 minutes, 1 hour, 2 hours, 4 hours."""
    doubled = first_gap * (1 << min(sent, 16))
    return min(doubled, max(LONGEST_GAP, first_gap))
