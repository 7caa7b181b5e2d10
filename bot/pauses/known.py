"""What the bot knows of the pauses of one repository's queue.

All times are the service's own: `paused_at`, an event's time, or the `Date` of an answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.acts.record import SOMEBODY
from bot.kernel.actor import Actor


def same_reason(reason: str, other: str) -> bool:
    """Whether two reasons are one, however a service trims or wraps them."""
    return reason.split() == other.split()


@dataclass(frozen=True, slots=True)
class Shown:
    """A pause as the service shows it (endpoints 2 to 4)."""

    reason: str
    paused_at: datetime


@dataclass(frozen=True, slots=True)
class Line:
    """One reason of a pause. A change of the reason is a new line of the same pause."""

    reason: str
    paused_at: datetime
    by: Actor | None
    event_id: int | None = None  #: the event of the log that tells who set it

    @property
    def is_named(self) -> bool:
        return self.event_id is not None

    @property
    def shown(self) -> Shown:
        return Shown(self.reason, self.paused_at)

    def shows(self, shown: Shown) -> bool:
        return self.paused_at == shown.paused_at and same_reason(self.reason, shown.reason)


class TimerState(StrEnum):
    """What became of the planned end of a pause."""

    SET = "set"
    FIRED = "fired"
    VOID = "void"  #: somebody else changed the pause since


@dataclass(frozen=True, slots=True)
class LineTimer:
    """The planned end of a pause, which means the line it was set for."""

    set_by: Actor
    line: Shown
    state: TimerState = TimerState.SET


@dataclass(frozen=True, slots=True)
class ToldEnd:
    """An end of which the event log has told, before any reading showed it."""

    at: datetime
    by: Actor | None


@dataclass(frozen=True, slots=True)
class KnownEnd:
    """The end of a pause."""

    at: datetime
    by: Actor | None
    seen_at: datetime  #: when a reading first showed it
    is_named: bool = False  #: the event log has told of it


@dataclass(frozen=True, slots=True)
class KnownPause:
    """One continuous time in which the queue is paused."""

    lines: tuple[Line, ...]  #: the first is its beginning, the last says who is responsible
    seen_at: datetime  #: when a reading first showed the last line
    end: KnownEnd | None = None
    told_end: ToldEnd | None = None
    timer: LineTimer | None = None
    pause_id: int = 0  #: assigned by the store, 0 before

    @property
    def is_open(self) -> bool:
        return self.end is None

    @property
    def first_line(self) -> Line:
        return self.lines[0]

    @property
    def last_line(self) -> Line:
        return self.lines[-1]

    @property
    def is_told_only(self) -> bool:
        """Whether only the event log has told of the last line, whose time is the event's."""
        return self.last_line.paused_at > self.seen_at

    def with_line(self, index: int, line: Line) -> "KnownPause":
        """The pause with that line in place of the one at `index`."""
        return replace(self, lines=(*self.lines[:index], line, *self.lines[index + 1 :]))


class ActKind(StrEnum):
    """What an act does to a pause."""

    PAUSE = "pause"
    RESUME = "resume"


class ActCertainty(StrEnum):
    """What is known of an act's outcome."""

    OPEN = "open"  #: nothing proves yet whether the service carried it out
    DONE = "done"
    NOT_DONE = "not_done"


@dataclass(frozen=True, slots=True)
class PauseAct:
    """An act of this bot, stored before the request that carries it out."""

    act_id: int
    kind: ActKind
    actor: Actor
    began_at: datetime  #: when its own reading was answered
    reason: str | None = None  #: exactly as sent; None for a resume
    sets_end: bool = False
    state: ActCertainty = ActCertainty.OPEN
    read: Shown | None = None  #: the pause that its own reading showed
    answered: Shown | None = None  #: the pause in the service's answer
    answered_at: datetime | None = None
    is_named: bool = False  #: the event log has told of it

    def has_reason(self, reason: str) -> bool:
        """Whether it is the whole reason that was sent, or the one that the service stored."""
        known = [self.reason, self.answered.reason if self.answered is not None else None]
        return any(
            known_reason is not None and same_reason(known_reason, reason) for known_reason in known
        )


LOG_EARLY = timedelta(seconds=1)
"""How much earlier than a line its event may be stamped: the log has a clock of its own."""


DATE_PRECISION = timedelta(seconds=1)
"""The `Date` of an answer is rounded down, so what it tells may have happened that much later."""


def end_between(seen_at: datetime, told_at: datetime) -> datetime:
    """When a pause ended: by the `Date` of the answer that showed it, and by the log's event.

    The earlier time counts, but within the second of a `Date` the log is exact.
    """
    return told_at if told_at < seen_at + DATE_PRECISION else seen_at


def tells_of(event: "PauseEvent", line: Line | Shown) -> bool:
    """Whether the event may tell who set the line."""
    is_after = line.paused_at <= event.at + LOG_EARLY
    return is_after and same_reason(line.reason, event.reason)


class PauseEventKind(StrEnum):
    """What an event of the log tells about a pause."""

    CREATED = "created"
    UPDATED = "updated"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class PauseEvent:
    """An event of the log about a pause (endpoint 5)."""

    kind: PauseEventKind
    at: datetime
    by: Actor | None
    is_ours: bool = False  #: our own credential caused it
    reason: str = ""  #: empty for a removal
    event_id: int = 0

    @property
    def line(self) -> Line:
        return Line(self.reason, self.at, self.by, self.event_id)


def is_person(actor: Actor | None) -> bool:
    """Whether it is somebody who acted through this bot, and of whom that is known."""
    return actor is not None and bool(actor.user_id) and actor != SOMEBODY


def lines_behind(line: Line, events: Sequence[PauseEvent]) -> Sequence[Line]:
    """The lines behind that line of which the events tell.

    A person who only sets another end says the same again. A service may then keep the pause's
    time, so that no reading shows a line.
    """
    found: list[Line] = []
    for event in events:
        is_same = same_reason(event.reason, line.reason) and is_person(line.by)
        is_by_another = is_person(event.by) and event.by != line.by
        if event.is_ours and is_same and not is_by_another:
            continue
        line = event.line
        found.append(line)
    return found


class StatusSays(StrEnum):
    """What the status of the queue (endpoint 1) says beside a reading without a pause."""

    RUNNING = "running"
    PAUSED = "paused"
    NOTHING = "nothing"  #: it wasn't read, or shows no pauses


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer of the service about the pause in force."""

    shown: Shown | None  #: None if the queue isn't paused
    at: datetime
    status: StatusSays = StatusSays.NOTHING


@dataclass(frozen=True, slots=True)
class Known:
    """The pauses and acts of one repository, oldest first; only the last pause may be open."""

    pauses: tuple[KnownPause, ...] = ()
    acts: tuple[PauseAct, ...] = ()
    waiting: tuple[PauseEvent, ...] = ()  #: events of which no line is known yet
    revision: int = 0  #: rises with each change of a pause, and with each act's begin and end
    missing_since: datetime | None = None  #: a reading showed no pause, which isn't believed yet
    acting: int | None = None  #: the id of the act under way

    @property
    def last(self) -> KnownPause | None:
        return self.pauses[-1] if self.pauses else None

    def end_before(self, index: int) -> datetime | None:
        """When the pause before the one at `index` ended; None without one."""
        before = self.pauses[index - 1].end if index else None
        return before.at if before is not None else None

    def act(self, act_id: int) -> PauseAct:
        return next(act for act in self.acts if act.act_id == act_id)

    def with_pause(self, index: int, pause: KnownPause) -> "Known":
        """What is known with that pause in place of the one at `index`."""
        pauses = (*self.pauses[:index], pause, *self.pauses[index + 1 :])
        return replace(self, pauses=pauses)

    def with_act(self, changed: PauseAct) -> "Known":
        """What is known with that act in place of the one with its id."""
        acts = tuple(changed if act.act_id == changed.act_id else act for act in self.acts)
        return replace(self, acts=acts)

    def without(self, placed: Sequence[PauseEvent | None]) -> "Known":
        """What is known once these events don't wait any more."""
        return replace(self, waiting=tuple(event for event in self.waiting if event not in placed))

    @property
    def revised(self) -> "Known":
        return replace(self, revision=self.revision + 1)


def waiting_beginning(known: Known, index: int, update: PauseEvent) -> list[PauseEvent]:
    """What waits and is the beginning of the pause at `index`, as its first line is an update.

    So the queue was paused before: by what the log told since the end before.
    """
    since = known.end_before(index)
    return [
        event
        for event in known.waiting
        if event is not update and event.at <= update.at and (since is None or event.at > since)
    ]
