"""Freezes as the service tells of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from bot.kernel.durations import zone_named
from bot.merge_queue.event_records import FreezeAttributes
from bot.merge_queue.resource import Several


def moment(sent: str | None, terms: FreezeAttributes) -> datetime | None:
    """A time of a freeze in UTC: sent with an offset, or local to its zone, or else in UTC.

    A local time that occurs twice, as clocks go back, is the first; one that is skipped, as they go
    forward, is as late after the change.
    """
    if not sent:
        return None
    try:
        at = datetime.fromisoformat(sent)
        if at.tzinfo is None:
            zone = zone_named(terms.timezone) if terms.timezone else UTC
            if zone is None:
                return None
            at = at.replace(tzinfo=zone)
        return at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


Condition = str | Mapping[str, Any]
"""`base=main`, or a tree of `and`, `or` and `not`, as the service takes it."""


@dataclass(frozen=True, slots=True)
class FreezeTerms:
    """A freeze to create."""

    reason: str
    start: datetime | None  #: None for now
    end: datetime | None  #: None until somebody ends it
    zone: ZoneInfo  #: the person's own; the service shows times in it
    matching: tuple[Condition, ...] = ()  #: the service freezes what meets all of them
    excluded: tuple[Condition, ...] = ()  #: unless it meets all of these too

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
    zone: tzinfo = UTC  #: the freeze's own, in which the service takes times
    excluded: tuple[Condition, ...] | None = None
    start: datetime | None = None  #: the service refuses it once the freeze has begun

    @property
    def sent(self) -> Mapping[str, Any]:
        """The fields as the service takes them."""
        fields: dict[str, Any] = {}
        if self.start is not None:
            fields["start"] = local(self.start, self.zone)
        if self.end is not None:
            fields["end"] = local(self.end, self.zone)
        if self.excluded is not None:
            fields["exclude_conditions"] = list(self.excluded)
        return fields


class ListedFreeze(FreezeAttributes):
    """A freeze in force or to come, as the service lists it."""

    id: str
    #: its exceptions exactly as sent, to send them back
    excluded: Annotated[Several[Any], Field(validation_alias="exclude_conditions")] = ()

    def has(self, change: FreezeChange) -> bool:
        """Whether it is as the change makes it."""
        if change.end is not None and not ends_as(self, change.end):
            return False
        if change.start is not None and not begins_as(self, change.start):
            return False
        return change.excluded is None or change.excluded == self.excluded


@dataclass(frozen=True, slots=True)
class FreezeList:
    """The service's answer to which freezes are in force or to come."""

    freezes: tuple[ListedFreeze, ...] = ()
    served_at: datetime | None = None  #: the service's own time


def begins_as(terms: FreezeAttributes, start: datetime) -> bool:
    """Whether that is their start; the service keeps whole seconds."""
    return moment(terms.start, terms) == start.replace(microsecond=0)


def ends_as(terms: FreezeAttributes, end: datetime | None) -> bool:
    """Whether that is their end; the service keeps whole seconds."""
    wanted = end.replace(microsecond=0) if end is not None else None
    return moment(terms.end, terms) == wanted


def local(at: datetime, zone: tzinfo) -> str:
    """The time in the zone, without an offset, in whole seconds."""
    return at.astimezone(zone).replace(tzinfo=None).isoformat(timespec="seconds")
