"""Which freezes are in force after what the event log told."""

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.domain.event_records import EventRecord, FreezeAttributes
from bot.domain.freezes import freezes_told, in_force
from tests.support.clock import NOON
from tests.support.make import make_event

WEEK = {"reason": "release week", "start": "2026-07-20T08:00:00", "timezone": "Europe/Paris"}
LONGER = {**WEEK, "end": "2026-07-30T08:00:00"}
OTHER = {**WEEK, "reason": "audit"}


def event(number: int, change: str, **metadata: Any) -> EventRecord:
    return make_event(number, f"scheduled_freeze.{change}", received_at=NOON, metadata=metadata)


CREATED = event(1, "create", scheduled_freeze_attributes=WEEK)
CHANGED = event(
    2,
    "update",
    scheduled_freeze_attributes_before=WEEK,
    scheduled_freeze_attributes_after=LONGER,
)
DELETED = event(3, "delete", scheduled_freeze_attributes=LONGER)
ANOTHER = event(4, "create", scheduled_freeze_attributes=OTHER)


@pytest.mark.parametrize(
    ("events", "left"),
    [
        ([], []),
        ([CREATED], [WEEK]),
        ([CHANGED, CREATED], [LONGER]),
        ([DELETED, CHANGED, CREATED], []),
        ([ANOTHER, DELETED, CHANGED, CREATED], [OTHER]),
        ([CHANGED], [LONGER]),
        ([DELETED], []),
        ([event(1, "create")], []),
    ],
)
def test_what_is_created_changed_and_deleted_is_followed(
    events: list[EventRecord], left: list[dict[str, str]]
) -> None:
    told = freezes_told(events)
    assert [one.model_dump(exclude_defaults=True) for one in told] == left


@pytest.mark.parametrize(
    ("start", "end", "zone", "is_in_force"),
    [
        ("2026-07-20T11:59:59Z", None, "UTC", True),
        ("2026-07-20T12:00:01Z", None, "UTC", False),
        ("2026-07-20T14:00:00", None, "Europe/Paris", True),
        ("2026-07-20T14:00:01", None, "Europe/Paris", False),
        ("2026-07-20T11:00:00Z", "2026-07-20T12:00:00Z", "UTC", False),
        ("2026-07-20T11:00:00Z", "2026-07-20T12:00:01Z", "UTC", True),
        ("2026-07-20T11:00:00", None, None, True),
        ("2026-07-20T11:00:00", "some day", "UTC", False),
        ("2026-07-20T11:00:00", None, "Nowhere/Else", False),
        (None, None, "UTC", False),
    ],
)
def test_a_freeze_is_in_force_between_its_times(
    start: str | None,
    end: str | None,
    zone: str | None,
    is_in_force: bool,  # noqa: FBT001 - a case of the test
) -> None:
    freeze = FreezeAttributes(reason="x", start=start, end=end, timezone=zone)
    assert in_force(freeze, datetime(2026, 7, 20, 12, tzinfo=UTC)) is is_in_force
