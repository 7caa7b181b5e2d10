"""Reading the event log: pages, events, and unreadable entries (API document, Event)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import JsonValue, ValidationError

from bot.domain.event_records import LIST_KEPT, EventDetails, EventRecord, storable
from bot.domain.event_types import CHECKS_END, LEAVE
from bot.domain.repository import RepositoryName
from bot.domain.resource import Later, Moment, Number, Resource

FAILING_STATES = frozenset({"failure", "error", "timed_out", "cancelled", "action_required"})


@dataclass(frozen=True, slots=True)
class UnreadableEvent:
    """An event that lacks a required field, kept as sent in `raw`.

    `problem`: the invalid fields, without their values.
    `event_id`: None if unreadable.
    """

    problem: str
    raw: JsonValue
    event_id: int | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    """One page of the log, in the service's own order.

    `next_cursor`: None on the last page.
    `previous_cursor`: None on the first page, or if the service offers no way back.
    `served_at`: the service's clock when it answered (the `Date` header), None without one.
    `incomplete`: the events with unreadable details.
    """

    events: tuple[EventRecord, ...]
    next_cursor: str | None = None
    served_at: datetime | None = None
    unreadable: tuple[UnreadableEvent, ...] = ()
    previous_cursor: str | None = None
    incomplete: tuple[EventRecord, ...] = ()


class _Event(Resource):
    """The fields that every event has."""

    id: Number
    received_at: Moment
    type: str
    trigger: Later[str] = ""
    pull_request: Later[Number | None] = None
    base_ref: Later[str | None] = None
    metadata: Any = None


def read_event(sent: object, repository: RepositoryName) -> tuple[EventRecord, bool]:
    """The event, and whether all of its details were readable.

    Raises ValidationError when it lacks a required field.
    """
    event = _Event.model_validate(sent)
    details, is_complete = _read_details(event)
    record = EventRecord(
        repository,
        event.id,
        event.received_at,
        storable(event.type),
        event.pull_request,
        None if event.base_ref is None else storable(event.base_ref),
        details.session_id,
        details,
    )
    return record, is_complete


def _read_details(event: _Event) -> tuple[EventDetails, bool]:
    """The readable details: one unreadable field must not hide the others."""
    sent = event.metadata
    if not isinstance(sent, dict):
        return EventDetails(trigger=event.trigger), sent is None
    known = {**sent, "trigger": event.trigger} | _gathered(event.type, sent)
    try:
        return EventDetails.model_validate(known, by_name=False), True
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        bad = {problem["loc"][0] for problem in problems}
        readable = {name: known[name] for name in known if name not in bad}
        return EventDetails.model_validate(readable, by_name=False), False


def _gathered(event_type: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Gather details that the service sends in several places, or at greater length."""
    found = {"batch_id": sent.get("batch_id") or sent.get("train_car_id")}
    failed: Any = None
    if event_type == LEAVE:
        failed = sent.get("unsuccessful_checks") or _failing(sent.get("checks"))
    elif event_type == CHECKS_END and isinstance(sent.get("speculative_check_pull_request"), dict):
        failed = sent["speculative_check_pull_request"].get("unsuccessful_checks")
    if isinstance(failed, list):
        found["failed_checks"] = [_failed_check(one) for one in failed[:LIST_KEPT]]
        found["checks_left_out"] = max(len(failed) - LIST_KEPT, 0)
    elif failed is not None:
        found["failed_checks"] = failed
    return found


def _failing(checks: Any) -> Any:  # noqa: ANN401 - anything the service may send
    if not isinstance(checks, list):
        return checks
    return [one for one in checks if isinstance(one, dict) and _is_failing(one.get("state"))]


def _is_failing(state: Any) -> bool:  # noqa: ANN401 - anything the service may send
    return isinstance(state, str) and state in FAILING_STATES


def _failed_check(sent: Any) -> Any:  # noqa: ANN401 - anything the service may send
    if not isinstance(sent, dict):
        return sent
    return {"name": sent.get("name"), "url": sent.get("details_url") or sent.get("url")}


def in_order(records: Sequence[EventRecord]) -> list[EventRecord]:
    """Oldest first."""
    return sorted(records, key=lambda one: (one.received_at, one.event_id))
