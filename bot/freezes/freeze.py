"""Scheduled freezes: which one an event is about, and the stages that they go through."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from bot.kernel.repository import RepositoryName
from bot.log.types import FREEZE_CREATE, FREEZE_DELETE, FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord, FreezeAttributes, in_order
from bot.merge_queue.freezes import ScheduledFreeze, moment
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
    event_id: int  #: its first known event, by which its card and its row are known for good
    set_id: int  #: the event that gave it its terms
    set_at: datetime  #: when the service received that event
    terms: FreezeAttributes  #: as sent
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
    #: the service's id, which identifies it; None until a reading of the service's list shows it,
    #: and where the service has no such list
    freeze_id: str | None = None

    def is_in_force(self, now: datetime) -> bool:
        has_begun = self.begins_at is not None and self.begins_at <= now
        is_over = self.over_at is not None or (self.ends_at is not None and self.ends_at <= now)
        return has_begun and not is_over

    def is_to_come(self, now: datetime) -> bool:
        return self.begins_at is not None and self.begins_at > now and self.over_at is None

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
        """The base branch whose pull requests wait, if that is its only condition."""
        (only, *others) = self.terms.matching_conditions or ("",)
        return only.removeprefix("base=") if only.startswith("base=") and not others else None

    @property
    def has_unread_conditions(self) -> bool:
        """Whether it has conditions that only the service interprets."""
        matching = self.terms.matching_conditions
        excepted = self.terms.exclude_conditions
        return bool(excepted or (matching and self.branch is None))

    @property
    def began_when_set(self) -> bool:
        return self.begins_at is not None and self.set_at > self.begins_at - SURELY_READ


def next_freeze(freezes: Iterable[Freeze], now: datetime) -> Freeze | None:
    """The one that begins first of those to come."""
    to_come = [freeze for freeze in freezes if freeze.is_to_come(now)]
    return min(to_come, key=lambda freeze: freeze.begins_at or now, default=None)


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


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known beside an event, which carries the terms of its freeze and no id."""

    #: the ids of the freezes that the act through the bot behind the event was about, if any
    acted_on: frozenset[str] | None = None
    #: the service's list when read after the event; None if it wasn't
    listed: Sequence[ScheduledFreeze] | None = None

    def is_acted_on(self, freeze: Freeze) -> bool:
        return self.acted_on is not None and freeze.freeze_id in self.acted_on

    def is_gone(self, freeze: Freeze) -> bool:
        """Whether the service no longer has it."""
        return freeze.freeze_id is not None and self._shown(freeze) is None and self._is_read

    def has_changed(self, freeze: Freeze) -> bool:
        """Whether the service has it with other terms."""
        shown = self._shown(freeze)
        return shown is not None and not has_terms(shown, freeze.terms)

    @property
    def _is_read(self) -> bool:
        return self.listed is not None

    def _shown(self, freeze: Freeze) -> ScheduledFreeze | None:
        listed = self.listed or ()
        return next((shown for shown in listed if shown.id == freeze.freeze_id), None)


NO_EVIDENCE = Evidence()


def has_terms(freeze: FreezeAttributes, terms: FreezeAttributes) -> bool:
    """Whether both have the same terms; times may be written in different ways."""
    return _comparable(freeze) == _comparable(terms)


def _comparable(terms: FreezeAttributes) -> tuple[object, ...]:
    times = [moment(time, terms) for time in (terms.start, terms.end)]
    seconds = [at.replace(microsecond=0) if at is not None else None for at in times]
    return (terms.reason or "", *seconds, terms.matching_conditions, terms.exclude_conditions)


def identified(known: Sequence[Freeze], listed: Sequence[ScheduledFreeze]) -> list[Freeze]:
    """The known freezes that the list gives an id: those with the same terms.

    Equal ones are interchangeable until they have ids.
    """
    ids = {freeze.freeze_id for freeze in known}
    nameless = [freeze for freeze in known if freeze.freeze_id is None and freeze.over_at is None]
    found = []
    for shown in listed:
        equal = [freeze for freeze in nameless if has_terms(shown, freeze.terms)]
        if equal and shown.id not in ids:
            nameless.remove(equal[0])
            found.append(replace(equal[0], freeze_id=shown.id))
    return found


def with_ids(known: Sequence[Freeze], listed: Sequence[ScheduledFreeze]) -> list[Freeze]:
    """The known freezes, with the ids that the list gives them."""
    found = {freeze.event_id: freeze for freeze in identified(known, listed)}
    return [found.get(freeze.event_id, freeze) for freeze in known]


def freezes_after(known: Sequence[Freeze], events: Sequence[EventRecord]) -> list[Freeze]:
    """All freezes after these later events, in any order; also those that are over."""
    found = {freeze.event_id: freeze for freeze in known}
    for event in in_order(events):
        found |= {freeze.event_id: freeze for freeze in changed_by(event, list(found.values()))}
    return list(found.values())


def changed_by(
    event: EventRecord, known: Sequence[Freeze], evidence: Evidence = NO_EVIDENCE
) -> list[Freeze]:
    """The freezes that the event makes or changes; none if it carries no terms.

    The event may have appeared in the log after later ones.
    """
    terms = event.details.freeze
    replaced = event.details.freeze_before
    if terms is None or event.type not in FREEZE_TYPES:
        return []
    if event.type == FREEZE_CREATE:
        later = _later(event, known, terms)
        made = _made(event, known, evidence)
        return [replace(later, by=event.details.actor, before=None) if later else made]
    if event.type == FREEZE_DELETE:
        found = _meant(known, terms, evidence.is_acted_on, evidence.is_gone)
        return [_removed(found or replace(_new(event), before=terms), event)]
    found = _meant(known, replaced, evidence.is_acted_on, evidence.has_changed)
    later = _later(event, known, terms)
    if later is not None and found:
        removed = _removed(found, event)
        return [removed, replace(later, by=found.by, before=found.before)]
    if later is not None:
        return [replace(later, before=replaced)]
    return [_with_new_terms(found, event) if found else replace(_new(event), before=replaced)]


def _meant(
    known: Sequence[Freeze], terms: FreezeAttributes | None, *witnesses: Callable[[Freeze], bool]
) -> Freeze | None:
    """The freeze that the event means: it has these terms now, or had when its time was up.

    Of equal ones the first witness that knows one decides.
    """
    equal = [freeze for freeze in known if freeze.terms == terms and not freeze.is_removed]
    for is_meant in witnesses:
        found = [freeze for freeze in equal if is_meant(freeze)]
        if found:
            return found[0]
    return min(equal, key=lambda freeze: freeze.stage is Stage.OVER, default=None)


def _made(event: EventRecord, known: Sequence[Freeze], evidence: Evidence) -> Freeze:
    made = _new(event)
    new_ids = (evidence.acted_on or frozenset()) - {freeze.freeze_id for freeze in known}
    return replace(made, freeze_id=next(iter(new_ids), None))


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


def has_begun(terms: FreezeAttributes, now: datetime) -> bool:
    """Whether its start is past; False if that is unreadable."""
    begins = moment(terms.start, terms)
    return begins is not None and begins <= now
