"""Which freezes are in force according to the event log."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.freezes.freeze import Ending, Freeze, Stage, next_freeze, waiting_for
from bot.freezes.matching import freezes_after, observe_freezes, only_listed
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.freezes import ListedFreeze
from tests.support.clock import NOON
from tests.support.make import SITE, make_batch, make_event, make_queued, make_status

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
        (
            [DELETED, event(5, "create", scheduled_freeze_attributes=LONGER), CREATED],
            [WEEK, LONGER],
        ),
    ],
)
def test_created_changed_and_deleted_freezes_are_followed(
    events: list[EventRecord], left: list[dict[str, str]]
) -> None:
    reported = [freeze for freeze in freezes_after([], events) if freeze.over_at is None]
    assert [one.terms.model_dump(exclude_defaults=True) for one in reported] == left


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
        ("0001-01-01T00:00:00", "9999-12-31T23:59:59", None, True),
        ("2026-07-20T11:00:00", "some day", "UTC", False),
        ("2026-07-20T11:00:00", None, "Nowhere/Else", False),
        (None, None, "UTC", False),
    ],
)
def test_a_freeze_is_in_force_between_its_times(
    start: str | None, end: str | None, zone: str | None, *, is_in_force: bool
) -> None:
    terms = {"reason": "x", "start": start, "end": end, "timezone": zone}
    told = freezes_after([], [event(1, "create", scheduled_freeze_attributes=terms)])
    at_noon = datetime(2026, 7, 20, 12, tzinfo=UTC)
    assert any(one.is_in_force(at_noon) for one in told) is is_in_force
    assert all((one.due_at is None) is (one.begins_at is None) for one in told)


def test_the_next_freeze_is_the_first_that_is_still_to_come() -> None:
    days = ["2026-07-22", "2026-07-21", "2026-07-19", "some day"]
    told = freezes_after(
        [],
        [
            event(
                number,
                "create",
                scheduled_freeze_attributes={**WEEK, "start": f"{day}T08:00:00Z", "reason": day},
            )
            for number, day in enumerate(days, 1)
        ],
    )
    first = next_freeze(told, NOON)
    assert first is not None
    assert first.terms.reason == "2026-07-21"
    assert next_freeze(told, NOON + timedelta(days=9)) is None
    assert next_freeze([replace(first, ending=Ending(NOON))], NOON) is None


def test_a_freeze_is_its_creators_also_when_somebody_else_changes_it() -> None:
    created = event(1, "create", scheduled_freeze_attributes=WEEK, created_by={"name": "Ana"})
    changed = event(
        2,
        "update",
        scheduled_freeze_attributes_before=WEEK,
        scheduled_freeze_attributes_after=LONGER,
        updated_by={"name": "Ben"},
    )
    assert [freeze.by for freeze in freezes_after([], [created, changed])] == ["Ana"]
    assert [freeze.by for freeze in freezes_after([], [changed])] == ["Ben"]


def test_one_of_two_equal_freezes_is_deleted() -> None:
    twice = [CREATED, event(2, "create", scheduled_freeze_attributes=WEEK)]
    deleted = event(3, "delete", scheduled_freeze_attributes=WEEK)
    left = [freeze for freeze in freezes_after([], [*twice, deleted]) if freeze.over_at is None]
    assert [record.told.first_id for record in left] == [2]


def test_the_id_of_a_freeze_stays_where_a_change_of_it_appears_late() -> None:
    (known,) = freezes_after([], [CREATED])
    known = replace(known, freeze_id="first", row_id=1)
    longest = {**LONGER, "end": "2026-08-30T08:00:00"}
    extended = event(
        4,
        "update",
        scheduled_freeze_attributes_before=LONGER,
        scheduled_freeze_attributes_after=longest,
    )
    rest, whole = freezes_after(freezes_after([known], [extended]), [CHANGED])
    assert (rest.row_id, rest.freeze_id, rest.stage) == (1, None, Stage.OVER)
    assert (whole.freeze_id, whole.stage) == ("first", Stage.PLANNED)
    assert whole.ends_at == datetime(2026, 8, 30, 6, tzinfo=UTC)


def test_freezes_with_different_ids_are_two_although_the_log_reads_like_one() -> None:
    (first,) = freezes_after([], [CREATED])
    first = replace(first, freeze_id="first", row_id=1)
    longest = {**LONGER, "end": "2026-08-30T08:00:00"}
    extended = event(
        4,
        "update",
        scheduled_freeze_attributes_before=LONGER,
        scheduled_freeze_attributes_after=longest,
    )
    (second,) = freezes_after([], [extended])
    second = replace(second, freeze_id="second", row_id=2)
    changed = freezes_after([first, second], [CHANGED])
    assert [(freeze.freeze_id, freeze.row_id) for freeze in changed] == [
        ("first", 1),
        ("second", 2),
    ]
    assert all(freeze.over_at is None for freeze in changed)


def test_of_equal_freezes_each_gets_an_id_of_its_own_from_the_list() -> None:
    known = freezes_after([], [CREATED, event(2, "create", scheduled_freeze_attributes=WEEK)])
    listed = [replace(known[0], freeze_id=name) for name in ("first", "second")]
    assert [freeze.freeze_id for freeze in observe_freezes(known, listed)] == ["first", "second"]
    named = observe_freezes(known, listed[1:])
    assert [freeze.freeze_id for freeze in named] == ["second", None]
    # Once it has an id, the list of another changes nothing about it.
    assert [freeze.freeze_id for freeze in observe_freezes(named, listed)] == ["second", "first"]


def listed(freeze_id: str, terms: dict[str, str]) -> Freeze:
    """As the service's list shows it, whose times are written in another way than the log's."""
    sent = {**terms, "start": "2026-07-20T06:00:00Z"}
    return Freeze(SITE, freeze_id, ListedFreeze.model_validate({"id": freeze_id, **sent}), None)


def test_a_listed_freeze_is_one_of_its_own_unless_the_log_has_told_of_it() -> None:
    assert only_listed([], [listed("first", WEEK)], NOON)[0].freeze_id == "first"
    known = freezes_after([], [CREATED])
    assert only_listed(known, [listed("first", WEEK)], NOON) == []
    named = observe_freezes(known, [listed("first", WEEK)])
    (other,) = only_listed(named, [listed("first", WEEK), listed("second", WEEK)], NOON)
    assert other.freeze_id == "second"
    # It has ended, and its list is out of date.
    ended = freezes_after([], [CREATED, event(2, "delete", scheduled_freeze_attributes=WEEK)])
    assert only_listed(ended, [listed("first", WEEK)], NOON) == []


def test_freezes_that_only_the_list_shows_are_told_apart_and_are_the_same_after_a_restore() -> None:
    both = [listed("first", WEEK), listed("second", WEEK)]
    first, second = only_listed([], both, NOON)
    assert first.told.set_id != second.told.set_id
    assert max(first.told.set_id, second.told.set_id) < 0
    (later,) = only_listed([], both[:1], NOON + timedelta(days=1))
    assert later.told.first_id == first.told.first_id


@pytest.mark.parametrize(
    ("told", "left"),
    [
        (event(1, "create", scheduled_freeze_attributes=WEEK, created_by={"name": "Ana"}), WEEK),
        (
            event(
                1,
                "update",
                scheduled_freeze_attributes_before=WEEK,
                scheduled_freeze_attributes_after=LONGER,
                updated_by={"name": "Ana"},
            ),
            LONGER,
        ),
        (event(1, "delete", scheduled_freeze_attributes=WEEK), None),
    ],
)
def test_an_event_of_a_freeze_that_only_the_list_showed_is_about_that_one(
    told: EventRecord, left: dict[str, str] | None
) -> None:
    (known,) = only_listed([], [listed("first", WEEK)], NOON)
    (freeze,) = freezes_after([replace(known, row_id=1)], [told])
    assert (freeze.freeze_id, freeze.row_id, freeze.told.set_id) == ("first", 1, 1)
    assert freeze.is_removed is (left is None)
    if left is not None:
        assert freeze.terms.model_dump(exclude_defaults=True) == left
        assert freeze.by == "Ana"


def test_conditions_are_read_as_words() -> None:
    sent = {
        **WEEK,
        "matching_conditions": ["base=main", {"or": ["label=a", {"not": "label=b"}]}],
        "exclude_conditions": [{"and": ["author=ana", 7]}],
    }
    told = event(1, "create", scheduled_freeze_attributes=sent).details.freeze
    assert told is not None
    assert told.matching_conditions == ("base=main", "(label=a or not label=b)")
    assert told.exclude_conditions == ("(author=ana and 7)",)


@pytest.mark.parametrize(
    ("estimate", "stage", "held"),
    [
        (90, Stage.PLANNED, 1),
        (60, Stage.PLANNED, 1),
        (59, Stage.PLANNED, 0),
        (None, Stage.PLANNED, 1),
        (-1, Stage.PLANNED, 1),
        (59, Stage.IN_FORCE, 1),
    ],
)
def test_pull_requests_that_wont_merge_before_a_freeze_are_counted(
    estimate: int | None, stage: Stage, held: int
) -> None:
    terms = {"reason": "x", "start": (NOON + timedelta(hours=1)).isoformat()}
    (freeze,) = freezes_after([], [event(1, "create", scheduled_freeze_attributes=terms)])
    at = None if estimate is None else NOON + timedelta(minutes=estimate)
    waiting = make_queued(41).model_copy(update={"estimated_merge_at": at})
    in_batch = make_batch(make_queued(42), estimated_merge_at=at)
    status = make_status(in_batch, waiting=[waiting])
    assert waiting_for(replace(freeze, stage=stage), status, NOON) == 2 * held


def test_a_start_that_the_clocks_show_twice_is_the_first_of_the_two() -> None:
    terms = {**WEEK, "start": "2026-10-25T02:30:00"}
    (freeze,) = freezes_after([], [event(1, "create", scheduled_freeze_attributes=terms)])
    assert freeze.begins_at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
