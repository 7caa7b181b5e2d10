"""What the calendar shows: freezes, and the next occurrences of recurring windows."""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bot.freezes.calendar import CalendarEntry, EntryState, calendar
from bot.freezes.freeze import Freeze
from bot.freezes.windows import OccurrenceKey, OccurrenceRecord, OccurrenceState, RecurringWindow
from bot.kernel.cron import next_start
from bot.merge_queue.event_records import FreezeAttributes
from tests.support.clock import NOON
from tests.support.make import API, SITE

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
NIGHT = RecurringWindow(
    "night", (SITE,), "0 18 * * *", 2 * HOUR, ZoneInfo("UTC"), "No merges at night", HOUR
)
TONIGHT = NOON + 6 * HOUR
TOMORROW = TONIGHT + DAY


def freeze(
    start: datetime | None, end: datetime | None, reason: str = "4.2", **more: Any
) -> Freeze:
    times = [at.isoformat() if at is not None else None for at in (start, end)]
    terms = FreezeAttributes(reason=reason, start=times[0], end=times[1])
    return Freeze(more.pop("repository", SITE), more.pop("freeze_id", "F1"), terms, "ana")


def shown(
    *freezes: Freeze, records: tuple[OccurrenceRecord, ...] = (), windows: bool = False
) -> list[tuple[datetime, EntryState]]:
    return [
        (entry.begins_at, entry.state)
        for entry in entries(*freezes, records=records, windows=windows)
    ]


def entries(
    *freezes: Freeze, records: tuple[OccurrenceRecord, ...] = (), windows: bool = False
) -> list[CalendarEntry]:
    by_key = {record.key: record for record in records}
    planned = [NIGHT] if windows else []
    return list(calendar(freezes, planned, by_key, NOON, next_start))


def record(state: OccurrenceState, begins_at: datetime = TONIGHT) -> OccurrenceRecord:
    return OccurrenceRecord(SITE, "night", begins_at, begins_at + 2 * HOUR, state, freeze_id="F1")


def test_freezes_stand_in_order_unless_they_are_over_or_have_no_readable_start() -> None:
    assert shown(
        freeze(NOON + HOUR, None),
        freeze(NOON - HOUR, NOON + HOUR),
        freeze(NOON - 2 * HOUR, NOON),
        freeze(None, None),
    ) == [(NOON - HOUR, EntryState.IN_FORCE), (NOON + HOUR, EntryState.PLANNED)]


def test_the_next_two_occurrences_of_a_window_are_shown_until_they_are_freezes() -> None:
    planned = [(TONIGHT, EntryState.PLANNED), (TOMORROW, EntryState.PLANNED)]
    assert shown(windows=True) == planned
    known = record(OccurrenceState.ANNOUNCED)
    assert shown(windows=True, records=(known,)) == planned

    made = freeze(TONIGHT, TONIGHT + 2 * HOUR)
    frozen = record(OccurrenceState.FROZEN)
    found = entries(made, windows=True, records=(frozen,))
    assert [(entry.begins_at, entry.occurrence) for entry in found] == [
        (TONIGHT, None),
        (TOMORROW, OccurrenceKey(SITE, "night", TOMORROW)),
    ]
    assert found[0].is_recurring


def test_a_skipped_occurrence_says_so_and_one_that_somebody_ended_is_gone() -> None:
    skipped = record(OccurrenceState.SKIPPED)
    assert shown(windows=True, records=(skipped,)) == [
        (TONIGHT, EntryState.SKIPPED),
        (TOMORROW, EntryState.PLANNED),
    ]
    ended = record(OccurrenceState.LEFT)
    assert shown(windows=True, records=(ended,)) == [(TOMORROW, EntryState.PLANNED)]


def test_overlaps_are_those_of_the_same_repository_and_time_without_what_is_skipped() -> None:
    found = entries(
        freeze(NOON - HOUR, TONIGHT + HOUR, "first", freeze_id="A"),
        freeze(NOON + HOUR, NOON + 2 * HOUR, "second", freeze_id="B"),
        freeze(TONIGHT + HOUR, None, "touching", freeze_id="C"),
        freeze(NOON, None, "elsewhere", freeze_id="D", repository=API),
        records=(record(OccurrenceState.SKIPPED),),
        windows=True,
    )
    assert {entry.reason: entry.overlaps for entry in found if entry.begins_at < TOMORROW} == {
        "first": ("second",),
        "second": ("first",),
        "elsewhere": (),
        "No merges at night": (),
        "touching": ("No merges at night",),
    }
