"""Freezes that people make: their terms, and what the service lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from bot.domain.asked import Asked
from bot.domain.audit import AuditRecord
from bot.domain.durations import resumes_at, zone_named
from bot.domain.event_records import FreezeAttributes
from bot.domain.freezes import moment
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
        first = [at.astimezone(self.zone).replace(fold=0).astimezone(UTC) for at in times]
        # Of a time that occurs twice in the zone the service would take the first.
        zone = self.zone if first == times else ZoneInfo("UTC")
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
        return self.begins_at is None or self.begins_at <= now

    def has(self, change: FreezeChange) -> bool:
        """Whether it is as the change makes it."""
        end = None if change.end is None else change.end.replace(microsecond=0)
        is_end = end in {None, self.ends_at}
        return is_end and change.excluded in (None, self.excluded)

    def sent(self, change: FreezeChange) -> Mapping[str, Any]:
        """The change as the service takes it for this freeze."""
        end = None if change.end is None else local(change.end, zone_named(self.timezone) or UTC)
        excluded = None if change.excluded is None else list(change.excluded)
        fields = {"end": end, "exclude_conditions": excluded}
        return {name: value for name, value in fields.items() if value is not None}


def terms_of(asked: Asked, now: datetime, zone: ZoneInfo, stored_reason: str = "") -> FreezeTerms:
    """Times are in the person's zone if they name none; raises InvalidDuration."""
    start = resumes_at(asked.start, now, zone) if asked.start is not None else None
    end = None if asked.lasting is None else resumes_at(asked.lasting, start or now, zone)
    branches = any_of([f"base={one}" for one in asked.branches])
    return FreezeTerms(stored_reason, start, end, zone, branches, any_of(asked.excepted))


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
    times = [moment(one, terms) for one in (terms.start, terms.end)]
    seconds = [at.replace(microsecond=0) if at is not None else None for at in times]
    return (terms.reason or "", *seconds, terms.matching_conditions, terms.exclude_conditions)


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


class FreezesAsTheyWere(StrEnum):
    """Why nothing was changed; the audit says it too."""

    FROZEN = "already frozen"
    NOT_FROZEN = "not frozen"
    SEVERAL = "several freezes"
    OTHER_END = "its end has changed"
    EXCEPTED = "already excepted"


@dataclass(frozen=True, slots=True)
class FreezeOutcome:
    """The freezes that were made, changed or ended; with `because`, nothing was changed.

    `ended`: the act that ended one last, if there is none any more.
    `posted_here`: the freezes' card tells the channel.
    """

    freezes: Sequence[KnownFreeze] = ()
    because: FreezesAsTheyWere | None = None
    ended: AuditRecord | None = None
    posted_here: bool = False


def overlaps(freeze: ScheduledFreeze, wanted: FreezeTerms, now: datetime) -> bool:
    """Whether it holds all that the wanted one would hold, at some of its time."""
    matching = {*freeze.matching_conditions}
    if matching and matching != {*FreezeAttributes.model_validate(wanted.sent).matching_conditions}:
        return False
    begins, ends = freeze.begins_at or now, freeze.ends_at
    is_before_end = ends is None or (wanted.start or now) < ends
    return is_before_end and (wanted.end is None or begins < wanted.end)
