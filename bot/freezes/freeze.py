"""Scheduled freezes: what the event log tells of them, and the stages that they go through."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from bot.kernel.repository import RepositoryName
from bot.log.types import FREEZE_CREATE, FREEZE_DELETE, FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord, FreezeAttributes, in_order
from bot.merge_queue.freezes import moment
from bot.merge_queue.queue import QueueStatus

FREEZE_NOTICE = timedelta(minutes=30)
"""How long before its start channels are reminded of a freeze."""


EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""A start before it counts as this, because there is no time before the first year."""


SURELY_READ = timedelta(minutes=1)
"""A freeze that begins sooner than this after it was set needs no post about its start."""


class Stage(StrEnum):
    """What channels were last notified of: its creation or change, its approach, start or end."""

    PLANNED = "planned"
    ANNOUNCED = "announced"
    IN_FORCE = "in force"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Freeze:
    """A scheduled freeze, as its events left it."""

    repository: RepositoryName
    event_id: int  #: its first known event, by which it is known for good
    set_id: int  #: the event that gave it its terms
    set_at: datetime  #: when the service received that event
    #: as sent; they identify the freeze in the log, because the service sends no id
    terms: FreezeAttributes
    by: str | None  #: who created it, or who changed it if the creation is unknown
    begins_at: datetime | None = None  #: None if its times are unreadable
    ends_at: datetime | None = None  #: None until somebody removes it
    #: its terms before the first known event; None if that created it
    before: FreezeAttributes | None = None
    stage: Stage = Stage.PLANNED
    #: the pull requests that it keeps waiting, counted for the last stage, if known
    queued: int | None = None
    over_at: datetime | None = None  #: when it ended or was removed
    removed_by: str | None = None
    removed_for: str | None = None  #: the reason

    def is_in_force(self, now: datetime) -> bool:
        has_begun = self.begins_at is not None and self.begins_at <= now
        is_over = self.over_at is not None or (self.ends_at is not None and self.ends_at <= now)
        return has_begun and not is_over

    @property
    def is_removed(self) -> bool:
        """Whether somebody ended it before its time."""
        return self.over_at is not None and self.over_at != self.ends_at

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
        return self.begins_at is not None and self.set_at > self.begins_at - FREEZE_NOTICE

    @property
    def branch(self) -> str | None:
        """The base branch whose pull requests it holds, if that is its only condition."""
        (only, *others) = self.terms.matching_conditions or ("",)
        return only.removeprefix("base=") if only.startswith("base=") and not others else None

    @property
    def has_unread_conditions(self) -> bool:
        """Whether it has conditions that only the service interprets."""
        held = self.terms.matching_conditions
        excepted = self.terms.exclude_conditions
        return bool(excepted or (held and self.branch is None))

    @property
    def began_when_set(self) -> bool:
        return self.begins_at is not None and self.set_at > self.begins_at - SURELY_READ


def advanced(freeze: Freeze, now: datetime) -> Freeze:
    """The freeze in the stage of `now`, however many stages it skips."""
    if freeze.begins_at is None or freeze.stage is Stage.OVER:
        return freeze
    if freeze.ends_at is not None and freeze.ends_at <= now:
        return replace(freeze, stage=Stage.OVER, over_at=freeze.ends_at)
    if freeze.begins_at <= now:
        return replace(freeze, stage=Stage.IN_FORCE)
    if freeze.begins_at - FREEZE_NOTICE <= now:
        return replace(freeze, stage=Stage.ANNOUNCED)
    return freeze


def freezes_after(known: Sequence[Freeze], events: Sequence[EventRecord]) -> list[Freeze]:
    """All freezes after these later events, in any order; also those that are over."""
    found = {freeze.event_id: freeze for freeze in known}
    for event in in_order(events):
        found |= {freeze.event_id: freeze for freeze in changed_by(event, list(found.values()))}
    return list(found.values())


def changed_by(event: EventRecord, known: Sequence[Freeze]) -> list[Freeze]:
    """The freezes that the event makes or changes; none if it carries no terms.

    The event may have appeared in the log after later ones.
    """
    terms = event.details.freeze
    replaced = event.details.freeze_before
    if terms is None or event.type not in FREEZE_TYPES:
        return []
    if event.type == FREEZE_CREATE:
        later = _later(event, known, terms)
        return [replace(later, by=event.details.actor, before=None) if later else _new(event)]
    if event.type == FREEZE_DELETE:
        found = _with_terms(known, terms)
        return [_removed(found or replace(_new(event), before=terms), event)]
    found = _with_terms(known, replaced)
    later = _later(event, known, terms)
    if later is not None and found:
        removed = _removed(found, event)
        return [removed, replace(later, by=found.by, before=found.before)]
    if later is not None:
        return [replace(later, before=replaced)]
    return [_with_new_terms(found, event) if found else replace(_new(event), before=replaced)]


def _with_terms(known: Sequence[Freeze], terms: FreezeAttributes | None) -> Freeze | None:
    """The freeze that has these terms now, or had when its time was up."""
    found = [freeze for freeze in known if freeze.terms == terms and not freeze.is_removed]
    return min(found, key=lambda freeze: freeze.stage is Stage.OVER, default=None)


def _later(event: EventRecord, known: Sequence[Freeze], terms: FreezeAttributes) -> Freeze | None:
    """The freeze that this event set, if it is known only from later events."""
    this = (event.received_at, event.event_id)
    return next(
        (
            freeze
            for freeze in known
            if freeze.before == terms and (freeze.set_at, freeze.set_id) > this
        ),
        None,
    )


def _new(event: EventRecord) -> Freeze:
    terms = event.details.freeze or FreezeAttributes()
    by = event.details.actor
    made = Freeze(event.repository, event.event_id, event.event_id, event.received_at, terms, by)
    return _with_new_terms(made, event)


def _with_new_terms(freeze: Freeze, event: EventRecord) -> Freeze:
    terms = event.details.freeze or freeze.terms
    begins_at = moment(terms.start, terms)
    ends_at = moment(terms.end, terms)
    if terms.end is not None and ends_at is None:
        begins_at = None
    if begins_at is not None:
        begins_at = max(begins_at, EARLIEST)
    return replace(
        freeze,
        set_id=event.event_id,
        set_at=event.received_at,
        terms=terms,
        begins_at=begins_at,
        ends_at=ends_at,
        stage=Stage.PLANNED,
        queued=None,
        over_at=None,
    )


def _removed(freeze: Freeze, event: EventRecord) -> Freeze:
    return replace(
        freeze,
        stage=Stage.OVER,
        set_id=event.event_id,
        set_at=event.received_at,
        over_at=event.received_at,
        removed_by=event.details.actor,
        removed_for=event.details.reason,
    )


def held_by(freeze: Freeze, status: QueueStatus, now: datetime) -> int:
    """How many pull requests of the `status` won't merge before it begins, by their estimates.

    All of them once it has begun. An estimate that has passed says nothing.
    """
    begins_at = freeze.begins_at if freeze.stage is not Stage.IN_FORCE else None
    due = {queued.number: queued.estimated_merge_at for queued in status.queued}
    for batch in status.batches:
        for number, part in batch.smallest_parts().items():
            due[number] = due[number] or part.estimated_merge_at or batch.estimated_merge_at
    return sum(begins_at is None or at is None or not now <= at < begins_at for at in due.values())


def has_begun(terms: FreezeAttributes, now: datetime) -> bool:
    """Whether its start is past; False if that is unreadable."""
    begins = moment(terms.start, terms)
    return begins is not None and begins <= now
