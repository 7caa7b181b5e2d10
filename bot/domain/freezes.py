"""Scheduled freezes: what the event log tells of them, and the stages that they go through."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from bot.domain.durations import zone_named
from bot.domain.event_records import EventRecord, FreezeAttributes, in_order
from bot.domain.queue import QueueStatus
from bot.domain.repository import RepositoryName

FREEZE_CREATE = "scheduled_freeze.create"
FREEZE_UPDATE = "scheduled_freeze.update"
FREEZE_DELETE = "scheduled_freeze.delete"
FREEZE_TYPES = (FREEZE_CREATE, FREEZE_DELETE, FREEZE_UPDATE)

NOTICE = timedelta(minutes=30)
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
    """A scheduled freeze, as its events left it.

    `event_id`: its first known event, by which it is known for good.
    `set_id`, `set_at`: the event that gave it its terms, and when the service received that.
    `terms`: as sent; they identify the freeze in the log, because the service sends no id.
    `by`: who created it, or who changed it if the creation is unknown.
    `begins_at`: None if its times are unreadable.
    `ends_at`: None until somebody removes it.
    `before`: its terms before the first known event; None if that created it.
    `queued`: the pull requests that it keeps waiting, counted for the last stage, if known.
    `over_at`: when it ended or was removed; `removed_by`, `removed_for`: by whom and why.
    """

    repository: RepositoryName
    event_id: int
    set_id: int
    set_at: datetime
    terms: FreezeAttributes
    by: str | None
    begins_at: datetime | None = None
    ends_at: datetime | None = None
    before: FreezeAttributes | None = None
    stage: Stage = Stage.PLANNED
    queued: int | None = None
    over_at: datetime | None = None
    removed_by: str | None = None
    removed_for: str | None = None

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
            Stage.PLANNED: self.begins_at - NOTICE,
            Stage.ANNOUNCED: self.begins_at,
            Stage.IN_FORCE: self.ends_at,
        }
        return following.get(self.stage)

    @property
    def is_on_short_notice(self) -> bool:
        """Whether it was set when its approach was to be announced, so that it said so itself."""
        return self.begins_at is not None and self.set_at > self.begins_at - NOTICE

    @property
    def branch(self) -> str | None:
        """The base branch whose pull requests it holds, if that is its only condition."""
        (only, *others) = self.terms.matching_conditions or ("",)
        return only.removeprefix("base=") if only.startswith("base=") and not others else None

    @property
    def has_unread_conditions(self) -> bool:
        """Whether it has conditions that only the service interprets."""
        held, excepted = self.terms.matching_conditions, self.terms.exclude_conditions
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
    if freeze.begins_at - NOTICE <= now:
        return replace(freeze, stage=Stage.ANNOUNCED)
    return freeze


def freezes_after(known: Sequence[Freeze], events: Sequence[EventRecord]) -> list[Freeze]:
    """All freezes after these later events, in any order; also those that are over."""
    found = {one.event_id: one for one in known}
    for event in in_order(events):
        found |= {one.event_id: one for one in changed_by(event, list(found.values()))}
    return list(found.values())


def changed_by(event: EventRecord, known: Sequence[Freeze]) -> list[Freeze]:
    """The freezes that the event makes or changes; none if it carries no terms.

    The event may have appeared in the log after later ones.
    """
    terms, replaced = event.details.freeze, event.details.freeze_before
    if terms is None or event.type not in FREEZE_TYPES:
        return []
    if event.type == FREEZE_CREATE:
        later = _later(event, known, terms)
        return [replace(later, by=event.details.actor, before=None) if later else _new(event)]
    if event.type == FREEZE_DELETE:
        found = _with_terms(known, terms)
        return [_removed(found or replace(_new(event), before=terms), event)]
    found, later = _with_terms(known, replaced), _later(event, known, terms)
    if later is not None:
        earlier = [_removed(found, event)] if found else []
        by, before = (found.by, found.before) if found else (later.by, replaced)
        return [*earlier, replace(later, by=by, before=before)]
    return [_with_new_terms(found, event) if found else replace(_new(event), before=replaced)]


def _with_terms(known: Sequence[Freeze], terms: FreezeAttributes | None) -> Freeze | None:
    """The freeze that has these terms now, or had when its time was up."""
    found = [one for one in known if one.terms == terms and not one.is_removed]
    return min(found, key=lambda one: one.stage is Stage.OVER, default=None)


def _later(event: EventRecord, known: Sequence[Freeze], terms: FreezeAttributes) -> Freeze | None:
    """The freeze that this event set, if it is known only from later events."""
    this = (event.received_at, event.event_id)
    return next(
        (one for one in known if one.before == terms and (one.set_at, one.set_id) > this), None
    )


def _new(event: EventRecord) -> Freeze:
    terms, by = event.details.freeze or FreezeAttributes(), event.details.actor
    made = Freeze(event.repository, event.event_id, event.event_id, event.received_at, terms, by)
    return _with_new_terms(made, event)


def _with_new_terms(freeze: Freeze, event: EventRecord) -> Freeze:
    terms = event.details.freeze or freeze.terms
    begins_at, ends_at = moment(terms.start, terms), moment(terms.end, terms)
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
    of_batches = {
        one.number: one.estimated_merge_at or batch.estimated_merge_at
        for batch in status.batches
        for one in batch.pull_requests
    }
    waiting = [one.estimated_merge_at for one in status.waiting_pull_requests]
    return sum(
        begins_at is None or at is None or not now <= at < begins_at
        for at in (*of_batches.values(), *waiting)
    )


def has_begun(terms: FreezeAttributes, now: datetime) -> bool:
    """Whether its start is past; False if that is unreadable."""
    begins = moment(terms.start, terms)
    return begins is not None and begins <= now


def moment(sent: str | None, terms: FreezeAttributes) -> datetime | None:
    """A time of a freeze in UTC: sent with an offset, or local to its zone, or else in UTC.

    A local time that occurs twice, as clocks go back, is the first; one that is skipped, as they go
    forward, is as late after the change.
    """
    try:
        at = datetime.fromisoformat(sent) if sent else None
        if at is not None and at.tzinfo is None:
            zone = zone_named(terms.timezone) if terms.timezone else UTC
            at = at.replace(tzinfo=zone) if zone is not None else None
        return at.astimezone(UTC) if at is not None else None
    except (ValueError, OverflowError):
        return None
