"""A pause from beginning to end: who, why, since when, until when, and its reminders."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256

from bot.acts.reason import signatures, signed_by, unsigned_reason
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.repository import RepositoryName
from bot.merge_queue.queue import Pause
from bot.pauses.known import ToldEnd, same_reason

_PRECISIONS = (timedelta(seconds=1), timedelta(milliseconds=1), timedelta(microseconds=1))


NEAR = timedelta(minutes=10)
"""How far the service's record of a pause may lie from the time it gives the pause itself."""


PAUSE_LOOKBACK = timedelta(days=1)
"""How long after its end a pause still counts."""


JUST_ENDED = timedelta(minutes=1)
"""How long after its end events may still refer to a pause."""


WORTH_MENTIONING = timedelta(minutes=1)
"""A delay from which a message mentions it."""


REASON_HASH_LENGTH = 12
"""Characters of it: a menu's option has room for few."""


EXTENSIONS = (timedelta(minutes=15), timedelta(hours=1), timedelta(hours=4))
"""The choices of *Extend*."""


def same_moment(first: datetime, other: datetime) -> bool:
    """Whether both are the time of the same pause, compared at the lower precision.

    A service may send a pause's time with another precision later. Times with microseconds that
    differ at all belong to two pauses.
    """
    return abs(first - other) < max(_precision(first), _precision(other))


def _precision(at: datetime) -> timedelta:
    within = timedelta(microseconds=at.microsecond)
    return next(unit for unit in _PRECISIONS if not within % unit)


class PauseEnding(StrEnum):
    """How a pause ended."""

    RESUMED = "resumed"
    TIMER = "timer"


@dataclass(frozen=True, slots=True)
class PauseLine:
    """What a pause says, or has said: a reason, since when, and who set it."""

    #: the service's own time, or that of the event where no reading showed it
    paused_at: datetime
    stored_reason: str  #: the reason that the service stores
    reason: str  #: the person's own words if known, else `stored_reason`
    by: Actor | None = None
    event_id: int | None = None  #: the event that told of it
    group_act_id: int = 0  #: the act on a group that set it, 0 for none


@dataclass(frozen=True, slots=True)
class EarlierLine:
    """A line that a pause had before it was changed, while the queue stayed paused."""

    pause_id: int
    line: PauseLine
    taken_over_by: Actor | None = None
    line_id: int = 0  #: assigned by the store, 0 before

    @property
    def responsible(self) -> Actor | None:
        """Who was responsible for it before it was changed."""
        return self.taken_over_by or self.line.by


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """What a pause said as a button, a menu or a form was drawn for it, or as its end was set.

    A service may keep the time of a pause whose reason somebody changes, so a time alone is none.
    """

    paused_at: datetime
    reason: str = ""  #: a hash of the reason that the service stores; empty for any

    @property
    def written(self) -> str:
        """The words from which `read_drawn_line` reads the same."""
        return f"{self.paused_at.isoformat()} {self.reason}".rstrip()


def drawn_line(paused_at: datetime, stored_reason: str) -> DrawnLine:
    """The same for one reason, however a service trims or wraps it."""
    words = " ".join(stored_reason.split())
    return DrawnLine(paused_at, sha256(words.encode()).hexdigest()[:REASON_HASH_LENGTH])


def read_drawn_line(written: str) -> DrawnLine | None:
    """Read `DrawnLine.written` back; None if it is empty."""
    if not written:
        return None
    at, _, reason = written.partition(" ")
    return DrawnLine(datetime.fromisoformat(at), reason)


@dataclass(frozen=True, slots=True)
class PauseEnd:
    """An end of a pause. One that a later reading proves false stays, because its posts show it."""

    at: datetime
    by: Actor | None = None
    how: PauseEnding = PauseEnding.RESUMED
    #: when a reading first showed it, by the service's time: what is paused later is another pause
    seen_at: datetime | None = None
    #: when it was by the event log, once that has told who ended it
    told_at: datetime | None = None
    is_notified: bool = False  #: channels were notified of it
    end_id: int = 0  #: assigned by the store, 0 before


@dataclass(frozen=True, slots=True)
class Takeover:
    """Who made themselves responsible for what a pause says now, and when."""

    by: Actor
    at: datetime


@dataclass(frozen=True, slots=True)
class PausedQueue:
    """The queue behind a pause, as far as it was read."""

    queued_at_start: int | None = None  #: pull requests in batches and in line; None until read
    queued_now: int | None = None  #: the same now
    waited: frozenset[int] = frozenset()  #: the numbers of all that were seen in the queue
    #: the batches whose checks the pause stopped, by the pull requests in each
    stopped: frozenset[str] = frozenset()

    @property
    def waiting(self) -> int:
        """How many pull requests waited in all; 0 if nobody read how many did at the start."""
        return len(self.waited) if self.queued_at_start is not None else 0

    @property
    def added(self) -> int:
        """How many pull requests were added to the queue during the pause."""
        return max(len(self.waited) - (self.queued_at_start or 0), 0)


@dataclass(frozen=True, slots=True)
class MergedSince:
    """What merged after pauses, of the pull requests that waited during them."""

    count: int = 0
    waited: int = 0  #: how many had waited
    last_at: datetime | None = None  #: when the last of them merged, None for none


@dataclass(frozen=True, slots=True)
class Timer:
    """When a pause is to end by itself, and who set that."""

    resumes_at: datetime
    #: the next attempt: `resumes_at`, or later while the service doesn't answer; None once the
    #: pause is over
    due_at: datetime | None
    set_by: Actor
    stored_reason: str  #: the service's reason when the end was set
    channel_id: str | None = None  #: where it was set
    failures: int = 0  #: how often resuming failed
    #: the audit record of the first failure, which later ones add nothing to; 0 for none
    act_id: int = 0
    is_told: bool = False  #: the person who set it knows that resuming fails

    @property
    def caller(self) -> Caller:
        """The person in whose name the pause ends."""
        return Caller(self.set_by, Origin.TIMER, self.channel_id)


LONGEST_REMINDER_GAP = timedelta(hours=24)


SHORTEST_SNOOZE = timedelta(minutes=30)


UNANSWERED = 2
"""After so many reminders that nobody answered, the policy's group is mentioned."""


MERGES_COUNTED_FOR = timedelta(hours=4)
"""How long after a pause its record counts what merges of those that waited."""


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
    unanswered: int = 0  #: those sent since somebody did something about the pause
    escalated_to: str | None = None  #: the policy's user group, once it was mentioned

    def after_one(self, now: datetime, first_gap: timedelta) -> "ReminderPlan":
        """The plan after a reminder: the gap doubles, and counts from now even if late.

        30 minutes, 1 hour, 2 hours, 4 hours.
        """
        sent = self.sent + 1
        gap = min(first_gap * (1 << min(sent, 16)), max(LONGEST_REMINDER_GAP, first_gap))
        return replace(
            self, next_at=now + gap, sent=sent, last_at=now, unanswered=self.unanswered + 1
        )

    @property
    def snooze_length(self) -> timedelta:
        """How long a snooze lasts: past the next reminder, by the gap before it."""
        gap = self.next_at - (self.last_at or self.next_at)
        return min(max(2 * gap, SHORTEST_SNOOZE), 2 * LONGEST_REMINDER_GAP)

    def snoozed(self, now: datetime, length: timedelta) -> "ReminderPlan":
        return replace(self, next_at=max(self.next_at, now + length), unanswered=0)

    @property
    def answered(self) -> "ReminderPlan":
        """The plan once somebody did something about the pause."""
        return replace(self, unanswered=0)

    @property
    def for_another(self) -> "ReminderPlan":
        """The plan once another person is responsible, who is reminded before the channels."""
        return replace(self, sent=0, unanswered=0)

    @property
    def escalates(self) -> bool:
        """Whether the next reminder mentions the policy's group."""
        return self.unanswered >= UNANSWERED and self.escalated_to is None


def hurried(plan: ReminderPlan | None, now: datetime) -> ReminderPlan:
    """Remind the channels soon, because other people rely on the end too.

    A snooze doesn't delay this: it relied on the end as well.
    """
    if plan is None:
        return ReminderPlan(now + OVERDUE, sent=1)
    return replace(plan, next_at=min(plan.next_at, now + OVERDUE), sent=max(plan.sent, 1))


@dataclass(frozen=True, slots=True)
class PauseRecord:
    """One continuous time in which a queue is paused, or a report of it while `pause_id` is 0.

    A report is from one source. What a pause said before it was changed are its `EarlierLine`s.
    """

    repository: RepositoryName
    line: PauseLine  #: what it says now
    previous_reason: str | None = None
    queue: PausedQueue = PausedQueue()
    end: PauseEnd | None = None  #: None while it is in force
    #: its end by the event log, which no reading has shown yet; None once it is over
    told_end: ToldEnd | None = None
    timer: Timer | None = None  #: ends the pause; None without an end
    taken_over: Takeover | None = None  #: None while the person who paused is responsible
    reminders: ReminderPlan | None = None
    #: its first time, if it has another since: a service may give a changed pause one
    began_at: datetime | None = None
    #: when a reading first showed what it says now, by the service's time
    seen_at: datetime | None = None
    #: since when readings have shown no pause, which isn't believed yet, by the service's time
    missing_since: datetime | None = None
    pause_id: int = 0

    @property
    def since(self) -> datetime:
        """Since when the queue has been paused."""
        return self.began_at or self.line.paused_at

    @property
    def identity(self) -> str:
        """A key that, unlike `pause_id`, a restored database never gives to another pause."""
        return self.since.isoformat()

    @property
    def line_identity(self) -> str:
        """Like `identity`, of what the pause says now."""
        return f"{self.line.paused_at.isoformat()} {self.line.stored_reason}"

    @property
    def is_open(self) -> bool:
        return self.end is None

    @property
    def ended_at(self) -> datetime | None:
        return self.end.at if self.end is not None else None

    @property
    def ended_by(self) -> Actor | None:
        """Who ended it, or set the timer that did."""
        return self.end.by if self.end is not None else None

    @property
    def is_end_notified(self) -> bool:
        """Whether channels were notified of its end."""
        return self.end is not None and self.end.is_notified

    @property
    def is_ended_by_timer(self) -> bool:
        return self.end is not None and self.end.how is PauseEnding.TIMER

    @property
    def end_number(self) -> int:
        """The number of its end; raises TypeError for a pause that isn't stored as over."""
        if self.end is None or not self.end.end_id:
            raise TypeError(self)
        return self.end.end_id

    @property
    def lasted(self) -> timedelta | None:
        """Its duration, never negative: the two times may come from different clocks."""
        if self.end is None:
            return None
        return max(self.end.at - self.since, timedelta())

    @property
    def by_name(self) -> str | None:
        return self.line.by.name if self.line.by is not None else None

    @property
    def pauser(self) -> str | None:
        """The id of the person who paused through this bot; None if nobody did."""
        return (self.line.by.user_id or None) if self.line.by is not None else None

    @property
    def responsible(self) -> Actor | None:
        """Who took it over, or else who made it what it says now."""
        return self.taken_over.by if self.taken_over is not None else self.line.by

    @property
    def person_responsible(self) -> str | None:
        """Their Slack id; None if they act outside this bot."""
        return (self.responsible.user_id or None) if self.responsible is not None else None

    @property
    def is_adopted(self) -> bool:
        """Whether only its signature says who made it: no act on record did.

        That is so after a backup was restored, or in a new database. Whether it had an end isn't
        known.
        """
        by = self.line.by
        if by is None or by.user_id:
            return False
        return self.line.stored_reason.strip().endswith(signatures(by.name))

    @property
    def has_unknown_end(self) -> bool:
        """Whether it is in force, and nobody has set an end since it was adopted."""
        return self.is_open and self.is_adopted and self.timer is None

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
        """Whether its planned end is unchanged, and still the same person's for the same reason."""
        timer = self.timer
        timer_before = before.timer
        if timer is None or timer_before is None or timer.due_at is None:
            return False
        return (
            timer.resumes_at == timer_before.resumes_at
            and timer.set_by == timer_before.set_by
            and timer.stored_reason == timer_before.stored_reason
        )

    def is_of(self, paused_at: datetime | None) -> bool:
        """Whether this is the pause that the service dates to `paused_at`."""
        return paused_at is not None and same_moment(self.line.paused_at, paused_at)

    @property
    def drawn(self) -> DrawnLine:
        """What it says now, for what is drawn for it."""
        return drawn_line(self.line.paused_at, self.line.stored_reason)

    def says_still(self, drawn: DrawnLine | None) -> bool:
        """Whether nobody has changed it since."""
        if drawn is None or not self.is_of(drawn.paused_at):
            return False
        return not drawn.reason or drawn.reason == self.drawn.reason

    def has_reason(self, stored_reason: str | None) -> bool:
        """Whether its reason is unchanged: a service may keep the time of a changed pause."""
        if stored_reason is None:
            return False
        return same_reason(self.line.stored_reason, stored_reason)


def timed(pauses: Iterable[PauseRecord]) -> list[PauseRecord]:
    """Pauses that end by themselves, the next one first."""
    some = (pause for pause in pauses if pause.timer is not None)
    return sorted(
        some, key=lambda pause: (pause.resumes_at or pause.line.paused_at, pause.repository)
    )


def observed(repository: RepositoryName, pause: Pause) -> PauseRecord:
    """The pause in force as the service reports it, which names its author only if it is signed."""
    return adopted_pause(
        PauseRecord(repository, PauseLine(pause.paused_at, pause.reason, pause.reason))
    )


def adopted_pause(seen: PauseRecord) -> PauseRecord:
    """A pause that no act on record made, in the words and under the name of its signature.

    Unchanged without a signature.
    """
    name = signed_by(seen.line.stored_reason)
    if name is None:
        return seen
    reason = unsigned_reason(seen.line.stored_reason.strip(), name)
    return replace(seen, line=replace(seen.line, reason=reason, by=Actor("", name)))


def line_of(record: PauseRecord) -> EarlierLine:
    """What the pause says now, which is about to change."""
    taken_over_by = record.taken_over.by if record.taken_over is not None else None
    return EarlierLine(record.pause_id, record.line, taken_over_by)


def over_pause(record: PauseRecord, end: PauseEnd) -> PauseRecord:
    """The pause once it has ended, without its timer.

    If only a check found no pause, that may be wrong, so the timer stays and checks again.
    """
    timer = record.timer
    if timer is not None and (end.by is not None or end.how is not PauseEnding.RESUMED):
        timer = replace(timer, due_at=None)
    return replace(record, end=end, told_end=None, timer=timer)
