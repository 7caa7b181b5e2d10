"""Scheduled freezes: the windows that the event log tells of, and which are in force."""

from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.event_records import EventRecord, FreezeAttributes
from bot.domain.events import in_order
from bot.domain.repository import RepositoryName
from bot.domain.values import value

FREEZE_CREATE = "scheduled_freeze.create"
FREEZE_UPDATE = "scheduled_freeze.update"
FREEZE_DELETE = "scheduled_freeze.delete"
FREEZE_TYPES = (FREEZE_CREATE, FREEZE_DELETE, FREEZE_UPDATE)


@value(frozen=True, slots=True)
class Freeze:
    """A scheduled freeze, as its last event left it.

    `event_id`, `set_at`: that event, and when the service received it.
    `terms`: as sent; they identify the freeze, because the service sends no id.
    `by`: who created it, or who changed it if the creation is unknown.
    `ends_at`: None until somebody removes it.
    """

    repository: RepositoryName
    event_id: int
    set_at: datetime
    terms: FreezeAttributes
    by: str | None
    begins_at: datetime
    ends_at: datetime | None

    def is_in_force(self, now: datetime) -> bool:
        return self.begins_at <= now and (self.ends_at is None or now < self.ends_at)


def freezes_after(known: Sequence[Freeze], events: Sequence[EventRecord]) -> list[Freeze]:
    """The freezes planned, in force or over after these later events, in any order.

    Freezes whose times are unreadable are left out.
    """
    left = list(known)
    for event in in_order(events):
        terms = event.details.freeze
        gone = terms if event.type == FREEZE_DELETE else event.details.freeze_before
        before = next((one for one in left if one.terms == gone), None)
        if before is not None:
            left.remove(before)
        if terms is not None and event.type in {FREEZE_CREATE, FREEZE_UPDATE}:
            by = before.by if before is not None else event.details.actor
            left += _read(event, terms, by)
    return left


def _read(event: EventRecord, terms: FreezeAttributes, by: str | None) -> list[Freeze]:
    begins_at, ends_at = moment(terms.start, terms), moment(terms.end, terms)
    if begins_at is None or (terms.end is not None and ends_at is None):
        return []
    return [
        Freeze(event.repository, event.event_id, event.received_at, terms, by, begins_at, ends_at)
    ]


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
            zone = zone_of(terms) if terms.timezone else UTC
            at = at.replace(tzinfo=zone) if zone is not None else None
        return at.astimezone(UTC) if at is not None else None
    except (ValueError, OverflowError):
        return None


def zone_of(terms: FreezeAttributes) -> ZoneInfo | None:
    """Its time zone; None if missing or unknown."""
    try:
        return ZoneInfo(terms.timezone) if terms.timezone else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
