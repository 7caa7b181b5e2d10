"""A scheduled freeze, and the stages that it goes through."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from hashlib import sha256

from bot.acts.reason import unsigned_reason
from bot.acts.record import AuditRecord
from bot.kernel.actor import Actor
from bot.kernel.durations import zone_named
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import FreezeAttributes
from bot.merge_queue.freezes import Condition, moment
from bot.merge_queue.queue import QueueStatus

FREEZE_NOTICE = timedelta(minutes=30)
"""How long before its start channels are reminded of a freeze."""


EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""A start before it counts as this, because there is no time before the first year."""


LIST_NUMBER_BYTES = 7
"""A number of so many bytes fits into a column for ids of events."""


SURELY_READ = timedelta(minutes=1)
"""A freeze that begins sooner than this after it was set needs no post about its start."""


class Stage(StrEnum):
    """What channels were last notified of: its creation or change, its approach, start or end."""

    PLANNED = "planned"
    ANNOUNCED = "announced"
    IN_FORCE = "in force"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Told:
    """Which events told of a freeze, or that only the list did."""

    first_id: int  #: the first known one, by which Slack's history shows whether its card exists
    set_id: int  #: the one that gave it its terms, or its end
    set_at: datetime  #: when the service received that event
    #: the terms before the first known event; None if that created the freeze
    before: FreezeAttributes | None = None

    @classmethod
    def by_list(cls, freeze_id: str, listed_at: datetime) -> "Told":
        """Of a freeze that no event has told of: a number from its id, below those of events."""
        hashed = sha256(freeze_id.encode()).digest()
        number = -1 - int.from_bytes(hashed[:LIST_NUMBER_BYTES])
        return cls(number, number, listed_at)

    @property
    def is_by_list(self) -> bool:
        """Whether only the service's list has told of it."""
        return self.set_id < 0

    @property
    def last(self) -> tuple[datetime, int]:
        """The position in the log of the event that told of it last."""
        return self.set_at, self.set_id


UNTOLD = Told(0, 0, EARLIEST)
"""Of a freeze as the service's list shows it, which is not stored."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a freeze came to its end."""

    at: datetime
    by: str | None = None  #: who removed it, if somebody did
    reason: str | None = None  #: why


@dataclass(frozen=True, slots=True)
class Freeze:
    """A scheduled freeze, as the service's list and the event log tell of it."""

    repository: RepositoryName
    #: the service's id, which identifies it; None until the service's list shows it, and where the
    #: service has no such list
    freeze_id: str | None
    terms: FreezeAttributes  #: as sent
    by: str | None  #: who created it, or who changed it if the creation is unknown
    told: Told = UNTOLD
    stage: Stage = Stage.PLANNED
    #: the pull requests that it keeps waiting, counted for the last stage, if known
    queued: int | None = None
    ending: Ending | None = None  #: None until it is over
    act: AuditRecord | None = None  #: through which the bot made it; looked up for listed ones only
    #: its exceptions exactly as sent, to send them back; of listed ones only
    excluded: tuple[Condition, ...] = ()
    row_id: int = 0  #: of its row, by which its cards know it; 0 until it is stored
    group_act_id: int = 0  #: the act on a group that made it, 0 for none

    @property
    def listed_id(self) -> str:
        """The id of a freeze of the service's list; raises ValueError for others."""
        if self.freeze_id is None:
            raise ValueError("the service has not listed this freeze")
        return self.freeze_id

    @property
    def begins_at(self) -> datetime | None:
        """None if its times are unreadable."""
        begins_at = moment(self.terms.start, self.terms)
        has_unreadable_end = self.terms.end is not None and self.ends_at is None
        if begins_at is None or has_unreadable_end:
            return None
        return max(begins_at, EARLIEST)

    @property
    def ends_at(self) -> datetime | None:
        """None until somebody removes it, or if its end is unreadable."""
        return moment(self.terms.end, self.terms)

    @property
    def zone(self) -> tzinfo:
        """In which the service takes its times."""
        return zone_named(self.terms.timezone) or UTC

    @property
    def reason(self) -> str:
        """Its maker's own words."""
        if self.act is not None:
            return self.act.reason or ""
        return unsigned_reason(self.terms.reason or "", self.by)

    @property
    def over_at(self) -> datetime | None:
        """When it ended or was removed; None until then."""
        return self.ending.at if self.ending is not None else None

    def is_made_by(self, actor: Actor) -> bool:
        """Whether the actor made it through the bot."""
        return self.act is not None and self.act.actor.user_id == actor.user_id

    def has_begun(self, now: datetime) -> bool:
        """An unreadable start counts as past: the service lists the freeze."""
        begins_at = moment(self.terms.start, self.terms)
        return begins_at is None or begins_at <= now

    def is_in_force(self, now: datetime) -> bool:
        has_begun = self.begins_at is not None and self.begins_at <= now
        is_over = self.over_at is not None or (self.ends_at is not None and self.ends_at <= now)
        return has_begun and not is_over

    def is_to_come(self, now: datetime) -> bool:
        return self.begins_at is not None and self.begins_at > now and self.over_at is None

    def continues(self, other: "Freeze") -> bool:
        """Whether no time without either lies between them; an unreadable time is far away."""
        begins_at = self.begins_at or EARLIEST
        other_begins_at = other.begins_at or EARLIEST
        begins_in_time = other.ends_at is None or begins_at <= other.ends_at
        ends_late_enough = self.ends_at is None or other_begins_at <= self.ends_at
        return begins_in_time and ends_late_enough

    @property
    def is_removed(self) -> bool:
        """Whether somebody ended it before its time."""
        return self.over_at is not None and self.over_at != self.ends_at

    @property
    def is_gone(self) -> bool:
        """Whether it ended before its time, and the log hasn't told of that."""
        return self.is_removed and self.ending is not None and self.ending.by is None

    @property
    def lasted(self) -> timedelta | None:
        """None if it is not over, or never began."""
        if self.over_at is None or self.begins_at is None or self.over_at <= self.begins_at:
            return None
        return self.over_at - self.begins_at

    @property
    def due_at(self) -> datetime | None:
        """When its next stage begins; None if nothing more happens by itself."""
        if self.begins_at is None:
            return None
        following = {
            Stage.PLANNED: self.begins_at - FREEZE_NOTICE,
            Stage.ANNOUNCED: self.begins_at,
            Stage.IN_FORCE: self.ends_at,
        }
        return following.get(self.stage)

    @property
    def is_on_short_notice(self) -> bool:
        """Whether it was set when its approach was to be announced, so that it said so itself."""
        return self.begins_at is not None and self.told.set_at > self.begins_at - FREEZE_NOTICE

    @property
    def branch(self) -> str | None:
        """The base branch whose pull requests wait, if that is its only condition."""
        (only, *others) = self.terms.matching_conditions or ("",)
        return only.removeprefix("base=") if only.startswith("base=") and not others else None

    @property
    def has_conditions(self) -> bool:
        """Whether some pull requests may merge in spite of it."""
        return bool(self.terms.matching_conditions or self.terms.exclude_conditions)

    @property
    def has_unread_conditions(self) -> bool:
        """Whether it has conditions that only the service interprets."""
        matching = self.terms.matching_conditions
        excepted = self.terms.exclude_conditions
        return bool(excepted or (matching and self.branch is None))

    def holds(self, branch: str | None) -> bool:
        """Whether it surely keeps all pull requests of that base branch from merging.

        `branch`: None for those of all branches, or of an unknown one.
        """
        return not self.has_unread_conditions and self.branch in {None, branch}

    def concerns(self, branch: str | None) -> bool:
        """Whether it may keep some of them from merging."""
        return branch is None or self.branch in {None, branch}

    @property
    def began_when_set(self) -> bool:
        return self.begins_at is not None and self.told.set_at > self.begins_at - SURELY_READ


def beside(freeze: Freeze, others: Sequence[Freeze]) -> list[Freeze]:
    """Those of the others that hold merges with it, without a gap, in the order that is given."""
    together = [freeze]
    # It grows: each freeze that is found may have others beside it.
    for known in together:
        together += [other for other in others if other not in together and other.continues(known)]
    return [other for other in others if other in together[1:]]


def stage_together(freezes: Sequence[Freeze], freeze: Freeze) -> list[Freeze]:
    """Those that begin, or end by themselves, when this one does, as its stage says."""

    def time_of(other: Freeze) -> datetime | None:
        return other.ends_at if freeze.stage is Stage.OVER else other.begins_at

    at = time_of(freeze)
    return [other for other in freezes if time_of(other) == at and not other.is_removed]


def held_until(freezes: Sequence[Freeze]) -> datetime | None:
    """The last end; None if one of them stays until somebody ends it, or its end is unreadable."""
    ends = [freeze.ends_at for freeze in freezes]
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(ends) else None


def next_freeze(freezes: Iterable[Freeze], now: datetime) -> Freeze | None:
    """The one that begins first of those to come."""
    to_come = [freeze for freeze in freezes if freeze.is_to_come(now)]
    return min(to_come, key=lambda freeze: freeze.begins_at or now, default=None)


def advanced(freeze: Freeze, now: datetime) -> Freeze:
    """The freeze in the stage of `now`, however many stages it skips."""
    if freeze.begins_at is None or freeze.stage is Stage.OVER:
        return freeze
    if freeze.ends_at is not None and freeze.ends_at <= now:
        return replace(freeze, stage=Stage.OVER, ending=Ending(freeze.ends_at))
    if freeze.begins_at <= now:
        return replace(freeze, stage=Stage.IN_FORCE)
    if freeze.begins_at - FREEZE_NOTICE <= now:
        return replace(freeze, stage=Stage.ANNOUNCED)
    return freeze


def waiting_for(freeze: Freeze, status: QueueStatus, now: datetime) -> int:
    """How many pull requests of the `status` won't merge before it begins, by their estimates.

    All of them once it has begun. An estimate that has passed says nothing.
    """
    begins_at = freeze.begins_at if freeze.stage is not Stage.IN_FORCE else None
    due = {queued.number: queued.estimated_merge_at for queued in status.queued}
    for batch in status.batches:
        for number, part in batch.smallest_parts().items():
            due[number] = due[number] or part.estimated_merge_at or batch.estimated_merge_at
    return sum(begins_at is None or at is None or not now <= at < begins_at for at in due.values())


def is_start_known_past(terms: FreezeAttributes, now: datetime) -> bool:
    """False if the start is unreadable: nothing says then that the freeze holds."""
    begins = moment(terms.start, terms)
    return begins is not None and begins <= now
