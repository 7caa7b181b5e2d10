"""Freezes that people make: what they ask for, and what the service lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from bot.domain.audit import AuditRecord
from bot.domain.event_records import FreezeAttributes
from bot.domain.freezes import moment, zone_of
from bot.domain.repository import RepositoryName
from bot.domain.resource import Several

Condition = str | Mapping[str, Any]
"""`base=main`, or a tree of `and`, `or` and `not`, as the service takes it."""

BY_EVENT = "event:"
"""Begins the id of a freeze in a card's buttons: its first event's id follows."""

ASK_FROM = timedelta(hours=12)
"""A freeze that lasts so long, or has no end, is confirmed first."""


@dataclass(frozen=True, slots=True)
class FreezeTerms:
    """A freeze to create.

    `start`: None for now. `end`: None until somebody ends it.
    `zone`: the person's own; the service shows times in it.
    `matching`, `excluded`: the service holds what meets all of the first, unless it meets all of
    the second.
    """

    reason: str
    start: datetime | None
    end: datetime | None
    zone: ZoneInfo
    matching: tuple[Condition, ...] = ()
    excluded: tuple[Condition, ...] = ()

    @property
    def sent(self) -> dict[str, Any]:
        """The fields as the service takes them; a missing start is now."""
        times = [at for at in (self.start, self.end) if at is not None]
        zone = _zone_for(times, self.zone)
        return {
            "reason": self.reason,
            "start": local(self.start, zone) if self.start is not None else None,
            "end": local(self.end, zone) if self.end is not None else None,
            "timezone": zone.key,
            "matching_conditions": list(self.matching),
            "exclude_conditions": list(self.excluded),
        }


@dataclass(frozen=True, slots=True)
class FreezeChange:
    """What to change of a freeze; None leaves it as it is."""

    end: datetime | None = None
    excluded: tuple[Condition, ...] | None = None


class ScheduledFreeze(FreezeAttributes):
    """A freeze in force or to come, as the service lists it.

    `excluded`: its exceptions exactly as sent, to send them back.
    """

    id: str
    excluded: Annotated[Several[Any], Field(validation_alias="exclude_conditions")] = ()

    @property
    def begins_at(self) -> datetime | None:
        return moment(self.start, self)

    @property
    def ends_at(self) -> datetime | None:
        return moment(self.end, self)

    def has_begun(self, now: datetime) -> bool:
        """An unreadable start counts as past: the service lists the freeze."""
        begins_at = self.begins_at
        return begins_at is None or begins_at <= now

    def has(self, change: FreezeChange) -> bool:
        """Whether it is as the change makes it."""
        end = None if change.end is None else change.end.replace(microsecond=0)
        is_end = end in {None, self.ends_at}
        return is_end and change.excluded in (None, self.excluded)

    def local(self, at: datetime) -> str:
        """A time as the service takes it for this freeze."""
        return local(at, zone_of(self) or UTC)


def _zone_for(times: Sequence[datetime], zone: ZoneInfo) -> ZoneInfo:
    """The zone, or UTC if one of the times occurs twice there: the service would take the first."""
    first = [at.astimezone(zone).replace(fold=0).astimezone(UTC) for at in times]
    return zone if first == list(times) else ZoneInfo("UTC")


def local(at: datetime, zone: tzinfo) -> str:
    """The time in the zone, without an offset, in whole seconds."""
    return at.astimezone(zone).replace(tzinfo=None).isoformat(timespec="seconds")


def has_terms(freeze: FreezeAttributes, terms: FreezeAttributes) -> bool:
    """Whether they are the same freeze; times may be written in different ways."""
    return _identity(freeze) == _identity(terms)


def has_begin(freeze: FreezeAttributes, terms: FreezeAttributes) -> bool:
    """Whether they begin at the same time for the same reason."""
    return _identity(freeze)[:2] == _identity(terms)[:2]


def _identity(terms: FreezeAttributes) -> tuple[object, ...]:
    times = [_seconds(moment(one, terms)) for one in (terms.start, terms.end)]
    return (terms.reason or "", *times, terms.matching_conditions, terms.exclude_conditions)


def _seconds(at: datetime | None) -> datetime | None:
    return at.replace(microsecond=0) if at is not None else None


def any_of(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """One of them is enough; the service requires all that it is given."""
    return ({"or": list(conditions)},) if conditions[1:] else tuple(conditions)


def with_exception(excluded: Sequence[Condition], added: Condition) -> tuple[Condition, ...]:
    """The exceptions, and another one that is enough by itself."""
    match list(excluded):
        case []:
            return (added,)
        case [{"or": [*parts]}]:
            return ({"or": [*parts, added]},)
        case [one]:
            return ({"or": [one, added]},)
        case several:
            return ({"or": [{"and": several}, added]},)


def number_condition(pull_request: int) -> str:
    return f"number={pull_request}"


def is_excepted(excluded: Sequence[Condition], condition: str) -> bool:
    """Whether the condition alone is among the exceptions."""
    match list(excluded):
        case [{"or": [*parts]}]:
            return condition in parts
        case [one]:
            return one == condition
        case _:
            return False


@dataclass(frozen=True, slots=True)
class KnownFreeze:
    """A freeze of the service's list, with what the bot knows of it.

    `by`: who made it. `reason`: their own words. `group`, `group_act_id`: the
    group it was made for, and the act on that.
    """

    repository: RepositoryName
    freeze: ScheduledFreeze
    by: str | None = None
    reason: str = ""
    group: str | None = None
    group_act_id: int = 0


@dataclass(frozen=True, slots=True)
class Frozen:
    """The freeze is made; `posted_here`: the channel gets its card."""

    known: KnownFreeze
    posted_here: bool = False


@dataclass(frozen=True, slots=True)
class AlreadyFrozen:
    """Nothing changed: this freeze holds the same branches at that time."""

    known: KnownFreeze


@dataclass(frozen=True, slots=True)
class NotFrozen:
    """Nothing changed: there is no such freeze. `ended`: the act that ended one last, if known."""

    ended: AuditRecord | None = None


@dataclass(frozen=True, slots=True)
class SeveralFreezes:
    """Nothing changed: the person has to choose one."""

    freezes: Sequence[KnownFreeze]


@dataclass(frozen=True, slots=True)
class Unfrozen:
    """The freezes have ended; `posted_here`: the channel gets to know from their card."""

    freezes: Sequence[KnownFreeze]
    posted_here: bool = False


@dataclass(frozen=True, slots=True)
class EndChanged:
    """The freeze has a new end."""

    known: KnownFreeze


@dataclass(frozen=True, slots=True)
class OtherFreezeEnd:
    """Nothing changed: it got or lost its end since the menu was drawn."""

    known: KnownFreeze


@dataclass(frozen=True, slots=True)
class Allowed:
    """The pull request may merge during these freezes; `is_new`: it may only now."""

    freezes: Sequence[KnownFreeze]
    is_new: bool


def overlaps(freeze: ScheduledFreeze, wanted: FreezeTerms, now: datetime) -> bool:
    """Whether it holds all that the wanted one would hold, at some of its time."""
    matching = {*freeze.matching_conditions}
    if matching and matching != {*FreezeAttributes.model_validate(wanted.sent).matching_conditions}:
        return False
    begins, ends = freeze.begins_at or now, freeze.ends_at
    starts_before_end = ends is None or (wanted.start or now) < ends
    return starts_before_end and (wanted.end is None or begins < wanted.end)
