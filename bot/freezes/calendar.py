"""The calendar: freezes in force and to come, and the next occurrences of recurring windows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from bot.freezes.freeze import Freeze
from bot.freezes.windows import (
    NextStart,
    Occurrence,
    OccurrenceKey,
    OccurrenceRecord,
    OccurrenceState,
    RecurringWindow,
    coming,
)
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import FreezeAttributes

NO_CONDITIONS = FreezeAttributes()
"""The conditions of an entry that keeps every pull request waiting."""


class EntryState(Enum):
    """What an entry of the calendar is now."""

    IN_FORCE = "in force"
    PLANNED = "planned"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CalendarEntry:
    """A time in which merging waits, or would have."""

    repository: RepositoryName
    state: EntryState
    begins_at: datetime
    ends_at: datetime | None  #: None until somebody ends it
    reason: str
    by: str | None
    freeze_id: str | None = None  #: of a freeze that the service has
    #: of a recurring window that nothing was made for yet
    occurrence: OccurrenceKey | None = None
    is_recurring: bool = False
    terms: FreezeAttributes = NO_CONDITIONS  #: its conditions
    #: the reasons of the repository's other entries that fall into the same time
    overlaps: tuple[str, ...] = ()

    def meets(self, other: "CalendarEntry") -> bool:
        """Whether both are in force at some time."""
        begins_before_end = other.ends_at is None or self.begins_at < other.ends_at
        ends_after_begin = self.ends_at is None or other.begins_at < self.ends_at
        return begins_before_end and ends_after_begin


def calendar(
    freezes: Iterable[Freeze],
    windows: Sequence[RecurringWindow],
    records: Mapping[OccurrenceKey, OccurrenceRecord],
    now: datetime,
    next_start: NextStart,
) -> Sequence[CalendarEntry]:
    """In the order in which they begin, those in force first.

    `records`: what became of the occurrences of windows; one that is a freeze or a pause by now
    stands there as that.
    """
    made_by_windows = {record.freeze_id for record in records.values()}
    entries = [
        _of_freeze(freeze, begins_at, now, is_recurring=freeze.freeze_id in made_by_windows)
        for freeze in freezes
        if (begins_at := freeze.begins_at) is not None
        and (freeze.is_in_force(now) or freeze.is_to_come(now))
    ]
    for window in windows:
        for occurrence in coming(window, now, next_start):
            for repository in window.repositories:
                record = records.get(occurrence.on(repository))
                entry = _of_occurrence(occurrence, repository, record)
                if entry is not None:
                    entries.append(entry)
    ordered = sorted(entries, key=lambda entry: (entry.begins_at, entry.repository))
    return _with_overlaps(ordered)


def _of_freeze(
    freeze: Freeze, begins_at: datetime, now: datetime, *, is_recurring: bool
) -> CalendarEntry:
    state = EntryState.IN_FORCE if begins_at <= now else EntryState.PLANNED
    return CalendarEntry(
        freeze.repository,
        state,
        begins_at,
        freeze.ends_at,
        freeze.reason,
        freeze.by,
        freeze_id=freeze.freeze_id,
        is_recurring=is_recurring,
        terms=freeze.terms,
    )


def _of_occurrence(
    occurrence: Occurrence, repository: RepositoryName, record: OccurrenceRecord | None
) -> CalendarEntry | None:
    """None if there is a freeze or a pause for it, or was and somebody has ended it."""
    window = occurrence.window
    planned = CalendarEntry(
        repository,
        EntryState.PLANNED,
        occurrence.begins_at,
        occurrence.ends_at,
        window.reason,
        window.actor.name,
        occurrence=occurrence.on(repository),
        is_recurring=True,
    )
    if record is None or record.is_to_come:
        return planned
    if record.state is OccurrenceState.SKIPPED:
        return replace(planned, state=EntryState.SKIPPED)
    return None


def _with_overlaps(entries: Sequence[CalendarEntry]) -> Sequence[CalendarEntry]:
    """With what else is in force at the same time; what is skipped doesn't count."""
    counting: dict[RepositoryName, list[CalendarEntry]] = {}
    for entry in entries:
        if entry.state is not EntryState.SKIPPED:
            counting.setdefault(entry.repository, []).append(entry)
    found: list[CalendarEntry] = []
    for entry in entries:
        others = counting.get(entry.repository, [])
        overlapping = () if entry.state is EntryState.SKIPPED else _overlapping(entry, others)
        found.append(replace(entry, overlaps=tuple(overlapping)))
    return found


def _overlapping(entry: CalendarEntry, others: Collection[CalendarEntry]) -> list[str]:
    return [other.reason for other in others if other is not entry and entry.meets(other)]
