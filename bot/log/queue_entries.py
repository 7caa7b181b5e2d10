"""Queue entries that are over: when each pull request entered, when it left, and whether merged.

A queue entry is one pull request's time in the queue. It begins with its ENTER and ends with its
LEAVE, and the service names it by a session id. Neither is always there: an older service names no
session, and the stored log lacks an ENTER from before anybody followed such events. So

- code that reads backwards from an end takes the events since the last ENTER or LEAVE before it:
  `entered_at` here, and `of_same_entry`, which also leaves out other sessions;
- code that reads forwards, for a thread, takes the session, else the times (`feed/threads.py`).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.log.classification import EventKind, kinds
from bot.merge_queue.event_records import EventRecord, in_order
from bot.merge_queue.event_types import ENTER, LEAVE, MERGED, CodeClass, class_of
from bot.merge_queue.resource import Moment

ENDS = frozenset({EventKind.MERGE, EventKind.FAILURE, EventKind.DEQUEUE})


@dataclass(frozen=True, slots=True)
class PastEntry:
    """One pull request's time in the queue, which is over."""

    number: int
    branch: str | None  #: its base branch, as the log has it
    entered_at: datetime
    left_at: datetime
    has_merged: bool


@dataclass(frozen=True, slots=True)
class LeaveDetails:
    """What a leave may say of its queue entry; None where it doesn't."""

    queued_at: Moment | None = None
    merged: bool | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """A leave with no more of its details than a past entry needs: many are read at a time."""

    pull_request: int | None
    base_ref: str | None
    received_at: datetime
    details: LeaveDetails


def past_entries(records: Iterable[EventRecord]) -> list[PastEntry]:
    """The entries whose end is among these events, in the order in which they ended.

    One whose beginning no event tells is left out, as is the leave of a pull request that the
    service puts back by itself.
    """
    found: list[PastEntry] = []
    for events in by_pull_request(records):
        kind_of = kinds(events)
        for index, record in enumerate(events):
            kind = kind_of[record.event_id]
            begun_at = entered_at(events[: index + 1]) if kind in ENDS else None
            entry = _entry(record, begun_at, has_merged=kind is EventKind.MERGE)
            if entry is not None:
                found.append(entry)
    return sorted(found, key=_by_end)


def tells_all(leave: EventRecord | Leave) -> bool:
    """Whether a leave tells alone when its pull request entered, and whether it merged."""
    return leave.details.queued_at is not None and leave.details.merged is not None


def entries_of_leaves(leaves: Iterable[Leave]) -> list[PastEntry]:
    """`past_entries` of leaves that each tell all, in the order in which they ended."""
    found: list[PastEntry] = []
    for leave in leaves:
        entry = _entry(leave, leave.details.queued_at, has_merged=leave.details.merged is True)
        if entry is not None:
            found.append(entry)
    return sorted(found, key=_by_end)


def _entry(
    end: EventRecord | Leave, begun_at: datetime | None, *, has_merged: bool
) -> PastEntry | None:
    """What that event ended; None if its beginning is unknown, or the service puts it back."""
    is_put_back = class_of(end.details.code) is CodeClass.REQUEUED
    if begun_at is None or end.pull_request is None or is_put_back:
        return None
    return PastEntry(
        end.pull_request, end.base_ref, begun_at, end.received_at, has_merged=has_merged
    )


def _by_end(entry: PastEntry) -> tuple[datetime, int]:
    return entry.left_at, entry.number


def by_pull_request(records: Iterable[EventRecord]) -> Iterable[list[EventRecord]]:
    """The events of each pull request, once each, oldest first; pages may repeat events."""
    of_one: dict[int | None, dict[int, EventRecord]] = defaultdict(dict)
    for record in records:
        of_one[record.pull_request][record.event_id] = record
    for events in of_one.values():
        yield in_order([*events.values()])


def entered_at(until_end: Sequence[EventRecord]) -> datetime | None:
    """When the queue entry that ended with the last of these events began."""
    for record in reversed(until_end):
        queued_at = record.details.queued_at if record.type in {MERGED, LEAVE} else None
        if queued_at is not None:
            return queued_at
        if record.type == ENTER:
            return record.received_at
    return None
