"""Scheduled freezes as the event log tells of them: which are in force at a moment."""

from collections.abc import Iterable
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.event_metadata import FreezeAttributes, FreezeCreate, FreezeDelete, FreezeUpdate
from bot.domain.events import QueueEvent

FREEZE_TYPES = ("scheduled_freeze.create", "scheduled_freeze.delete", "scheduled_freeze.update")


def freezes_told(events: Iterable[QueueEvent]) -> tuple[FreezeAttributes, ...]:
    """Those planned or in force after these events, in whatever order they come.

    An event names a freeze by what it says of it: the service gives no id.
    """
    known: list[FreezeAttributes] = []
    for event in sorted(events, key=lambda one: (one.received_at, one.id)):
        match event.metadata:
            case FreezeCreate(scheduled_freeze_attributes=FreezeAttributes() as created):
                known.append(created)
            case FreezeUpdate() as change:
                known = [one for one in known if one != change.scheduled_freeze_attributes_before]
                after = change.scheduled_freeze_attributes_after
                known += [after] if after is not None else []
            case FreezeDelete(scheduled_freeze_attributes=FreezeAttributes() as deleted):
                known = [one for one in known if one != deleted]
            case _:
                pass
    return tuple(known)


def in_force(freeze: FreezeAttributes, now: datetime) -> bool:
    """Whether it holds merges back at `now`; False where its times cannot be read."""
    begins, ends = (_moment(at, freeze.timezone) for at in (freeze.start, freeze.end))
    if begins is None or begins > now:
        return False
    return freeze.end is None or (ends is not None and now < ends)


def _moment(sent: str | None, timezone: str | None) -> datetime | None:
    """A time of a freeze, which is local to its zone unless it says otherwise."""
    try:
        at = datetime.fromisoformat(sent or "")
        return at if at.tzinfo is not None else at.replace(tzinfo=ZoneInfo(timezone or "UTC"))
    except (ValueError, ZoneInfoNotFoundError, OSError):
        return None
