"""Scheduled freezes from the event log: which are in force at a given time."""

from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.event_records import EventRecord, FreezeAttributes
from bot.domain.events import in_order

FREEZE_CREATE = "scheduled_freeze.create"
FREEZE_UPDATE = "scheduled_freeze.update"
FREEZE_DELETE = "scheduled_freeze.delete"
FREEZE_TYPES = (FREEZE_CREATE, FREEZE_DELETE, FREEZE_UPDATE)


def freezes_told(events: Sequence[EventRecord]) -> tuple[FreezeAttributes, ...]:
    """The freezes planned or in force after these events, in any order.

    An event identifies a freeze by its content: the service sends no id.
    """
    known: list[FreezeAttributes] = []
    for event in in_order(events):
        freeze = event.details.freeze
        gone = freeze if event.type == FREEZE_DELETE else event.details.freeze_before
        known = [one for one in known if one != gone]
        if freeze is not None and event.type in {FREEZE_CREATE, FREEZE_UPDATE}:
            known.append(freeze)
    return tuple(known)


def in_force(freeze: FreezeAttributes, now: datetime) -> bool:
    """Whether it holds back merges at `now`; False if its times are unreadable."""
    ends = moment(freeze.end, freeze)
    return has_begun(freeze, now) and (freeze.end is None or (ends is not None and now < ends))


def has_begun(freeze: FreezeAttributes, now: datetime) -> bool:
    """Whether its start is past; False if that is unreadable."""
    begins = moment(freeze.start, freeze)
    return begins is not None and begins <= now


def moment(sent: str | None, freeze: FreezeAttributes) -> datetime | None:
    """A time of a freeze: local to its zone, or to UTC, unless it has an offset."""
    at = read_time(sent)
    if at is None or at.tzinfo is not None:
        return at
    zone = zone_of(freeze) if freeze.timezone else UTC
    return at.replace(tzinfo=zone) if zone is not None else None


def read_time(sent: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(sent) if sent else None
    except ValueError:
        return None


def zone_of(freeze: FreezeAttributes) -> ZoneInfo | None:
    """Its time zone; None if missing or unknown."""
    try:
        return ZoneInfo(freeze.timezone) if freeze.timezone else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
