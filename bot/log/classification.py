"""Classifies events. Only this module decides which are merges or failures."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum

from bot.log.preceding import is_uninformative, with_preceding_events
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import (
    BISECTION_END,
    BISECTION_START,
    CHECKS_END,
    CHECKS_NOT_STARTED,
    CHECKS_START,
    DEQUEUE_COMMAND,
    ENTER,
    EVENT_TYPES,
    LEAVE,
    MERGED,
    PAUSE_CREATE,
    PAUSE_DELETE,
    PAUSE_UPDATE,
    QUEUE_COMMAND,
    REQUEUE_COMMAND,
    CodeClass,
    Turn,
    class_of,
    turn_of,
)

CI_PREFIXES = ("ci_issue.", "ci_insights.")


GRACE_PERIOD = timedelta(seconds=60)
"""A leave that does not say whether it merged waits this long for its `action.queue.merged`."""


class EventKind(StrEnum):
    """Classes of events; `OTHER` goes only to channels subscribed to the type itself."""

    ENTER = "enter"
    CHECKS_STARTED = "checks_started"
    CHECKS_ENDED = "checks_ended"
    CHECKS_NOT_STARTED = "checks_not_started"
    MERGE = "merge"
    FAILURE = "failure"
    DEQUEUE = "dequeue"
    BISECTION_STARTED = "bisection_started"
    BISECTION_ENDED = "bisection_ended"
    PAUSE = "pause"
    PAUSE_UPDATE = "pause_update"
    RESUME = "resume"
    FREEZE = "freeze"
    COMMAND = "command"
    CI = "ci"
    OTHER = "other"


TYPES_OF_KIND: Mapping[EventKind, Sequence[str]] = {
    EventKind.ENTER: [ENTER],
    EventKind.CHECKS_STARTED: [CHECKS_START],
    EventKind.CHECKS_ENDED: [CHECKS_END],
    EventKind.CHECKS_NOT_STARTED: [CHECKS_NOT_STARTED],
    EventKind.MERGE: [MERGED],
    EventKind.FAILURE: [],
    EventKind.DEQUEUE: [],
    EventKind.BISECTION_STARTED: [BISECTION_START],
    EventKind.BISECTION_ENDED: [BISECTION_END],
    EventKind.PAUSE: [PAUSE_CREATE],
    EventKind.PAUSE_UPDATE: [PAUSE_UPDATE],
    EventKind.RESUME: [PAUSE_DELETE],
    EventKind.FREEZE: [
        "scheduled_freeze.create",
        "scheduled_freeze.update",
        "scheduled_freeze.delete",
    ],
    EventKind.COMMAND: [QUEUE_COMMAND, DEQUEUE_COMMAND, REQUEUE_COMMAND],
    EventKind.CI: [event_type for event_type in EVENT_TYPES if event_type.startswith(CI_PREFIXES)],
}
"""A leave may be of several kinds."""


_KIND_BY_TYPE = {event_type: kind for kind, types in TYPES_OF_KIND.items() for event_type in types}


PAUSE_TYPES = frozenset({PAUSE_CREATE, PAUSE_UPDATE, PAUSE_DELETE})
"""Read for every repository, to detect pauses made elsewhere."""


def classify(record: EventRecord) -> EventKind:
    """The kind of an event, from its type and, for a leave, from its metadata.

    Only a leave means that a pull request left, only `merged` that it merged; the code decides
    whether anybody has to act. A leave without metadata counts as a failure.
    """
    if record.type.startswith(CI_PREFIXES):
        return EventKind.CI
    if record.type != LEAVE:
        return _KIND_BY_TYPE.get(record.type, EventKind.OTHER)
    code = record.details.code
    if is_merge(record):
        # `action.queue.merged` follows for the queue's own merges. A manual merge outside the
        # queue has no such event.
        return EventKind.MERGE if code == "PR_MANUALLY_MERGED" else EventKind.OTHER
    if class_of(code) in {CodeClass.REQUEUED, CodeClass.HUMAN}:
        return EventKind.DEQUEUE
    return EventKind.FAILURE


def is_merge(record: EventRecord) -> bool:
    """Whether the leave itself says that the pull request merged."""
    if record.type != LEAVE:
        return False
    return record.details.merged is True or class_of(record.details.code) is CodeClass.MERGED


def turn_after(record: EventRecord, kind: EventKind) -> Turn:
    """Who has to act after an event of this `kind`.

    Only pull requests that left the queue unmerged need somebody. Failed or stopped checks are
    followed by a leave, or restart by themselves. A copy with conflicts needs its author.
    """
    if kind in {EventKind.FAILURE, EventKind.DEQUEUE}:
        return turn_of(record.details.code)
    return Turn.AUTHOR if record.details.conflicts is True else Turn.NOBODY


def silent_leaves(records: Sequence[EventRecord]) -> dict[int, int | None]:
    """Find the merge that belongs to each leave without metadata; keys and values are indexes.

    Such a leave is a merge when an `action.queue.merged` of the same queue entry follows it, or
    came just before. None: not found, but it may still follow. `records` are oldest first.
    """
    found: dict[int, int | None] = {}
    merges: dict[int | None, int] = {}
    waiting: defaultdict[int | None, list[int]] = defaultdict(list)

    def are_near(earlier: int, later: int) -> bool:
        return records[later].received_at - records[earlier].received_at < GRACE_PERIOD

    for index, record in enumerate(records):
        number = record.pull_request
        if record.type == MERGED:
            merges[number] = index
            leaves = waiting.pop(number, ())
            found |= {leave: index for leave in leaves if are_near(leave, index)}
        elif record.type == ENTER:
            merges.pop(number, None)
            waiting.pop(number, None)
        elif record.type == LEAVE:
            merge = merges.pop(number, None)
            if record.details.merged is None and record.details.code is None:
                found[index] = merge if merge is not None and are_near(merge, index) else None
                waiting[number].append(index)
    return found


def kinds(
    records: Sequence[EventRecord], around: Sequence[EventRecord] = ()
) -> dict[int, EventKind]:
    """The kind of each event by its id; the events around a leave help to classify it.

    `records` and `around` may overlap; both are oldest first.
    """
    found = {record.event_id: classify(record) for record in records}
    uninformative = [record for record in records if is_uninformative(record)]
    if not uninformative:
        return found
    by_number: dict[int | None, list[EventRecord]] = defaultdict(list)
    for record in around or records:
        by_number[record.pull_request].append(record)
    for record in uninformative:
        complete = with_preceding_events(record, by_number[record.pull_request])
        found[record.event_id] = classify(complete)
    numbers = {record.pull_request for record in uninformative}
    _mark_merges(found, records)
    for number in numbers:
        _mark_merges(found, by_number[number])
    return found


def _mark_merges(kind_of: dict[int, EventKind], records: Sequence[EventRecord]) -> None:
    """Leaves that a merge explains are no failures: the merge is the event to post."""
    for index, merge in silent_leaves(records).items():
        event_id = records[index].event_id
        if merge is not None and event_id in kind_of:
            kind_of[event_id] = EventKind.OTHER
