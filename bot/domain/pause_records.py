"""A pause from beginning to end: who, why, since when, until when, and its reminders."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.audit import Actor, Caller, Origin
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName

_PRECISIONS = (timedelta(seconds=1), timedelta(milliseconds=1), timedelta(microseconds=1))

NEAR = timedelta(minutes=10)
"""How far the service's record of a pause may lie from the time it gives the pause itself."""

JUST_ENDED = timedelta(minutes=1)
"""How long after its end events may still refer to a pause."""

WORTH_MENTIONING = timedelta(minutes=1)
"""A delay from which a message mentions it."""

EXTENSIONS = (timedelta(minutes=15), timedelta(hours=1), timedelta(hours=4))
"""The choices of *Extend*."""


def same_moment(one: datetime, other: datetime) -> bool:
    """Whether both are the time of the same pause, compared at the lower precision.

    A service may send a pause's time with another precision later. Times with microseconds that
    differ at all belong to two pauses.
    """
    return abs(one - other) < max(_precision(one), _precision(other))


def _precision(at: datetime) -> timedelta:
    within = timedelta(microseconds=at.microsecond)
    return next(unit for unit in _PRECISIONS if not within % unit)


class PauseEnding(StrEnum):
    """How a pause ended. `REPLACED`: another pause took its place, so the queue stayed paused."""

    RESUMED = "resumed"
    REPLACED = "replaced"
    TIMER = "timer"


@dataclass(frozen=True, slots=True)
class Timer:
    """When a pause is to end by itself, and who set that.

    `due_at`: the next attempt: `resumes_at`, or later while the service doesn't answer; None
    once the pause is over.
    `stored_reason`: the service's reason when the end was set.
    `channel_id`: where it was set.
    """

    resumes_at: datetime
    due_at: datetime | None
    set_by: Actor
    stored_reason: str
    channel_id: str | None = None
    failures: int = 0

    @property
    def caller(self) -> Caller:
        """The person in whose name the pause ends."""
        return Caller(self.set_by, Origin.TIMER, self.channel_id)

    @property
    def is_time_of_day(self) -> bool:
        """Whether the person gave the end as a time of day, which is a whole minute.

        An end computed from a length almost never is.
        """
        return not self.resumes_at.second and not self.resumes_at.microsecond


LONGEST_GAP = timedelta(hours=24)
SHORTEST_SNOOZE = timedelta(minutes=30)
RESUMES_SOON = timedelta(minutes=5)
"""Send no reminders of a pause that resumes by itself within this time."""

OVERDUE = timedelta(minutes=5)
"""Remind people of a pause that is overdue by this much."""


@dataclass(frozen=True, slots=True)
class ReminderPlan:
    """The reminders of one pause: how many were sent, when the last, and when the next is due."""

    next_at: datetime
    sent: int = 0
    last_at: datetime | None = None

    def after_one(self, now: datetime, first_gap: timedelta) -> "ReminderPlan":
        """The plan after a reminder: the gap doubles, and counts from now even if late.

        30 minutes, 1 hour, 2 hours, 4 hours.
        """
        sent = self.sent + 1
        gap = min(first_gap * (1 << min(sent, 16)), max(LONGEST_GAP, first_gap))
        return ReminderPlan(now + gap, sent, now)

    @property
    def snooze_length(self) -> timedelta:
        """How long a snooze lasts: past the next reminder, by the gap before it."""
        gap = self.next_at - (self.last_at or self.next_at)
        return min(max(2 * gap, SHORTEST_SNOOZE), 2 * LONGEST_GAP)

    def snoozed(self, now: datetime, length: timedelta) -> "ReminderPlan":
        return replace(self, next_at=max(self.next_at, now + length))


def hurried(plan: ReminderPlan | None, now: datetime) -> ReminderPlan:
    """Remind the channels soon, because other people rely on the end too.

    A snooze doesn't delay this: it relied on the end as well.
    """
    if plan is None:
        return ReminderPlan(now + OVERDUE, sent=1)
    return replace(plan, next_at=min(plan.next_at, now + OVERDUE), sent=max(plan.sent, 1))


@dataclass(frozen=True, slots=True)
class PauseRecord:
    """One pause of one queue, or a report of it from one source while `pause_id` is 0.

    `paused_at`: the service's own time; without `is_exact`, the time of the event, close to it.
    `reason`: the person's own words if known, else `stored_reason`.
    `stored_reason`: the reason that the service stores.
    `event_id`: the event that reported the pause.
    `queued_at_start`, `queued_now`: pull requests in batches and in line, None while not read.
    `joined`: the numbers of those queued since.
    `stopped`: the batches whose checks the pause stopped, by the pull requests in each.
    `end_notified`: channels were notified of its end.
    `group_act_id`: the act on a group that made the pause, 0 for none.
    `timer`: ends the pause; None without an end.
    """

    repository: RepositoryName
    paused_at: datetime
    stored_reason: str
    reason: str
    by: Actor | None = None
    is_exact: bool = True
    event_id: int | None = None
    previous_reason: str | None = None
    queued_at_start: int | None = None
    queued_now: int | None = None
    joined: frozenset[int] = frozenset()
    stopped: frozenset[str] = frozenset()
    ended_at: datetime | None = None
    ended_by: Actor | None = None
    ending: PauseEnding | None = None
    end_notified: bool = False
    group_act_id: int = 0
    timer: Timer | None = None
    reminders: ReminderPlan | None = None
    pause_id: int = 0

    @property
    def identity(self) -> str:
        """A key that, unlike `pause_id`, a restored database never gives to another pause."""
        return self.paused_at.isoformat()

    @property
    def is_open(self) -> bool:
        return self.ended_at is None

    @property
    def is_undated(self) -> bool:
        """Whether it was read from a service that didn't say since when."""
        return not self.is_exact and self.event_id is None

    @property
    def lasted(self) -> timedelta | None:
        """Its duration, never negative: the two times may come from different clocks."""
        if self.ended_at is None:
            return None
        return max(self.ended_at - self.paused_at, timedelta())

    @property
    def by_name(self) -> str | None:
        return self.by.name if self.by is not None else None

    @property
    def pauser(self) -> str | None:
        """The id of the person who paused through this bot; None if nobody did."""
        return (self.by.user_id or None) if self.by is not None else None

    @property
    def resumes_at(self) -> datetime | None:
        """When it ends, or was to end, by itself."""
        return self.timer.resumes_at if self.timer is not None else None

    @property
    def is_overdue(self) -> bool:
        """Whether resuming was due, and was tried without success."""
        timer = self.timer
        return timer is not None and timer.due_at is not None and timer.failures > 0

    def end_to_come(self, now: datetime) -> datetime | None:
        """When it resumes by itself, unless that time has passed."""
        return self.resumes_at if self.resumes_at is not None and self.resumes_at > now else None

    def ends_as(self, before: "PauseRecord") -> bool:
        """Whether its planned end is unchanged."""
        is_due = self.timer is not None and self.timer.due_at is not None
        return is_due and self.resumes_at == before.resumes_at

    def is_of(self, paused_at: datetime | None) -> bool:
        """Whether this is the pause that the service dates to `paused_at`."""
        return paused_at is not None and same_moment(self.paused_at, paused_at)

    def has_reason(self, stored_reason: str | None) -> bool:
        """Whether its reason is unchanged: a service may keep the time of a changed pause."""
        return stored_reason is not None and self.stored_reason.strip() == stored_reason.strip()


def timed(pauses: Iterable[PauseRecord]) -> list[PauseRecord]:
    """Pauses that end by themselves, the next one first."""
    some = (one for one in pauses if one.timer is not None)
    return sorted(some, key=lambda one: (one.resumes_at or one.paused_at, one.repository))


def observed(repository: RepositoryName, pause: Pause) -> PauseRecord:
    """The pause in force as the service reports it, which doesn't include an author."""
    return PauseRecord(
        repository, pause.paused_at, pause.reason, pause.reason, is_exact=pause.is_dated
    )


def same_pause(
    known: Sequence[PauseRecord], seen: PauseRecord, *, is_update: bool = False
) -> PauseRecord | None:
    """The one of `known` that `seen` is; the sources may report it in any order.

    `is_update`: an event says that a pause in force was changed.
    """
    if seen.event_id is not None:
        for one in known:
            if one.event_id == seen.event_id:
                return one
    same = [one for one in known if _is_same(one, seen, is_update=is_update)]
    return min(same, key=lambda one: abs(one.paused_at - seen.paused_at), default=None)


def _is_same(one: PauseRecord, seen: PauseRecord, *, is_update: bool) -> bool:
    has_same_reason = one.has_reason(seen.stored_reason)
    if seen.is_exact and one.is_exact:
        if one.paused_at == seen.paused_at:
            return True
        return one.is_of(seen.paused_at) and (one.is_open or has_same_reason)
    if seen.is_undated:
        return one.is_open and has_same_reason
    if not has_same_reason or (seen.event_id is not None and one.event_id is not None):
        return False
    if one.lasted is not None and seen.paused_at > one.paused_at + one.lasted + JUST_ENDED:
        return False
    is_near = abs(one.paused_at - seen.paused_at) <= NEAR
    # A service may keep the time of a pause when its reason changes much later.
    return is_near or (is_update and one.is_open)


def seen_again(record: PauseRecord, seen: PauseRecord) -> PauseRecord:
    """Merge a pause with a report from another source."""
    if seen.is_exact and not record.is_exact:
        record = replace(record, paused_at=seen.paused_at, is_exact=True)
    if not record.has_reason(seen.stored_reason):
        return replace(
            record,
            stored_reason=seen.stored_reason,
            reason=seen.reason,
            by=seen.by,
            event_id=seen.event_id,
            previous_reason=record.reason,
            group_act_id=seen.group_act_id,
        )
    return replace(
        record,
        reason=seen.reason if seen.reason != seen.stored_reason else record.reason,
        by=better_known(record.by, seen.by),
        event_id=record.event_id if seen.event_id is None else seen.event_id,
        group_act_id=record.group_act_id or seen.group_act_id,
    )


def better_known(one: Actor | None, other: Actor | None) -> Actor | None:
    """Prefer a person of this workspace to a name, and a name to nobody."""
    if one is None or (not one.user_id and other is not None and other.user_id):
        return other
    return one


def over(
    record: PauseRecord, ended_at: datetime, by: Actor | None, ending: PauseEnding
) -> PauseRecord:
    """The pause once it has ended, without its timer.

    If only a check found no pause, that may be wrong, so the timer stays and checks again.
    """
    timer = record.timer
    if timer is not None and (by is not None or ending is not PauseEnding.RESUMED):
        timer = replace(timer, due_at=None)
    return replace(record, ended_at=ended_at, ended_by=by, ending=ending, timer=timer)


def ended_by_act(
    known: Sequence[PauseRecord], paused_at: datetime | None, at: datetime
) -> PauseRecord | None:
    """The one of `known` that an act ended; the act had read `paused_at` just before.

    A pause known only from an event has that event's time, which is close.
    """
    exact = [one for one in known if one.is_of(paused_at)]
    near = [
        one
        for one in known
        if not one.is_exact
        and (one.ended_at is None or one.ended_at >= at - JUST_ENDED)
        and (paused_at is None or abs(one.paused_at - paused_at) <= NEAR)
    ]
    return next(iter([*exact, *near]), None)


def ended_by_event(
    known: Sequence[PauseRecord], at: datetime, in_force_since: datetime | None = None
) -> PauseRecord | None:
    """The one of `known`, latest first, that ended with an event received at `at`.

    `in_force_since`: the beginning of the pause in force when checked after the event.
    """
    if in_force_since is not None:
        # The log may be late: that pause began after the event, whatever the event's own time.
        at = min(at, in_force_since - timedelta.resolution)
    for one in known:
        if one.is_open and (one.event_id is not None or one.paused_at <= at):
            return one
    for one in known:
        was_thought_replaced = (
            one.ending is PauseEnding.REPLACED
            and one.ended_at is not None
            and one.paused_at <= at < one.ended_at
        )
        if was_thought_replaced:
            return one
    for one in known:
        is_over = one.ended_at is not None and abs(one.ended_at - at) <= NEAR
        if is_over and one.ending is not PauseEnding.REPLACED and one.ended_by is None:
            return one
    return None


def was_ended_by_act(known: Sequence[PauseRecord], at: datetime) -> bool:
    """Whether an act ended the one of `known`, latest first, that was in force at `at`.

    The time of the act doesn't matter, because our clock may have been off. `at` and the beginning
    of a pause are both by the service's clock.
    """
    by = next((one.ended_by for one in known if one.paused_at <= at), None)
    return by is not None and bool(by.user_id)


def moved(pause: PauseRecord, jump: timedelta, first_gap: timedelta) -> PauseRecord:
    """Shift the pause after a clock jump: its end and next reminder stay as far off as before.

    An end given as a time of day stays. `first_gap`: the time before the first reminder.
    """
    timer, plan = pause.timer, pause.reminders or ReminderPlan(pause.paused_at + first_gap)
    if timer is not None and timer.due_at is not None:
        resumes_at = timer.resumes_at if timer.is_time_of_day else timer.resumes_at + jump
        is_first_try = timer.due_at == timer.resumes_at
        due_at = resumes_at if is_first_try else timer.due_at + jump
        timer = replace(timer, resumes_at=resumes_at, due_at=due_at)
    return replace(pause, timer=timer, reminders=replace(plan, next_at=plan.next_at + jump))


def extended(resumes_at: datetime | None, now: datetime, by: timedelta) -> datetime:
    """The new end: `by` later than the current one, or than now without one."""
    return max(resumes_at or now, now) + by
