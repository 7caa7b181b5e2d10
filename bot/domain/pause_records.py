"""What is known of each pause from its beginning to its end, and the timers of pauses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.repository import RepositoryName

SAME_PAUSE = timedelta(seconds=1)
"""Two tellings of one pause's time lie less than this apart; `same_moment` looks closer."""

_PRECISIONS = (timedelta(seconds=1), timedelta(milliseconds=1), timedelta(microseconds=1))

NEAR = timedelta(minutes=10)
"""How far the service's record of a pause may lie from the time it gives the pause itself."""

JUST_ENDED = timedelta(minutes=1)
"""How long after its end a pause is still what an event may be about."""


def same_moment(one: datetime, other: datetime) -> bool:
    """Whether both tell the same time of a pause, each as precisely as it was told.

    A service may tell one pause's time with another precision when it is read again; times that
    are told to the microsecond are of two pauses when they differ, however little.
    """
    return abs(one - other) < max(_precision(one), _precision(other))


def _precision(at: datetime) -> timedelta:
    within = timedelta(microseconds=at.microsecond)
    return next(unit for unit in _PRECISIONS if not within % unit)


class PauseEnding(StrEnum):
    """How a pause ended. `REPLACED`: by another pause, so that the queue went on being paused."""

    LIFTED = "lifted"
    REPLACED = "replaced"
    TIMER = "timer"


@dataclass(frozen=True, slots=True)
class Who:
    """A person or client: `user_id` when it is somebody of this Slack workspace."""

    name: str
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class PauseRecord:
    """One pause of one queue.

    `paused_at` is the service's own time; unless `is_exact` it is that of the event that told of
    the pause, which lies close to it. `reason` is the person's own words when we know them, else
    `stored_reason`, what the service holds. `event_id` is the event that told of the pause.
    `queued_at_start` and `queued_now` count pull requests in batches and in line, None while not
    read. `joined` are the numbers of those that came meanwhile. `end_told`: the channels were
    given the line that says it is over. `group_act_id` is the act on a group that the pause was
    made by, 0 for one of its own.
    """

    repository: RepositoryName
    paused_at: datetime
    stored_reason: str
    reason: str
    by: Who | None = None
    is_exact: bool = True
    event_id: int | None = None
    previous_reason: str | None = None
    queued_at_start: int | None = None
    queued_now: int | None = None
    joined: frozenset[int] = frozenset()
    ended_at: datetime | None = None
    ended_by: Who | None = None
    ending: PauseEnding | None = None
    end_told: bool = False
    pause_id: int = 0
    group_act_id: int = 0

    @property
    def identity(self) -> str:
        """What a restored database does not give to another pause, as it does `pause_id`."""
        return self.paused_at.isoformat()

    @property
    def is_open(self) -> bool:
        return self.ended_at is None

    @property
    def lasted(self) -> timedelta | None:
        """Never negative: its ends may come from two clocks."""
        if self.ended_at is None:
            return None
        return max(self.ended_at - self.paused_at, timedelta())

    def is_of(self, paused_at: datetime | None) -> bool:
        """Whether this is the pause that the service says began at `paused_at`."""
        return paused_at is not None and same_moment(self.paused_at, paused_at)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A pause as one source tells of it: the answer to an act, an event, a look at the service.

    `paused_at` is the time of the event unless `is_exact`. `reason` and `by` are None when the
    source does not tell. `is_update`: the event says that a pause in force was changed.
    """

    paused_at: datetime
    stored_reason: str
    is_exact: bool = True
    reason: str | None = None
    by: Who | None = None
    event_id: int | None = None
    is_update: bool = False
    group_act_id: int = 0


def same_pause(known: Sequence[PauseRecord], seen: Sighting) -> PauseRecord | None:
    """The one of `known` that the sighting is of; whatever the order in which sources tell."""
    if seen.event_id is not None:
        for one in known:
            if one.event_id == seen.event_id:
                return one
    same = [one for one in known if _is_same(one, seen)]
    return min(same, key=lambda one: abs(one.paused_at - seen.paused_at), default=None)


def _is_same(one: PauseRecord, seen: Sighting) -> bool:
    says_the_same = one.stored_reason == seen.stored_reason
    if seen.is_exact and one.is_exact:
        if one.paused_at == seen.paused_at:
            return True
        return one.is_of(seen.paused_at) and (one.is_open or says_the_same)
    if not says_the_same or (seen.event_id is not None and one.event_id is not None):
        return False
    if one.ended_at is not None and seen.paused_at > one.ended_at + JUST_ENDED:
        return False
    is_near = abs(one.paused_at - seen.paused_at) <= NEAR
    # A service may keep the time of a pause whose reason is changed long after.
    return is_near or (seen.is_update and one.is_open)


def with_sighting(record: PauseRecord, seen: Sighting) -> PauseRecord:
    """What is known of a pause after one more source has told of it."""
    if seen.is_exact and not record.is_exact:
        record = replace(record, paused_at=seen.paused_at, is_exact=True)
    if record.stored_reason != seen.stored_reason:
        return replace(
            record,
            stored_reason=seen.stored_reason,
            reason=seen.reason or seen.stored_reason,
            by=seen.by,
            event_id=seen.event_id,
            previous_reason=record.reason,
            group_act_id=seen.group_act_id,
        )
    return replace(
        record,
        reason=seen.reason or record.reason,
        by=better_known(record.by, seen.by),
        event_id=record.event_id if seen.event_id is None else seen.event_id,
        group_act_id=record.group_act_id or seen.group_act_id,
    )


def better_known(one: Who | None, other: Who | None) -> Who | None:
    """A person of this workspace rather than a name, a name rather than nobody."""
    if one is None or (one.user_id is None and other is not None and other.user_id is not None):
        return other
    return one


def lifted_by_act(
    known: Sequence[PauseRecord], paused_at: datetime | None, at: datetime
) -> PauseRecord | None:
    """The one of `known` that an act lifted which had read `paused_at` just before.

    A pause known from an event alone has that event's time, close by.
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


def lifted_by_event(
    known: Sequence[PauseRecord], at: datetime, in_force_since: datetime | None = None
) -> PauseRecord | None:
    """The one of `known`, latest first, that ended with an event received at `at`.

    `in_force_since`: when the pause began that was in force after the event was read.
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


LATE = timedelta(minutes=1)
"""Later than this is worth saying."""

EXTENSIONS = (timedelta(minutes=15), timedelta(hours=1), timedelta(hours=4))
"""What *Extend* offers."""


class TimerState(StrEnum):
    """`RUNNING` until it has lifted its pause (`FIRED`) or that has ended otherwise (`VOID`)."""

    RUNNING = "running"
    FIRED = "fired"
    VOID = "void"
    """Somebody lifted or replaced the pause before, or took its end away."""


@dataclass(frozen=True, slots=True)
class Timer:
    """When the pause that began at `paused_at` is lifted, and on whose word.

    `due_at` is when that is tried next: `lifts_at`, or later while the service does not answer.
    """

    repository: RepositoryName
    paused_at: datetime
    lifts_at: datetime
    due_at: datetime
    set_by: str
    set_by_name: str
    channel_id: str | None = None
    state: TimerState = TimerState.RUNNING
    failures: int = 0

    @property
    def is_overdue(self) -> bool:
        """Whether its time came, and lifting the pause was tried and did not succeed."""
        return self.state is TimerState.RUNNING and self.failures > 0

    @property
    def is_time_of_day(self) -> bool:
        """Whether the end was said as a time of day, which is a whole minute.

        One that follows from a length is not, but by the rarest chance.
        """
        return not self.lifts_at.second and not self.lifts_at.microsecond

    def is_still(self, before: "Timer") -> bool:
        """Whether the pause is to end as it was to: nobody gave it another end, or none."""
        return self.state is TimerState.RUNNING and self.lifts_at == before.lifts_at


def moved(timer: Timer, jump: timedelta) -> Timer:
    """After the clock jumped: as far off as before, unless its end was said as a time of day."""
    lifts_at = timer.lifts_at if timer.is_time_of_day else timer.lifts_at + jump
    is_first_try = timer.due_at == timer.lifts_at
    return replace(
        timer, lifts_at=lifts_at, due_at=lifts_at if is_first_try else timer.due_at + jump
    )


def extended(timer_lifts_at: datetime | None, now: datetime, by: timedelta) -> datetime:
    """The new end: later than the one there is, or from now on when there is none."""
    return max(timer_lifts_at or now, now) + by
